"""What every way of holding X (n, m) has in common: pairs and errors, made from a few products."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from functools import cached_property
from typing import Any, Self

import numpy as np

from partwise.currency import Array, NormalEq, RatioEq
from partwise.kernels.sums import dot64
from partwise.protocols import Matrix, Sketch

# Below this relative error the trace trick has lost its digits, and the residual is formed by blocks (ENGINES: 8 % off at 1e-3).
CANCELLED = {np.dtype(np.float32): 3e-3, np.dtype(np.float64): 1e-6}


class Entries(ABC):
    """X by its entries: Dense, Sparse, Streamed, MaskedDense, MaskedSparse, Weighted are the final forms."""

    @property
    @abstractmethod
    def shape(self) -> tuple[int, int]: ...

    @property
    @abstractmethod
    def dtype(self) -> np.dtype[Any]: ...

    @property
    @abstractmethod
    def nnz(self) -> int: ...

    @property
    @abstractmethod
    def T(self) -> Entries: ...

    @abstractmethod
    def times(self, F: Array) -> Array:
        """(k, n): F Xᵀ for F (k, m); what is missing counts as zero."""

    @abstractmethod
    def ratio_eq(self, other: Array, F: Array, beta: float, weights: Array | None = None) -> RatioEq:
        """The pair of the multiplicative update of F (k, n) for the β-divergence."""

    @abstractmethod
    def row_sq_norms(self) -> Array:
        """(n,): ‖x_i‖² in float64."""

    @abstractmethod
    def row_divergences(self, Wt: Array, H: Array, beta: float) -> Array:
        """(n,): d_β(x_i ‖ w_i H) in float64; β = 2 is half the squared error."""

    @abstractmethod
    def blocks(self) -> Iterator[tuple[slice, Entries]]:
        """X by blocks of rows, in order."""

    @abstractmethod
    def rows(self, index: Any) -> Entries:
        """Some rows, held in memory."""

    @abstractmethod
    def sketched(self, sketch: Sketch, start: int = 0) -> Array:
        """(n, d): X S[start : start + m]."""

    @abstractmethod
    def total(self) -> tuple[float, int]:
        """The sum of the observed entries, and how many they are."""

    @abstractmethod
    def has_zeros(self) -> bool:
        """Whether an observed entry is zero: then divergences with β ≤ 0 are infinite."""

    def times_sketched(self, F: Array, sketch: Sketch, start: int = 0) -> Array:
        """(k, n): F (X S[start : start + m])ᵀ for F (k, d)."""
        return F @ self.sketched(sketch, start).T

    @property
    def here(self) -> Self:
        """The rows that are held here: all of them."""
        return self

    def together(self, eq: NormalEq, *numbers: float | None) -> tuple[NormalEq, tuple[float | None, ...]]:
        """Nobody else holds rows, so the sums over all who do are these themselves."""
        return eq, numbers

    @property
    def first(self) -> int:
        """They begin with row 0."""
        return 0

    def holding(self, rows: Matrix) -> Matrix:
        """Other rows, of which nobody else holds any either."""
        return rows

    @property
    def run(self) -> int:
        """How many neighbouring rows are best read together."""
        return 1

    @property
    def traceable(self) -> bool:
        """Whether the squared error follows from the pair (not where the pair is of imputed data)."""
        return True

    def row_pairs(self, H: Array) -> Iterator[NormalEq]:
        """The pair of each row over what was observed of it, where that differs from row to row (missing entries)."""
        raise NotImplementedError("all rows of complete data share one gram: use normal_eq")

    def mean(self) -> float:
        """The mean of the observed entries."""
        total, count = self.total()
        return total / max(count, 1)

    def normal_eq(self, other: Array, F: Array, weights: Array | None = None, gram: Array | None = None) -> NormalEq:
        """The pair for F (k, n): gram = other otherᵀ (unless known), cross = other Xᵀ; `weights` (m,) weigh the columns of `other`."""
        scaled = other if weights is None else other * weights
        return NormalEq(scaled @ other.T if gram is None else gram, self.times(scaled))

    @property
    def squares(self) -> Array:
        """(n,): ‖x_i‖² in float64, counted once."""
        return self._squares

    @cached_property
    def _squares(self) -> Array:
        return self.row_sq_norms()

    def sq_norm(self) -> float:
        """‖X‖²."""
        return float(self.squares.sum())

    def sq_error(self, Wt: Array, H: Array, eq: NormalEq | None = None) -> float:
        """‖X − WH‖²; with the pair of H for this Wt by ‖X‖² − 2⟨cross, H⟩ + ⟨gram, HHᵀ⟩, while that has digits left."""
        if eq is not None and self.traceable:
            error = self.sq_norm() - 2 * dot64(eq.cross, H) + dot64(eq.gram, H @ H.T)
            if error > CANCELLED[H.dtype] ** 2 * self.sq_norm():
                return error
        return 2 * self.divergence(Wt, H, beta=2)

    def divergence(self, Wt: Array, H: Array, beta: float) -> float:
        """D_β(X ‖ WH)."""
        return float(self.row_divergences(Wt, H, beta).sum())
