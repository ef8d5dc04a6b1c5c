"""Multiplicative updates for any β-divergence (Lee & Seung 2001; Févotte & Idier 2011).

W ← W ∘ ((X ∘ (WH)^(β−2)) Hᵀ / (WH)^(β−1) Hᵀ)^γ(β),   then H with the new W
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import final

import numpy as np

from partwise.algorithms.single.alternating import Penalty
from partwise.currency import Array, RatioEq, State
from partwise.protocols import Matrix, Update

MEASURE_EVERY = 10  # iterations between measurements of the divergence: each costs about half an iteration


@final
@dataclass(frozen=True)
class Multiplicative:
    """For β = 2 the pair is that of least squares: use Alternating with AsRatio(Mu()), whose error is free."""

    update_W: Update
    update_H: Update
    beta: float
    penalty: Penalty = field(default_factory=Penalty)

    def init(self, X: Matrix, Wt: Array, H: Array) -> State:
        return State(Wt, H, X.divergence(Wt, H, self.beta), self.penalty.of(Wt, H))

    def step(self, X: Matrix, state: State, t: int) -> State:
        Wt, pair = np.empty_like(state.Wt), None
        for rows, block in X.blocks():
            F = np.ascontiguousarray(state.Wt[:, rows])
            moved, _ = self.update_W(F, block.ratio_eq(state.H, F, self.beta), ())
            Wt[:, rows] = moved
            share = block.T.ratio_eq(moved, state.H, self.beta)
            pair = share if pair is None else RatioEq.plus(pair, share)
        H, _ = self.update_H(state.H, pair, ())
        loss = X.divergence(Wt, H, self.beta) if t % MEASURE_EVERY == 0 else float("nan")
        return State(Wt, H, loss, self.penalty.of(Wt, H))
