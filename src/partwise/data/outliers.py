"""Outliers: what of X is far from its model, entry by entry, as a sparse matrix. X itself is only ever seen by blocks."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from partwise.currency import Array
from partwise.data.dense import Dense, row_slices
from partwise.data.entries import Entries
from partwise.data.sparse import Sparse
from partwise.errors import DataError
from partwise.kernels.sums import sq64


class Outliers(NamedTuple):
    """R (n, m) for the rows it was asked for, and what follows from it."""

    matrix: Any  # csr_array (n, m)
    absolute: float  # Σ |r|
    cleaned: float  # ‖X − R‖²
    residual: float  # ‖X − WH − R‖²

    def cross(self, H: Array) -> Array:
        """(k, n): H Rᵀ."""
        return np.ascontiguousarray((self.matrix @ H.T).T)


def soft_threshold(D: Array, penalty: float, bound: float) -> Array:
    """argmin_{|r| ≤ bound} ½ (d − r)² + penalty |r|, entry by entry: what exceeds the penalty, at most `bound` of it."""
    return np.clip(D - np.clip(D, -penalty, penalty), -bound, bound)


def outliers(X: Entries, Wt: Array, H: Array, penalty: float, bound: float = np.inf) -> Outliers:
    """The best R for given factors: soft_threshold(X − WH). O(n m k) time, memory of a block and of R's entries."""
    X = _whole(X)
    found, sums = [], np.zeros(3)
    for part in row_slices(X.shape[0], X.shape[1] * X.dtype.itemsize):
        entries = dense_rows(X.rows(part))
        D = entries - Wt[:, part].T @ H
        R = soft_threshold(D, penalty, bound)
        sums += np.abs(R).sum(dtype=np.float64), sq64(entries - R), sq64(D - R)
        found.append(sp.csr_array(R))
    return Outliers(found[0] if len(found) == 1 else sp.vstack(found, format="csr"), *map(float, sums))


def largest(X: Entries) -> float:
    """The largest entry."""
    X = _whole(X)
    return float((X.array if isinstance(X, Dense) else X.stored.data).max(initial=0.0))


def _whole(X: Entries) -> Dense | Sparse:
    if isinstance(X, (Dense, Sparse)):
        return X
    raise DataError("Outliers are looked for in complete data in memory: an array or a sparse matrix, without missing "
                    "entries or weights. Fill in what is missing, or use NMF.")  # fmt: skip


def dense_rows(X: Entries) -> Array:
    """(n, m): all of a small X as an array."""
    X = _whole(X)
    if isinstance(X, Dense):
        return X.array
    return X.stored.T.toarray() if X.flipped else X.stored.toarray()
