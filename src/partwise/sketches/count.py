"""Every column is added to one of d buckets, with a random sign: one pass over the stored entries of A."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array, issparse

from partwise.currency import Array
from partwise.randomness import BLOCK, column_blocks
from partwise.sketches.seeded import Seeded

LIFTED = 64  # entries of a dense sketched row are made and multiplied in the time that one column is brought back from a sketch
PANEL = 128  # rows of a C-ordered A that are transposed at a time


def worth_lifting(rows: int, width: int, d: int) -> bool:
    """Whether F Sᵀ (k, width) is made sooner than X S (rows, d)."""
    return rows * d >= LIFTED * width


@final
@dataclass(frozen=True)
class CountSketch(Seeded):
    """Row i of S is ±1 at one place, both drawn (Clarkson & Woodruff 2013). O(nnz + r d)."""

    def apply(self, A: Any, start: int = 0) -> Array:
        """(r, d): A S[start : start + width]."""
        bucket, sign = self._rows(start, start + A.shape[1])
        sign = sign.astype(A.dtype)
        if issparse(A):
            return _sparse(A, bucket, sign, self.d)
        St = csr_array((sign, bucket, np.arange(len(bucket) + 1)), shape=(len(bucket), self.d)).T
        if A.flags.f_contiguous:
            return (St @ A.T).T
        out = np.empty((A.shape[0], self.d), A.dtype)
        for row in range(0, len(A), PANEL):
            out[row : row + PANEL] = (St @ np.ascontiguousarray(A[row : row + PANEL].T)).T
        return out

    def lift(self, F: Array, start: int, width: int, rows: int) -> tuple[None, Array] | None:
        """As `Seeded.lift`: every column is one of F, up to its sign. For a few rows, as a rank of many has them, that is too many."""
        if not worth_lifting(rows, width, self.d):
            return None
        bucket, sign = self._rows(start, start + width)
        return None, F[:, bucket] * sign.astype(F.dtype)

    def _rows(self, start: int, stop: int) -> tuple[NDArray[np.int32], NDArray[np.int8]]:
        """(stop − start,) each: the bucket and the sign of every row."""
        bucket, sign = np.empty(stop - start, np.int32), np.empty(stop - start, np.int8)
        for block, inside, here in column_blocks(start, stop):
            rng = self._generator(block)
            bucket[here] = rng.integers(0, self.d, BLOCK, dtype=np.int32)[inside]
            sign[here] = 2 * rng.integers(0, 2, BLOCK, dtype=np.int8)[inside] - 1
        return bucket, sign


def _sparse(A: Any, bucket: NDArray[np.int32], sign: Array, d: int) -> Array:
    """(r, d): the entries of A under their buckets' names; `toarray` adds those that meet."""
    entries = A.tocoo()
    named = (entries.row, bucket[entries.col])
    return coo_array((entries.data * sign[entries.col], named), shape=(A.shape[0], d)).toarray()
