"""Some columns, unmixed: nearly free, and sparse stays cheap; entries of X pass unchanged but for a factor."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from partwise.currency import Array
from partwise.sketches.seeded import WHOLE, Seeded


@final
@dataclass(frozen=True)
class Subsample(Seeded):
    """d of the m columns without replacement, in order, times √(m/d): without it E[SSᵀ] would be (d/m) I.

    With d = m, S = I exactly. O(r d); a sparse A is best held as CSC.
    """

    def apply(self, A: Any, start: int = 0) -> Array:
        """(r, d): A S[start : start + width]; columns chosen elsewhere are zero."""
        low, high, index = self._within(start, A.shape[1])
        taken = _columns(A, index)
        taken *= taken.dtype.type(self._scale)
        if high - low == self.d:
            return taken
        out = np.zeros((A.shape[0], self.d), A.dtype)
        out[:, low:high] = taken
        return out

    def lift(self, F: Array, start: int, width: int, rows: int) -> tuple[NDArray[np.intp], Array]:
        """As `Seeded.lift`: the chosen columns alone are not zero."""
        low, high, index = self._within(start, width)
        return index, F[:, low:high] * F.dtype.type(self._scale)

    @property
    def _scale(self) -> float:
        return (self.m / self.d) ** 0.5

    def _within(self, start: int, width: int) -> tuple[int, int, NDArray[np.intp]]:
        """(low, high, index): chosen columns low … high lie in start … start + width; where, counted from start."""
        chosen = self.chosen()
        low, high = np.searchsorted(chosen, (start, start + width))
        return int(low), int(high), chosen[low:high] - start

    def chosen(self) -> NDArray[np.intp]:
        """(d,): which columns, ascending."""
        index = self._generator(WHOLE).choice(self.m, self.d, replace=False, shuffle=False)
        return np.sort(index).astype(np.intp, copy=False)


def _columns(A: Any, index: NDArray[np.intp]) -> Array:
    """(r, d): a dense copy of some columns; `take` is the faster, but would first copy all of a strided A."""
    if issparse(A):
        return A[:, index].toarray()
    if A.flags.c_contiguous:
        return A.take(index, axis=1)
    if A.flags.f_contiguous:
        return A.T.take(index, axis=0).T
    return A[:, index]
