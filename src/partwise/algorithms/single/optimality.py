"""How far a factor is from optimal, the other being held: the KKT residual that stops a run.

It is the projected gradient of the whole objective: of the penalties too, not of components that are fixed, and not along
constraints that hold them (a ball for each component, the simplex for each column).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, final

import numpy as np

from partwise.currency import Array, NormalEq
from partwise.kernels.sums import violation

Constraint = Literal["", "ball", "simplex"]


@final
@dataclass(frozen=True)
class Optimality:
    """What else is asked of a factor F ≥ 0 beside its pair."""

    l1: float = 0.0
    l2: float = 0.0
    fixed: int = 0
    constraint: Constraint = ""

    def violation(self, F: Array, eq: NormalEq, weights: Array | None = None) -> float:
        """‖projected gradient‖₁ at F (k, r), whose columns may be weighted (r,)."""
        slopes = eq.gradient(F)
        if self.l1 or self.l2:
            slopes += F.dtype.type(self.l1) + F.dtype.type(self.l2) * F
        if self.constraint == "ball":
            slopes -= _outward(F, slopes)
        elif self.constraint == "simplex":
            slopes -= np.sum(F * slopes, axis=0)  # the multiplier of each column's sum
        if weights is not None:
            slopes *= weights
        slopes[: self.fixed] = 0
        return violation(F, slopes)


def _outward(F: Array, slopes: Array) -> Array:
    """The part of the slopes that only the ball resists: along components of length one that would grow."""
    along = np.sum(F * slopes, axis=1, keepdims=True)
    squares = np.sum(F * F, axis=1, keepdims=True)
    held = (along < 0) & (squares > 1 - 10 * np.finfo(F.dtype).eps)
    return np.where(held, along, 0) * F / np.maximum(squares, np.finfo(F.dtype).tiny)
