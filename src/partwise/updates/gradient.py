"""Steps along the projected gradient: plain (PGD), accelerated (NeNMF, Guan et al. 2012), with inertia (iPALM, Pock & Sabach 2016).

All can project on something other than the orthant, which is how rows of W are kept on the simplex.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import final

import numpy as np

from partwise.currency import Array, Carry, NormalEq
from partwise.updates.memoryless import Memoryless

Projection = Callable[[Array], Array]


def orthant(F: Array) -> Array:
    """The nearest nonnegative F, in place."""
    return np.maximum(F, 0, out=F)


def simplex(F: Array) -> Array:
    """(k, r): the nearest F whose columns are nonnegative and sum to one (Held, Wolfe & Crowder 1974)."""
    k = F.shape[0]
    falling = -np.sort(-F, axis=0)
    excess = (np.cumsum(falling, axis=0) - 1) / np.arange(1, k + 1, dtype=F.dtype)[:, None]
    last = k - 1 - np.argmax((falling > excess)[::-1], axis=0)
    return np.maximum(F - excess[last, np.arange(F.shape[1])], 0)


def curvature(gram: Array) -> float:
    """L = λ_max(gram), the Lipschitz constant of the gradient; never zero."""
    return max(float(np.linalg.eigvalsh(gram)[-1]), float(np.finfo(gram.dtype).tiny))


@final
@dataclass(frozen=True)
class Pgd(Memoryless):
    """F ← [F − step · gradient]₊, step = 1/L unless given."""

    steps: int = 1
    step: float | None = None
    project: Projection = orthant

    def solve(self, F: Array, eq: NormalEq) -> Array:
        step = F.dtype.type(1 / curvature(eq.gram) if self.step is None else self.step)
        for _ in range(self.steps):
            F = self.project(F - step * eq.gradient(F))
        return F


@final
@dataclass(frozen=True)
class Nesterov(Memoryless):
    """Nesterov's optimal gradient method on one pair, restarted for each column that overshoots (O'Donoghue & Candès 2015)."""

    steps: int = 10
    project: Projection = orthant

    def solve(self, F: Array, eq: NormalEq) -> Array:
        step = F.dtype.type(1 / curvature(eq.gram))
        ahead, age = F, np.ones(F.shape[1])
        for _ in range(self.steps):
            moved = self.project(ahead - step * eq.gradient(ahead))
            way = moved - F
            uphill = np.einsum("kr,kr->r", ahead - moved, way) > 0  # where the momentum points: begin anew
            older, age = np.where(uphill, 1, age), np.where(uphill, 1, (1 + np.sqrt(4 * age**2 + 1)) / 2)
            ahead = moved + ((older - 1) / age).astype(F.dtype) * way
            F = moved
        return F


@final
@dataclass(frozen=True)
class Palm:
    """iPALM: one proximal gradient step from a point ahead, y = F + inertia · (F − F_before)."""

    inertia: float = 0.5
    steps: int = 1
    project: Projection = orthant

    def init(self, F: Array) -> Carry:
        return (F,)

    def __call__(self, F: Array, eq: NormalEq, carry: Carry) -> tuple[Array, Carry]:
        (before,) = carry
        step, inertia = F.dtype.type(1 / curvature(eq.gram)), F.dtype.type(self.inertia)
        for _ in range(self.steps):
            ahead = F + inertia * (F - before)
            before, F = F, self.project(ahead - step * eq.gradient(ahead))
        return F, (before,)
