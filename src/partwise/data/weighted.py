"""Rows that count more than others: a row of weight 2 is that row twice.

W's rows are independent of one another, so their weights matter only in the pair for H: gram = Σ s_i w_i w_iᵀ, cross = Σ s_i w_i x_iᵀ.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from partwise.currency import Array, NormalEq, RatioEq
from partwise.data.entries import Entries
from partwise.protocols import Sketch


@final
@dataclass(frozen=True, eq=False)
class Weighted(Entries):
    """X with one weight a row or, transposed, a column (the other is None)."""

    inner: Entries
    row_weights: Array | None  # (n,)
    column_weights: Array | None = None  # (m,)

    @property
    def shape(self) -> tuple[int, int]:
        return self.inner.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.inner.dtype

    @property
    def nnz(self) -> int:
        return self.inner.nnz

    @property
    def T(self) -> Weighted:
        return Weighted(self.inner.T, self.column_weights, self.row_weights)

    def times(self, F: Array) -> Array:
        return self.inner.times(F)

    def normal_eq(self, other: Array, F: Array, weights: Array | None = None, gram: Array | None = None) -> NormalEq:
        return self.inner.normal_eq(other, F, self._both(weights), gram)

    def row_pairs(self, H: Array) -> Iterator[NormalEq]:
        return self.inner.row_pairs(H)

    def ratio_eq(self, other: Array, F: Array, beta: float, weights: Array | None = None) -> RatioEq:
        return self.inner.ratio_eq(other, F, beta, self._both(weights))

    def _both(self, weights: Array | None) -> Array | None:
        if weights is None or self.column_weights is None:
            return self.column_weights if weights is None else weights
        return weights * self.column_weights

    def _by_row(self, values: Array) -> Array:
        return values if self.row_weights is None else values * self.row_weights

    def row_sq_norms(self) -> Array:
        return self._by_row(self.inner.row_sq_norms())

    def row_divergences(self, Wt: Array, H: Array, beta: float) -> Array:
        return self._by_row(self.inner.row_divergences(Wt, H, beta))

    def sq_norm(self) -> float:
        return super().sq_norm() if self.column_weights is None else self.T.sq_norm()

    def divergence(self, Wt: Array, H: Array, beta: float) -> float:
        """Sums over rows know the weights of rows, so those of columns are summed in the transpose."""
        return super().divergence(Wt, H, beta) if self.column_weights is None else self.T.divergence(H, Wt, beta)

    @property
    def traceable(self) -> bool:
        return self.inner.traceable

    def blocks(self) -> Iterator[tuple[slice, Weighted]]:
        for part, block in self.inner.blocks():
            yield (
                part,
                Weighted(block, None if self.row_weights is None else self.row_weights[part], self.column_weights),
            )

    def rows(self, index: Any) -> Weighted:
        weights = None if self.row_weights is None else self.row_weights[index]
        return Weighted(self.inner.rows(index), weights, self.column_weights)

    def sketched(self, sketch: Sketch, start: int = 0) -> Array:
        return self.inner.sketched(sketch, start)

    def has_zeros(self) -> bool:
        return self.inner.has_zeros()

    def total(self) -> tuple[float, int]:
        return self.inner.total()
