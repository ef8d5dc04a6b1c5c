"""What is to be factorized, apart from the numbers themselves; and what follows from it for every method."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import final

from partwise.algorithms.single.alternating import Alternating, Penalty
from partwise.algorithms.single.optimality import Optimality
from partwise.protocols import Update
from partwise.updates import Fixed, Penalised
from partwise.updates.ball import ball
from partwise.updates.gradient import orthant, simplex

MOST_SWEEPS = 20
SCATTERED = 12  # an entry of a sparse X costs as much as k / SCATTERED of a dense one


@final
@dataclass(frozen=True)
class Problem:
    """What is to be factorized, apart from the numbers themselves."""

    shape: tuple[int, int]
    nnz: int
    k: int
    beta: float = 2.0
    penalty: Penalty = field(default_factory=Penalty)
    fixed: int = 0  # the first components of H that stay as they are
    rows_sum_to_one: bool = False  # W on the simplex
    seed: int = 0
    complete: bool = True  # neither missing entries nor weights of rows
    sparse: bool = False  # X is stored without its zeros

    @property
    def T(self) -> Problem:
        """The same for Xᵀ ≈ Hᵀ Wᵀ; fixed components and rows that sum to one have no counterpart there."""
        p = self.penalty
        return replace(self, shape=self.shape[::-1], penalty=Penalty(p.l1_H, p.l2_H, p.l1_W, p.l2_W))

    @property
    def bounded(self) -> str:
        """The factor whose components must stay in the unit ball, because only the other one is penalised: 'W', 'H' or ''."""
        on_W, on_H = bool(self.penalty.l1_W or self.penalty.l2_W), bool(self.penalty.l1_H or self.penalty.l2_H)
        return "" if on_W == on_H else "H" if on_W else "W"

    def dress(self, update_W: Update, update_H: Update) -> tuple[Update, Update]:
        """The updates with what the user wants of every method: penalties and fixed components."""
        p = self.penalty
        if p.l1_W or p.l2_W:
            update_W = Penalised(update_W, p.l1_W, p.l2_W)
        if p.l1_H or p.l2_H:
            update_H = Penalised(update_H, p.l1_H, p.l2_H)
        return update_W, Fixed(update_H, self.fixed) if self.fixed else update_H

    def alternating(self, update_W: Update, update_H: Update) -> Alternating:
        """The alternation of two dressed updates."""
        return self.pair(*self.dress(update_W, update_H))

    def pair(self, update_W: Update, update_H: Update) -> Alternating:
        """The alternation of two updates that are dressed already."""
        p = self.penalty
        on_W = Optimality(
            p.l1_W, p.l2_W, 0, "simplex" if self.rows_sum_to_one else "ball" if self.bounded == "W" else ""
        )
        on_H = Optimality(p.l1_H, p.l2_H, self.fixed, "ball" if self.bounded == "H" else "")
        return Alternating(update_W, update_H, p, self.bounded == "W", on_W, on_H)

    def projections(self) -> tuple[Callable, Callable]:
        """What gradient steps of W and of H project on."""
        on_W = simplex if self.rows_sum_to_one else ball if self.bounded == "W" else orthant
        return on_W, ball if self.bounded == "H" else orthant


def sweeps_beside_pair(problem: Problem) -> tuple[int, int]:
    """(for W, for H): 1 + half the cost of a pair in sweeps, at most MOST_SWEEPS (Gillis & Glineur 2012, α = ½).

    Costs are times, not flops: entries of a sparse X point here and there, while a sweep is the faster per flop the more components it has.
    """
    n, m = problem.shape
    pair = _price(problem) * problem.nnz + min(n, m) * problem.k
    return tuple(min(MOST_SWEEPS, 1 + int(pair // (2 * r * problem.k))) for r in (n, m))  # type: ignore[return-value]


def _price(problem: Problem) -> float:
    """How many entries of a dense X one of X is worth (measured: 3 for k = 20, 6 to 12 for k = 100; docs/decisions/0008-auto.md)."""
    return max(1.0, problem.k / SCATTERED) if problem.sparse else 1.0
