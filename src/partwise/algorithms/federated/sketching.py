"""One local iteration, on sketches or whole: what the methods of the DSANLS paper repeat at each party.

    H_p ← update(S₁X_p, S₁W_p)      S₁ᵀ (n_p, d): some mixtures of the party's samples
    W_p ← update(X_p S₂, H S₂)      S₂ (m, d): some mixtures of the features, the same at all parties

The paper's step is proximal coordinate descent, held back by μ_t; on whole data it needs no holding back.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import final

import numpy as np

from partwise.algorithms.single.sanls import Damping
from partwise.currency import Array, NormalEq
from partwise.protocols import Matrix, Sketch, Update
from partwise.randomness import Purpose
from partwise.sketches import sketch
from partwise.updates import Hals, Proximal

ROOM = 100.0  # between the paper's bound and ours


@final
@dataclass(frozen=True)
class Local:
    """How a party moves its factors; `share` is d over the side that is sketched."""

    kind: str = "count"
    share: float = 0.1
    damping: Damping = field(default_factory=lambda: Damping(0.1, 0.003))
    update: Update = field(default_factory=Hals)
    seed: int = 0

    def size(self, side: int, k: int) -> int:
        """d: a share of the side, but at least 2 k, and no more than all of it."""
        return min(side, max(2 * k, round(self.share * side)))

    def features(self, m: int, k: int, t: int) -> Sketch:
        """S₂ (m, d) of iteration t."""
        return sketch(self.kind, m, self.size(m, k), self.seed, t, Purpose.SKETCH_W)

    def samples(self, n: int, k: int, t: int) -> Sketch:
        """S₁ᵀ (n, d) of iteration t."""
        return sketch(self.kind, n, self.size(n, k), self.seed, t, Purpose.SKETCH_H)

    def largest(self, m: int, k: int) -> float:
        """A bound on the entries of S₂; a Gaussian's are as good as never beyond ten standard deviations."""
        d = self.size(m, k)
        return max(1.0, 10 / d**0.5, (m / d) ** 0.5)

    def move_H(self, X: Matrix, Wt: Array, H: Array) -> Array:
        """(k, m): one update on the whole of X (n, m)."""
        return within(X, self.update(H, X.T.normal_eq(Wt, H), ())[0])

    def move_W(self, X: Matrix, H: Array, Wt: Array) -> Array:
        """(k, n): one update on the whole of X (n, m)."""
        return within(X, self.update(Wt, X.normal_eq(H, Wt), ())[0])

    def move_H_sketched(self, X: Matrix, Wt: Array, H: Array, t: int) -> Array:
        """(k, m): one careful update on sketched samples."""
        S = self.samples(X.shape[0], len(H), t)
        return self._careful(X.T, S.apply(Wt), H, S, t)

    def move_W_sketched(self, X: Matrix, HS: Array, Wt: Array, t: int) -> Array:
        """(k, n): one careful update on sketched features; HS (k, d) is the sketch of the H that is meant."""
        return self._careful(X, HS, Wt, self.features(X.shape[1], len(Wt), t), t)

    def _careful(self, X: Matrix, small: Array, F: Array, S: Sketch, t: int) -> Array:
        """(k, n): proximal coordinate descent on the sketched pair of F (k, n), `small` (k, d) being the other factor's sketch."""
        small = np.ascontiguousarray(small, F.dtype)
        eq = NormalEq(small @ small.T, X.times_sketched(small, S))
        weight = self.damping.weight(eq.gram, t)
        return within(X, (Proximal(self.update, weight) if weight else self.update)(F, eq, ())[0])


def within(X: Matrix, F: Array) -> Array:
    """F with entries of at most 100 √(2 ‖X‖_F): far beyond the bound (22) of the paper, within which there is a best fit.

    Without any a component that a party has no use for, its W_p nearly zero, may drive the party's H_p, and with it the mean of all,
    to infinity: seen on MNIST by label, 50 parties, single precision.
    """
    bound = limit(X.sq_norm())
    return np.minimum(F, F.dtype.type(bound if bound > 0 else np.inf))


def limit(sq_norm: float) -> float:
    """100 √(2 ‖X‖_F)"""
    return ROOM * float(np.sqrt(2 * np.sqrt(sq_norm)))
