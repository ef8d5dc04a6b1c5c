"""Online NMF: one step on a batch of rows, the past being remembered as sums (Mairal, Bach, Ponce & Sapiro 2010, Algorithm 1;
Lefèvre, Bach & Févotte 2011 for the β-divergences).

    here                                                      Mairal et al.
    W_b ← argmin_{W ≥ 0} ½‖X_b − W H‖² + penalty              α_t, line 4   (here: some HALS sweeps, or exactly)
    gram ← ρ gram + W_bᵀW_b,  cross ← ρ cross + W_bᵀX_b       A_t, B_t, lines 5 and 6
    H ← HALS sweeps on (gram, cross)                          D_t, line 7 and Algorithm 2

ρ = forget_factor^(share of the data in the batch), as in scikit-learn, so that the past of one epoch counts forget_factor. For
β ≠ 2 the sums are the two sides of the multiplicative update, the numerator taken times H.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, final

import numpy as np

from partwise.algorithms.single.alternating import Penalty
from partwise.algorithms.single.exact import exact_W
from partwise.algorithms.single.methods import Problem, sweeps_beside_pair
from partwise.currency import Array, NormalEq, RatioEq
from partwise.protocols import Matrix, Update
from partwise.updates import BallHals, Hals, Mu, Penalised
from partwise.updates.ball import ball
from partwise.updates.mu import TINY, exponent_for


class Past(NamedTuple):
    """What is remembered of all batches so far."""

    eq: NormalEq | RatioEq
    rows: float = 0.0  # that these sums stand for


class Step(NamedTuple):
    """What a batch leaves."""

    Wt: Array  # (k, b), of the batch
    H: Array
    past: Past
    cost: float  # of the batch with the H it met: loss and penalty


@final
@dataclass(frozen=True)
class Online:
    """`problem` is that of one batch; its penalty of H is that of one row."""

    problem: Problem
    forget_factor: float = 0.7
    fresh: bool = False  # solve for W_b from scratch each time: exactly, or by `fresh_steps` multiplicative updates
    fresh_steps: int = 30
    tol: float = 1e-4

    def begin(self, H: Array) -> Past:
        """No past. A multiplicative update cannot divide by nothing, so H counts as one row, as in scikit-learn."""
        if self.problem.beta == 2:
            return Past(NormalEq(np.zeros((len(H), len(H)), H.dtype), np.zeros_like(H)))
        return Past(RatioEq(H.copy(), np.ones_like(H)))

    def step(self, X: Matrix, Wt: Array | None, H: Array, past: Past, share: float) -> Step:
        """Learn from the batch X (b, m), that is `share` of all data; `Wt` is what is known of its W."""
        Wt = self._weights(X, Wt, H, share)
        kept = float(self.forget_factor) ** share
        rows = kept * past.rows + X.shape[0]
        if isinstance(past.eq, NormalEq):
            new_H, eq, loss = self._least_squares(X, Wt, H, past.eq, kept, rows)
        else:
            new_H, eq, loss = self._multiplicative(X, Wt, H, past.eq, kept)
        return Step(Wt, new_H, Past(eq, rows), loss + self._penalty(X.shape[0]).of(Wt, H))

    def _weights(self, X: Matrix, Wt: Array | None, H: Array, share: float) -> Array:
        """(k, b): W of the batch."""
        problem, p = self.problem, self.problem.penalty
        if self.fresh or Wt is None:
            Wt = exact_W(X, H, problem, steps=self.fresh_steps, tol=self.tol)
        else:
            step = Hals(sweeps_beside_pair(problem)[0]) if problem.beta == 2 else Mu(exponent_for(problem.beta))
            pair = X.normal_eq(H, Wt) if problem.beta == 2 else X.ratio_eq(H, Wt, problem.beta)
            Wt, _ = Penalised(step, p.l1_W, p.l2_W)(Wt, pair, ())
        if problem.bounded == "W":  # each batch has its share of the ball
            radius = Wt.dtype.type(share**0.5)
            Wt = ball(Wt / radius) * radius
        return Wt

    def _least_squares(
        self, X: Matrix, Wt: Array, H: Array, past: NormalEq, kept: float, rows: float
    ) -> tuple[Array, NormalEq, float]:
        share = X.T.normal_eq(Wt, H)
        loss = 0.5 * X.sq_error(Wt, H, share)
        eq = NormalEq(kept * past.gram + share.gram, kept * past.cross + share.cross)
        penalty = self._penalty(rows)
        update: Update = BallHals() if self.problem.bounded == "H" else Hals(sweeps_beside_pair(self.problem)[1])
        return Penalised(update, penalty.l1_H, penalty.l2_H)(H, eq, ())[0], eq, loss

    def _multiplicative(
        self, X: Matrix, Wt: Array, H: Array, past: RatioEq, kept: float
    ) -> tuple[Array, RatioEq, float]:
        beta, penalty = self.problem.beta, self._penalty(X.shape[0])
        exponent = exponent_for(beta)
        pair = X.T.ratio_eq(Wt, H, beta)
        denominator = pair.denominator + H.dtype.type(penalty.l1_H) + H.dtype.type(penalty.l2_H) * H
        eq = RatioEq(
            kept * past.numerator + pair.numerator * H ** (1 / exponent),
            kept * past.denominator + np.maximum(denominator, H.dtype.type(TINY)),
        )
        moved = (eq.numerator / eq.denominator) ** exponent
        return ball(moved) if self.problem.bounded == "H" else moved, eq, X.divergence(Wt, H, beta)

    def _penalty(self, rows: float) -> Penalty:
        """The penalty of H grows with the rows it is weighed against."""
        p = self.problem.penalty
        return Penalty(p.l1_W, p.l2_W, rows * p.l1_H, rows * p.l2_H)
