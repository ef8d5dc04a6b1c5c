"""DADMM, distributed ADMM (Gao & Chu 2018, their Algorithm 1, ρ = 1): one message an iteration, exact least squares.

    paper, rank p                              here: what follows for ρ = 1, U = 0 and Y = W₀H₀ at first
    1  U ← U + Y − WH                          with V = U + WH:  V ← (V + X) / 2,  whatever W and H do,
    2  Y ← (X − U + WH) / 2                    and U + Y is the next V.  So V = (1 − s) X + s W₀H₀ with s = 2⁻ᵗ
    3  W_p ← argmin_{≥0} ‖U + Y − WH‖²         BPP on HHᵀ,  V_p Hᵀ = (1 − s) X_p Hᵀ + s W₀ (H₀ Hᵀ)
    4  all-reduce WᵀW, Wᵀ(U + Y)               gram, cross = Σ W_pᵀW_p, Σ X_pᵀW_p;  and Σ W₀ᵀW_p,  k² numbers, while s > 0
    5  H ← BPP(gram, cross)                    BPP on gram,  (1 − s) cross + s H₀ᵀ (Σ W₀ᵀW_p)

U and Y, dense and each as large as X, are never formed, and a sparse X stays sparse. It also shows what the method does: alternating
nonnegative least squares (HPC-ANLS with BPP) on a target that goes from the start's model to X by halves. With another ρ the
models of all iterations would stay in V.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from partwise.algorithms.distributed.did import riding, spoken
from partwise.algorithms.distributed.spread import Spread
from partwise.algorithms.single.alternating import Alternating, Violation, everyone, pass_over, start_state
from partwise.currency import Array, Message, NormalEq, State
from partwise.data import Layout

LAST = 64  # iteration after which s = 2⁻ᵗ is far below rounding, and taken as 0


@final
@dataclass(frozen=True)
class Dadmm:
    """`inner` alternates exact solutions; its memory is the start, while it still counts."""

    inner: Alternating
    k: int
    layout: Layout

    def init(self, X: Spread, Wt: Array, H: Array) -> State:
        return start_state(self.inner, X, Wt, H)._replace(memory={"Wt_start": Wt, "H_start": H})

    def step(self, X: Spread, state: State, t: int) -> State:
        seen, target = Violation(t), Target.at(state, t)

        def move(rows: slice, F: Array, eq: NormalEq) -> Array:
            seen.add(F, eq, self.inner.optimal_W)
            return self.inner.update_W(F, target.of_W(eq, rows), ())[0]  # 3

        Wt, mine = pass_over(X, state.Wt, state.H, move)
        both, paid = everyone(X, target.beside(mine, Wt), seen, self.inner.penalty.on_W(Wt))  # 4
        eq = NormalEq(both.gram[: self.k], both.cross)
        seen.add(state.H, eq, self.inner.optimal_H)
        H, _ = self.inner.update_H(state.H, target.of_H(eq, both.gram[self.k :]), ())  # 5
        loss = 0.5 * X.sq_error(Wt, H, eq)
        paid += self.inner.penalty.on_H(H) or 0.0
        return State(Wt, H, loss, paid, seen.total, memory=state.memory if t < LAST else {})

    def messages(self, t: int, rank: int = 0) -> Sequence[Message]:
        m, beside = self.layout.shape[1], self.k if t <= LAST else 0
        return spoken(Message("sum", (m + self.k + beside) * self.k + riding(self.inner, t), self.layout.ranks))


@final
@dataclass(frozen=True)
class Target:
    """V = (1 − s) X + s W₀H₀ (1, 2), known by its pairs."""

    s: float
    Wt_start: Array  # (k, n_p)
    H_start: Array  # (k, m)
    crossed: Array  # (k, k): H H₀ᵀ

    @classmethod
    def at(cls, state: State, t: int) -> Target:
        """In iteration t, for an H that is known."""
        if t > LAST:
            return cls(0.0, state.Wt, state.H, np.empty(0))
        Wt_start, H_start = np.asarray(state.memory["Wt_start"]), np.asarray(state.memory["H_start"])
        return cls(0.5**t, Wt_start, H_start, state.H @ H_start.T)

    def of_W(self, eq: NormalEq, rows: slice) -> NormalEq:
        """The pair of some rows of W, from theirs for X."""
        return self._mixed(eq, lambda: self.crossed @ self.Wt_start[:, rows])

    def of_H(self, eq: NormalEq, crossed: Array) -> NormalEq:
        """The pair of H, from that for X; crossed (k, k): W ᵀW₀."""
        return self._mixed(eq, lambda: crossed @ self.H_start)

    def beside(self, mine: NormalEq, Wt: Array) -> NormalEq:
        """The pair of own rows, with WᵀW₀ below the gram while it is needed."""
        return mine._replace(gram=np.vstack([mine.gram, Wt @ self.Wt_start.T])) if self.s else mine

    def _mixed(self, eq: NormalEq, cross_of_start) -> NormalEq:
        if not self.s:
            return eq
        s = eq.cross.dtype.type(self.s)
        return NormalEq(eq.gram, (1 - s) * eq.cross + s * cross_of_start())
