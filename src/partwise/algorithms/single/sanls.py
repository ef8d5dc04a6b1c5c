"""SANLS, sketched alternating nonnegative least squares (Qian, Tan, Ding, Li & Mamoulis: DSANLS on one node).

Every iteration each factor takes one careful step on a least-squares problem that a new random S has made smaller:

    for W:   gram = (HS)(HS)ᵀ     cross = (HS)(XS)ᵀ      S (m, d)
    for H:   gram = (WᵀS')(WᵀS')ᵀ  cross = (WᵀS')(XᵀS')ᵀ   S' (n, d'),  with the new W

The minimum of the sketched problem is not that of the whole one, so a step must not go all the way: "pcd" is a HALS sweep with a
penalty ½ μ_t ‖F − F_t‖², "pgd" one projected gradient step of length η_t, with μ_t = α + β t growing and η_t = 1/μ_t.

    paper            here                                       held by
    M (m, n)         X (n, m)
    U, V             W, Hᵀ                                      State
    A_r^t, B^t       X S, H S                                   `_pair`
    line 12: U^t     the new W, as in the paper's Algorithm 1   `step`
    μ_t absolute     times mean(diag gram), unless told not to  `Damping`
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import final

import numpy as np

from partwise.algorithms.single.alternating import Penalty
from partwise.comm import Side
from partwise.currency import Array, NormalEq, State
from partwise.data import Weighted
from partwise.errors import OptionError
from partwise.protocols import Matrix, Update
from partwise.randomness import Purpose
from partwise.sketches import sketch
from partwise.updates import BoxHals, Hals, Pgd, Proximal
from partwise.updates.gradient import curvature

MEASURE_EVERY = 10  # iterations between measurements of the loss, at least: each costs several sketched ones
LARGE = 100_000  # the paper's "large" side, of which it keeps 1 % instead of 10 %
SHORT = 4  # a side this many times shorter than the other is not sketched


@final
@dataclass(frozen=True)
class Damping:
    """μ_t = α + β t, t counted from 0: of mean(diag gram) if `relative`, else as it stands (the paper).

    Relative damping makes the run the same whatever unit X is measured in.
    """

    alpha: float
    beta: float
    relative: bool = True

    def weight(self, gram: Array, t: int) -> float:
        """μ_t for a proximal sweep."""
        unit = float(np.trace(gram)) / len(gram) if self.relative else 1.0
        return (self.alpha + self.beta * (t - 1)) * unit

    def step(self, gram: Array, t: int) -> float:
        """How far to go along the gradient gram F − cross: 2 η_t, as the paper's gradient is twice this one."""
        if self.relative:
            return 1 / ((1 + self.alpha + self.beta * (t - 1)) * curvature(gram))
        return 2 / (self.alpha + self.beta * (t - 1))


@final
@dataclass(frozen=True)
class Sanls:
    """Cost per iteration: O((n + m) d k) beside the sketching of X, of which n d + m d' numbers are held."""

    kind: str
    sizes: tuple[int, int]  # (d, d')
    damping: Damping
    dress: Callable[[Update, Update], tuple[Update, Update]]  # what the user wants of every update
    inner: str = "pcd"
    bounded: bool = False  # entries ≤ √(2 ‖X‖), the paper's (22)
    penalty: Penalty = field(default_factory=Penalty)
    seed: int = 0
    every: int = MEASURE_EVERY  # iterations between measurements of the loss

    def init(self, X: Matrix, Wt: Array, H: Array) -> State:
        if isinstance(X, Weighted) or not X.traceable:
            raise OptionError("solver='sanls' sketches X as a whole: it takes neither missing entries nor sample weights; "
                              "use solver='hals'.")  # fmt: skip
        return State(Wt, H, 0.5 * X.sq_error(Wt, H), self.penalty.of(Wt, H))

    def step(self, X: Matrix, state: State, t: int) -> State:
        n, m = X.shape
        Wt = self.moved("W", X, state.Wt, state.H, Side.whole(m), t, X.sq_norm())
        H = self.moved("H", X.T, state.H, Wt, Side.whole(n), t, X.sq_norm())
        loss = 0.5 * X.sq_error(Wt, H, X.T.normal_eq(Wt, H)) if self.measures(t) else float("nan")
        return State(Wt, H, loss, self.penalty.of(Wt, H))

    def moved(
        self, which: str, X: Matrix, F: Array, other: Array, side: Side, t: int, sq_norm: float
    ) -> Array:  # fmt: skip
        """F (k, n) after a careful step, X (n, m) being here; `other` (k, m) may be cut up (`side`), and this rank has its part."""
        place, purpose = (0, Purpose.SKETCH_W) if which == "W" else (1, Purpose.SKETCH_H)
        eq = self._pair(X, F, other, side, self.sizes[place], t, purpose)
        most = (2 * sq_norm**0.5) ** 0.5 if self.bounded else np.inf
        return self._updates(eq.gram, t, most)[place](F, eq, ())[0]

    def measures(self, t: int) -> bool:
        """Whether iteration t ends with a measurement of the loss."""
        return t % self.every == 0

    def _pair(
        self, X: Matrix, F: Array, other: Array, side: Side, d: int, t: int, purpose: Purpose
    ) -> NormalEq:  # fmt: skip
        """The pair for F, `other` and X having been sketched to d columns; as it is if d = m."""
        if d == side.size:
            return X.normal_eq(side.gather(other), F)
        S = sketch(self.kind, side.size, d, self.seed, t, purpose)
        small = side.comm.sum(S.apply(other, side.part.start))  # Σ B_r: all that DSANLS sends
        return NormalEq(small @ small.T, X.times_sketched(small, S))

    def _updates(self, gram: Array, t: int, most: float) -> tuple[Update, Update]:
        """One careful step for either factor, as the damping of iteration t has it for this gram."""
        if self.inner == "pgd":
            update: Update = Pgd(step=self.damping.step(gram, t), project=lambda F: np.clip(F, 0, most, out=F))
        else:
            update = Proximal(BoxHals(most) if self.bounded else Hals(), self.damping.weight(gram, t))
        return self.dress(update, update)


def measure_every(shape: tuple[int, int], sizes: tuple[int, int]) -> int:
    """So seldom that on a cluster, where a measurement gathers the shorter factor, it sends at most half of what the sketches do."""
    return max(MEASURE_EVERY, -(-2 * min(shape) // sum(sizes)))


def sketch_sizes(shape: tuple[int, int], k: int, size: float | str) -> tuple[int, int]:
    """(d, d') for the sides (m, n): a fraction of each; or, for "auto", the paper's rule.

    The rule: a tenth, of a side beyond LARGE a hundredth, but at least 2 k; and a short side stays whole, as the sketch would
    save little where it costs most.
    """
    sides = (shape[1], shape[0])
    if size != "auto":
        return tuple(max(1, round(float(size) * side)) for side in sides)  # type: ignore[return-value]
    fractions = (0.1 if side < LARGE else 0.01 for side in sides)
    sizes = (min(side, max(2 * k, round(part * side))) for part, side in zip(fractions, sides, strict=True))
    whole = (SHORT * side <= max(sides) for side in sides)
    return tuple(side if all_of_it else d for side, d, all_of_it in zip(sides, sizes, whole, strict=True))  # type: ignore[return-value]
