"""Independent normal entries: the best sketch per column, and the dearest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np
from scipy.sparse import issparse

from partwise.currency import Array
from partwise.randomness import BLOCK, column_blocks
from partwise.sketches.seeded import Seeded


@final
@dataclass(frozen=True)
class Gaussian(Seeded):
    """S_ij ~ N(0, 1/d). O(r m d), whatever the zeros of A: on a sparse X take `CountSketch` instead."""

    def apply(self, A: Any, start: int = 0) -> Array:
        """(r, d): A S[start : start + width]; of S, one block of rows is held at a time."""
        if issparse(A):
            A = A.tocsc()  # it is read by columns
        out = np.zeros((A.shape[0], self.d), A.dtype)
        for block, inside, here in column_blocks(start, start + A.shape[1]):
            out += A[:, here] @ self._rows(block)[inside].astype(A.dtype, copy=False)
        return out

    def _rows(self, block: int) -> Array:
        """(BLOCK, d): one block of S; float32 numbers, so that either precision meets the same S."""
        rows = self._generator(block).standard_normal((BLOCK, self.d), dtype=np.float32)
        rows *= np.float32(self.d**-0.5)
        return rows
