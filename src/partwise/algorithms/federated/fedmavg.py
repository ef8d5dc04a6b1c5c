"""FedMAvg (Wang, Suwandi & Chang, Algorithm 1): ever fewer local steps of the shared factor, and some parties drawn to be heard.

paper                      here                                               held by
X_p (M, N_p), H_p          X_pᵀ, W_pᵀ                                          party, never sent
W, W_p                     Hᵀ, H_pᵀ                                            server; party, sent if drawn
Q₁                         w_steps, projected, of length 1/c
Q₂ˢ = ⌊Q̂/s⌋ + 1            ⌊h_steps / t⌋ + 1, not projected, of length 1/d
c = ½ γ₁ L_H, d = γ₂ L_W   ½ w_margin · λ_max(HHᵀ), h_margin · λ_max(W_pᵀW_p)
𝒜ˢ, m, ω_p                 drawn(t): `draws` parties, with replacement, with probability as their sizes
P_𝒲, P_ℋ                   project_H, project_W
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from partwise.algorithms.federated.study import Federated
from partwise.currency import Array, Arrays, Exchange, Field, NormalEq, Reply
from partwise.protocols import Matrix
from partwise.randomness import Purpose, generator
from partwise.updates.gradient import Projection, curvature, orthant


@final
@dataclass(frozen=True)
class FedMAvg(Federated):
    """Message: m k numbers down to all, m k up from those drawn. All parties compute."""

    w_steps: int = 10  # Q₁
    h_steps: int = 50  # Q̂
    draws: int | None = None  # m; None: everyone once, weighted by size
    w_margin: float = 2.0  # γ₁ > 1
    h_margin: float = 1.0  # γ₂
    project_W: Projection = orthant
    project_H: Projection = orthant

    def declare(self, t: int, p: int) -> Exchange:
        k, m = self.study.k, self.study.m
        up = {"H": Field((k, m), np.dtype(self.study.dtype))}  # not projected before it has been averaged
        return Exchange(self.study.model, up if self.drawn(t)[p] else {})

    def drawn(self, t: int) -> NDArray[np.intp]:
        """(P,): how often each party was drawn for round t; anyone can tell from the seed and the published sizes."""
        parties = self.study.parties
        if self.draws is None:
            return np.ones(parties, np.intp)
        rng = generator(self.study.seed, Purpose.PARTICIPATION, t)
        return np.bincount(rng.choice(parties, self.draws, p=self.study.weights()), minlength=parties)

    def party(self, X: Matrix, private: Arrays, down: Arrays, t: int, p: int) -> tuple[Arrays, Arrays]:
        Wt, H = private["Wt"], down["H"]
        eq, c = X.normal_eq(H, Wt), 0.5 * self.w_margin
        for _ in range(self.w_steps):  # epochs 1 … Q₁
            Wt = self.project_W(stepped(Wt, eq, c))
        eq, d = X.T.normal_eq(Wt, H), self.h_margin
        for _ in range(self.h_steps // t + 1):  # epochs Q₁ + 1 … Q₁ + Q₂ˢ
            H = stepped(H, eq, d)
        return {"Wt": Wt}, {"H": H} if self.drawn(t)[p] else {}

    def server(self, public: Arrays, replies: Sequence[Reply], t: int) -> Arrays:
        often = self.drawn(t) * (self.study.weights() if self.draws is None else 1.0)
        weights = np.array([often[reply.parties[0]] for reply in replies])
        total = np.zeros_like(public["H"])
        for reply, weight in zip(replies, weights / weights.sum(), strict=True):
            total += total.dtype.type(weight) * reply.arrays["H"]
        return {"H": self.project_H(total)}


def stepped(F: Array, eq: NormalEq, margin: float) -> Array:
    """F − gradient / (margin · L)."""
    return F - F.dtype.type(1 / (margin * curvature(eq.gram))) * eq.gradient(F)
