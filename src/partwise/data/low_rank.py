"""X as a product of two thin arrays, which need not be nonnegative: what a range finder leaves of a larger X."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from partwise.currency import Array, RatioEq
from partwise.data.betas import divergences, floor, weights_of_ratio
from partwise.data.dense import row_slices
from partwise.data.entries import Entries
from partwise.protocols import Sketch


@final
@dataclass(frozen=True, eq=False)
class LowRank(Entries):
    """X = left right: (n, l) and (l, m). Products cost O((n + m) l k); X itself is formed by blocks where it must be."""

    left: Array  # (n, l)
    right: Array  # (l, m)

    @property
    def shape(self) -> tuple[int, int]:
        return self.left.shape[0], self.right.shape[1]

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.left.dtype

    @property
    def nnz(self) -> int:
        return self.left.size + self.right.size

    @property
    def T(self) -> LowRank:
        return LowRank(self.right.T, self.left.T)

    def times(self, F: Array) -> Array:
        return (F @ self.right.T) @ self.left.T

    def ratio_eq(self, other: Array, F: Array, beta: float, weights: Array | None = None) -> RatioEq:
        if beta == 2:
            return self.normal_eq(other, F, weights).ratio(F)
        scaled = other if weights is None else other * weights
        numerator, denominator = np.empty_like(F), np.empty_like(F)
        for part, entries in self._formed():
            above, below = weights_of_ratio(entries, floor(F[:, part].T @ other), beta)
            numerator[:, part] = scaled @ above.T
            denominator[:, part] = scaled.sum(axis=1, keepdims=True) if below is None else scaled @ below.T
        return RatioEq(numerator, denominator)

    def row_sq_norms(self) -> Array:
        gram = self.right.astype(np.float64) @ self.right.T
        left = self.left.astype(np.float64)
        return np.einsum("nl,nl->n", left @ gram, left)

    def row_divergences(self, Wt: Array, H: Array, beta: float) -> Array:
        rows = np.empty(self.shape[0])
        for part, entries in self._formed():
            model = Wt[:, part].T @ H
            rows[part] = divergences(entries, model if beta == 2 else floor(model), beta).sum(axis=1)
        return rows

    def blocks(self) -> Iterator[tuple[slice, LowRank]]:
        yield slice(0, self.shape[0]), self

    def rows(self, index: Any) -> LowRank:
        return LowRank(self.left[index], self.right)

    def sketched(self, sketch: Sketch, start: int = 0) -> Array:
        return self.left @ sketch.apply(self.right, start)

    def has_zeros(self) -> bool:
        return any(bool((entries == 0).any()) for _, entries in self._formed())

    def total(self) -> tuple[float, int]:
        n, m = self.shape
        return float(self.left.sum(axis=0, dtype=np.float64) @ self.right.sum(axis=1, dtype=np.float64)), n * m

    def _formed(self) -> Iterator[tuple[slice, Array]]:
        """X itself, a block of rows at a time."""
        for part in row_slices(self.shape[0], self.shape[1] * self.dtype.itemsize):
            yield part, self.left[part] @ self.right
