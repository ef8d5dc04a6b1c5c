"""X as an array (n, m) in memory or memory-mapped, C or Fortran order, read-only or not; never copied."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from partwise.currency import Array, RatioEq
from partwise.data.betas import divergences, floor, weights_of_ratio
from partwise.data.entries import Entries
from partwise.kernels.sums import row_squares
from partwise.protocols import Sketch

BLOCK_BYTES = 4 << 20  # of X at a time: what stays in cache between its two products of an iteration
GRAIN = 256  # rows: blocks are cut at multiples, as the kernels are


def row_slices(n: int, row_bytes: int) -> Iterator[slice]:
    """Cut n rows into blocks of about BLOCK_BYTES."""
    least = min(GRAIN, -(-n // 4))  # long rows: four blocks at least, for as many threads
    rows = max(1, least, BLOCK_BYTES // max(row_bytes, 1) // GRAIN * GRAIN)
    for start in range(0, n, rows):
        yield slice(start, min(start + rows, n))


@final
@dataclass(frozen=True, eq=False)
class Dense(Entries):
    """All entries are there."""

    array: Array  # (n, m)

    @property
    def shape(self) -> tuple[int, int]:
        return self.array.shape  # type: ignore[return-value]

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.array.dtype

    @property
    def nnz(self) -> int:
        return self.array.size

    @property
    def T(self) -> Dense:
        return Dense(self.array.T)

    def times(self, F: Array) -> Array:
        return F @ self.array.T

    def ratio_eq(self, other: Array, F: Array, beta: float, weights: Array | None = None) -> RatioEq:
        if beta == 2:
            return self.normal_eq(other, F, weights).ratio(F)
        scaled = other if weights is None else other * weights
        numerator, denominator = np.empty_like(F), np.empty_like(F)
        for rows in self._slices():
            above, below = weights_of_ratio(self.array[rows], floor(F[:, rows].T @ other), beta)
            numerator[:, rows] = scaled @ above.T
            denominator[:, rows] = scaled.sum(axis=1, keepdims=True) if below is None else scaled @ below.T
        return RatioEq(numerator, denominator)

    def row_sq_norms(self) -> Array:
        if self.array.flags.c_contiguous:
            return row_squares(self.array)
        rows = np.empty(self.shape[0])
        for part in self._slices():
            block = np.asarray(self.array[part], np.float64)
            rows[part] = np.einsum("ij,ij->i", block, block)
        return rows

    def row_divergences(self, Wt: Array, H: Array, beta: float) -> Array:
        rows = np.empty(self.shape[0])
        for part in self._slices():
            model = Wt[:, part].T @ H
            rows[part] = divergences(self.array[part], model if beta == 2 else floor(model), beta).sum(axis=1)
        return rows

    def blocks(self) -> Iterator[tuple[slice, Dense]]:
        for part in self._slices():
            yield part, Dense(self.array[part])

    def rows(self, index: Any) -> Dense:
        return Dense(self.array[index])

    def sketched(self, sketch: Sketch, start: int = 0) -> Array:
        return sketch.apply(self.array, start)

    def has_zeros(self) -> bool:
        return any(bool((self.array[part] == 0).any()) for part in self._slices())

    def total(self) -> tuple[float, int]:
        return sum(float(self.array[part].sum(dtype=np.float64)) for part in self._slices()), self.array.size

    def _slices(self) -> Iterator[slice]:
        return row_slices(self.shape[0], self.shape[1] * self.dtype.itemsize)
