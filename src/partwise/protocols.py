"""What the rooms expect of one another. Arrays are component-major: see `currency`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol

import numpy as np

from partwise.currency import Array, Carry, NormalEq, RatioEq, State


class Sketch(Protocol):
    """A random S (m, d) with E[SSᵀ] = I, made from (seed, iteration) and never sent."""

    @property
    def shape(self) -> tuple[int, int]: ...

    def apply(self, A: Any, start: int = 0) -> Array:
        """(r, d): A S[start : start + width], for a dense or scipy-sparse A (r, width)."""
        ...


class Matrix(Protocol):
    """X (n, m), nonnegative, wherever and however it is held."""

    @property
    def shape(self) -> tuple[int, int]: ...

    @property
    def dtype(self) -> np.dtype[Any]: ...

    @property
    def T(self) -> Matrix: ...

    @property
    def nnz(self) -> int:
        """How many entries a product touches: n·m for dense data."""
        ...

    def times(self, F: Array) -> Array:
        """(k, n): F Xᵀ for F (k, m)."""
        ...

    def normal_eq(self, other: Array, F: Array, weights: Array | None = None, gram: Array | None = None) -> NormalEq:
        """The pair for updating F (k, n), the other factor being `other` (k, m) whose columns may be weighted (m,).

        `gram`, where it is known already, is not made again.
        """
        ...

    def ratio_eq(self, other: Array, F: Array, beta: float, weights: Array | None = None) -> RatioEq:
        """The same for the β-divergence."""
        ...

    def sq_norm(self) -> float:
        """‖X‖² over what is observed, weighted."""
        ...

    def sq_error(self, Wt: Array, H: Array, eq: NormalEq | None = None) -> float:
        """‖X − WH‖² over what is observed, weighted; `eq`, the pair of H for this Wt, saves a product where it suffices."""
        ...

    @property
    def traceable(self) -> bool:
        """Whether the squared error follows from the pair alone (not with missing entries)."""
        ...

    def row_pairs(self, H: Array) -> Iterator[NormalEq]:
        """The pair of each row of W over what was observed of that row (k × k and k × 1), if X is not `traceable`."""
        ...

    def has_zeros(self) -> bool:
        """Whether an observed entry is zero."""
        ...

    def mean(self) -> float:
        """The mean of the observed entries."""
        ...

    def divergence(self, Wt: Array, H: Array, beta: float) -> float:
        """The β-divergence D(X ‖ WH) over what is observed, weighted."""
        ...

    def blocks(self) -> Iterator[tuple[slice, Matrix]]:
        """X by blocks of rows, in order."""
        ...

    def rows(self, index: Any) -> Matrix:
        """Some rows, held in memory."""
        ...

    def sketched(self, sketch: Sketch, start: int = 0) -> Array:
        """(n, d): X S[start : start + m]."""
        ...

    def times_sketched(self, F: Array, sketch: Sketch, start: int = 0) -> Array:
        """(k, n): F (X S)ᵀ for F (k, d)."""
        ...


class Update(Protocol):
    """Moves a factor, knowing only its pair; columns are independent of one another."""

    def init(self, F: Array) -> Carry: ...

    def __call__(self, F: Array, eq: Any, carry: Carry) -> tuple[Array, Carry]:
        """A new F (k, r) and what to remember; neither F nor the pair is written to."""
        ...


class Iteration(Protocol):
    """A named method: how it starts from given factors, and one iteration. The loop is the driver's."""

    def init(self, X: Matrix, Wt: Array, H: Array) -> State: ...

    def step(self, X: Matrix, state: State, t: int) -> State: ...
