"""The subsampled randomised Hadamard transform: nearly Gaussian quality at m log m."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import hadamard
from scipy.sparse import issparse

from partwise.currency import Array
from partwise.randomness import BLOCK, column_blocks
from partwise.sketches.seeded import WHOLE, Seeded

PANEL = 2**20  # numbers transformed at a time
RADIX = 16
TILE = 256


@final
@dataclass(frozen=True)
class SRHT(Seeded):
    """S = D H R / √d: random signs D, the Hadamard matrix H of order 2^q ≥ m, and d of its columns (Ailon & Chazelle 2006).

    O(r m log m), one panel of rows at a time; a sparse A is made dense by panels.
    """

    def apply(self, A: Any, start: int = 0) -> Array:
        """(r, d): A S[start : start + width].

        H[w + i, c] = H[w, c] H[i, c mod 2^q] for a multiple w of 2^q > i: so a shard needs only the transforms of the one or
        two windows of its own size which hold it.
        """
        A = A.tocsr() if issparse(A) else A  # it is read by rows
        r, width = A.shape
        sign, chosen = self._signs(start, start + width).astype(A.dtype), self._chosen()
        size = _power_of_two(width)
        rows, scale = max(1, PANEL // size), A.dtype.type(self.d**-0.5)
        out = np.zeros((r, self.d), A.dtype)
        for window, inside, here in _windows(start, start + width, size):
            odd = np.bitwise_count(chosen & window) % 2 == 1
            outer = np.where(odd, -scale, scale)  # H[window, chosen] / √d
            for row in range(0, r, rows):
                panel = np.zeros((min(rows, r - row), size), A.dtype)
                _copy(A[row : row + rows, here], panel[:, inside])
                panel[:, inside] *= sign[here]
                out[row : row + rows] += transform(panel).take(chosen & (size - 1), axis=1) * outer
        return out

    def _signs(self, start: int, stop: int) -> NDArray[np.int8]:
        """(stop − start,): the diagonal of D."""
        sign = np.empty(stop - start, np.int8)
        for block, inside, here in column_blocks(start, stop):
            sign[here] = 2 * self._generator(block).integers(0, 2, BLOCK, dtype=np.int8)[inside] - 1
        return sign

    def _chosen(self) -> NDArray[np.int64]:
        """(d,): which columns of H, ascending."""
        chosen = self._generator(WHOLE).choice(_power_of_two(self.m), self.d, replace=False, shuffle=False)
        return np.sort(chosen)


def transform(Y: Array) -> Array:
    """(r, 2^q): Y H, unscaled, as H is a Kronecker product of small ones: with these, BLAS is faster than butterflies."""
    r, size = Y.shape
    done = 1
    while done < size:
        radix = min(RADIX, size // done)
        small = hadamard(radix).astype(Y.dtype)
        Y = Y.reshape(-1, radix) @ small if done == 1 else small @ Y.reshape(-1, radix, done)
        done *= radix
    return Y.reshape(r, size)


def _copy(A: Any, out: Array) -> None:
    """Fill `out` with A, by tiles: reading a Fortran-ordered A row by row would miss the cache at every number."""
    if issparse(A):
        out[...] = A.toarray()
        return
    for column in range(0, A.shape[1], TILE):
        out[:, column : column + TILE] = A[:, column : column + TILE]


def _power_of_two(m: int) -> int:
    return 1 << max(m - 1, 0).bit_length()


def _windows(start: int, stop: int, size: int) -> Iterator[tuple[int, slice, slice]]:
    """(first row of the window, where in the window, where in [start, stop)) for the aligned windows that it touches."""
    for window in range(start // size * size, stop, size):
        low, high = max(start, window), min(stop, window + size)
        yield window, slice(low - window, high - window), slice(low - start, high - start)
