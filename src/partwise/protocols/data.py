"""X, wherever and however it is held. Arrays are component-major: see `currency`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from partwise.currency import Array, NormalEq, RatioEq


class Sketch(Protocol):
    """A random S (m, d) with E[SSᵀ] = I, made from (seed, iteration) and never sent."""

    @property
    def shape(self) -> tuple[int, int]: ...

    def apply(self, A: Any, start: int = 0) -> Array:
        """(r, d): A S[start : start + width], for a dense or scipy-sparse A (r, width)."""
        ...

    def lift(self, F: Array, start: int, width: int, rows: int) -> tuple[NDArray[np.intp] | None, Array] | None:
        """F Sᵀ for F (r, d), in columns start … start + width: (which of them are not zero, or None for all; these columns).

        None where X S is sooner made than that for an X of so many rows: where a row of S has many entries, or X has few rows.
        """
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

    @property
    def squares(self) -> Array:
        """(n,): ‖x_i‖² in float64."""
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

    @property
    def here(self) -> Matrix:
        """X itself: see `Passes`."""
        ...

    def together(self, eq: NormalEq, *numbers: float | None) -> tuple[NormalEq, tuple[float | None, ...]]:
        """What was given: nobody else holds rows (see `Passes`)."""
        ...

    @property
    def first(self) -> int:
        """0: all rows are here (see `Passes`)."""
        ...

    def holding(self, rows: Matrix) -> Passes:
        """These rows themselves: nobody else holds any (see `Passes`)."""
        ...

    def rows(self, index: Any) -> Matrix:
        """Some rows, held in memory."""
        ...

    @property
    def run(self) -> int:
        """How many neighbouring rows are best read together: 1 in memory."""
        ...

    def sketched(self, sketch: Sketch, start: int = 0) -> Array:
        """(n, d): X S[start : start + m]."""
        ...

    def times_sketched(self, F: Array, sketch: Sketch, start: int = 0) -> Array:
        """(k, n): F (X S)ᵀ for F (k, d)."""
        ...


class Passes(Protocol):
    """What an alternation asks of X (n, m), of which others may hold rows too: sums over all who do, and the rows held here."""

    @property
    def shape(self) -> tuple[int, int]:
        """(n, m), all rows counted."""
        ...

    @property
    def nnz(self) -> int:
        """How many entries a product with all rows touches."""
        ...

    @property
    def here(self) -> Matrix:
        """The rows of this process."""
        ...

    @property
    def first(self) -> int:
        """The number of the first of them."""
        ...

    def holding(self, rows: Matrix) -> Passes:
        """Other data: of which everyone holds such rows as these instead. A collective call."""
        ...

    def sq_norm(self) -> float:
        """‖X‖² over the rows of all. The first call is a collective one."""
        ...

    @property
    def traceable(self) -> bool:
        """As of a `Matrix`."""
        ...

    def together(self, eq: NormalEq, *numbers: float | None) -> tuple[NormalEq, tuple[float | None, ...]]:
        """Of a pair and some numbers that everyone made of their own rows, the sums; None: nobody made it. A collective call."""
        ...

    def sq_error(self, Wt: Array, H: Array, eq: NormalEq | None = None) -> float:
        """‖X − WH‖² over the rows of all, for the rows of W held here; `eq`: the pair of H for all of W."""
        ...
