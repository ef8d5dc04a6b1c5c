"""In how many rows features occur, and occur together: what coherence is counted from."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from partwise.currency import Array
from partwise.data.entries import Entries
from partwise.data.sparse import Sparse
from partwise.errors import DataError
from partwise.kernels.threads import side_by_side


class Occurrence(NamedTuple):
    """Shares of the rows."""

    alone: Array  # (l,): with a positive entry for the feature
    pairs: Array  # (l, l): for both


def occurrence(X: Entries, features: np.ndarray) -> Occurrence:
    """Of these features (l,), counted by blocks of rows."""
    if not X.traceable:
        raise DataError("X has missing entries; whether a word is in a text must be known for all of them.")
    counts = sum(side_by_side(lambda place: _together(place[1], features), X.blocks()))
    pairs = np.asarray(counts, np.float64) / X.shape[0]
    return Occurrence(np.diag(pairs).copy(), pairs)


def _together(X: Entries, features: np.ndarray) -> Array:
    if isinstance(X, Sparse):
        columns = (X.stored.T if X.flipped else X.stored).tocsc()[:, features]
        columns.data = (columns.data > 0).astype(np.float64)
        return (columns.T @ columns).toarray()
    here = (X.rows(slice(None)).array[:, features] > 0).astype(np.float64)  # type: ignore[attr-defined]
    return here.T @ here
