"""D-HALS (Zdunek & Fonal 2017, as Gao & Chu describe it): X by blocks, W and H on every rank, two messages an iteration.

    all-reduce   Σ X_ij H_jᵀ, each in its rows: cross of W      k n numbers
    every rank   W ← HALS sweep from HHᵀ, cross
    all-reduce   Σ X_ijᵀ W_i: cross of H                        k m numbers
    every rank   H ← HALS sweep from WᵀW, cross

The iterates are those of HALS. All ranks make the same sweeps, so these don't get faster with more ranks; grams and the error need no
message.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from partwise.algorithms.distributed.did import spoken
from partwise.algorithms.distributed.spread import Spread
from partwise.algorithms.single.alternating import Alternating, Violation
from partwise.currency import Array, Message, NormalEq, State
from partwise.data import Layout


@final
@dataclass(frozen=True)
class DHals:
    """Any alternation: whole components are known everywhere."""

    inner: Alternating
    k: int
    layout: Layout

    def init(self, X: Spread, Wt: Array, H: Array) -> State:
        loss = 0.5 * X.sq_error(Wt, H, self.pair_H(X, Wt))
        return self.inner.onward(State(Wt, H, loss, self.inner.penalty.of(Wt, H)))

    def step(self, X: Spread, state: State, t: int) -> State:
        seen = Violation(t)
        eq = self.pair_W(X, state.H)
        seen.add(state.Wt, eq, self.inner.optimal_W)
        Wt, carry_W = self.inner.update_W(state.Wt, eq, state.carry_W)
        eq = self.pair_H(X, Wt)
        seen.add(state.H, eq, self.inner.optimal_H)
        H, carry_H = self.inner.update_H(state.H, eq, state.carry_H)
        loss = 0.5 * X.sq_error(Wt, H, eq)
        return State(Wt, H, loss, self.inner.penalty.of(Wt, H), seen.total, carry_W, carry_H)

    def pair_W(self, X: Spread, H: Array) -> NormalEq:
        """Of all of W."""
        rows, columns = X.places
        return NormalEq(H @ H.T, self._summed(X, X.times(np.ascontiguousarray(H[:, columns])), rows, 0))

    def pair_H(self, X: Spread, Wt: Array) -> NormalEq:
        """Of all of H."""
        rows, columns = X.places
        return NormalEq(Wt @ Wt.T, self._summed(X, X.times_T(np.ascontiguousarray(Wt[:, rows])), columns, 1))

    def _summed(self, X: Spread, mine: Array, place: slice, side: int) -> Array:
        """The sum over ranks of what each has for its place, which is nothing elsewhere."""
        whole = np.zeros((self.k, self.layout.shape[side]), mine.dtype)
        whole[:, place] = mine
        return X.comm.sum(whole)

    def messages(self, t: int, rank: int = 0) -> Sequence[Message]:
        return spoken(*(Message("sum", self.k * side, self.layout.ranks) for side in self.layout.shape))
