"""Sums over rows of X that are as large as X is wide: means and second moments. X is seen by blocks of rows."""

from __future__ import annotations

import numpy as np

from partwise.currency import Array
from partwise.data.dense import row_slices
from partwise.data.entries import Entries
from partwise.data.sparse import Sparse
from partwise.kernels.threads import side_by_side

PANEL = 1 << 20  # bytes: rows that are made dense at a time


def weighted_mean(X: Entries, weights: Array) -> Array:
    """(m,): Σ_i weights_i x_i."""
    return X.T.times(np.ascontiguousarray(weights[None]))[0]


def second_moment(X: Entries, weights: Array) -> Array:
    """(m, m): Σ_i weights_i x_i x_iᵀ, for weights ≥ 0."""
    root = np.sqrt(weights)
    parts = side_by_side(lambda place: _of_block(place[1], root[place[0]]), X.blocks())
    total = np.zeros((X.shape[1], X.shape[1]))
    for part in parts:
        total += part
    return total


def _of_block(X: Entries, root: Array) -> Array:
    m = X.shape[1]
    if isinstance(X, Sparse):
        rows = (X.stored.T if X.flipped else X.stored).tocsr().multiply(root[:, None]).tocsr()
        return np.asarray((rows.T @ rows).todense())
    total = np.zeros((m, m))
    for part in row_slices(X.shape[0], m * X.dtype.itemsize):
        rows = X.rows(part).array * root[part, None]  # type: ignore[attr-defined]
        total += rows.T @ rows
    return total
