"""DID, distributed incremental block coordinate descent (Gao & Chu 2018): one message an iteration, and the iterates of HALS.

    rank p       W_p ← HALS sweep from HHᵀ, X_p Hᵀ
    all-reduce   cross, gram = Σ X_pᵀW_p, Σ W_pᵀW_p              (m + k) k numbers
    every rank   for each i:  h_i ← [h_i + (cross_i − gram_i H) / gram_ii]₊      the same bits everywhere

    paper                                     here                                             held by
    X (M, N), columns spread                  X (n, m), rows spread: X_p (n_p, m)              `Spread`
    C_p; B                                    W_pᵀ; Hᵀ                                         rank p; every rank
    W = Σ e_j c_jᵀ, V = Σ c_j c_jᵀ: (28), (29)  Σ X_pᵀW_p and gram: no residual is formed, so sparse X stays sparse    `Spread.together`
    (w_i − Σ_{l<i} v_il δb_l) / v_ii: (30)    (cross_i − gram_i H) / gram_ii, with the h_l that have moved             `Hals`

The residual that the paper sums is the pair's slope, E Cᵀ = cross − gram H, with the H that all ranks know: nothing else must travel.
So any update that lives on the pair can take the place of HALS, more than one sweep, and extrapolation too, whose errors are known
everywhere. W's share of the KKT residual (when it is measured) and of a penalty (if there is one) travel in the same message.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

from partwise.algorithms.distributed.spread import Spread
from partwise.algorithms.single.alternating import Alternating, Violation
from partwise.algorithms.single.extrapolated import Extrapolated
from partwise.currency import Array, Message, State
from partwise.data import Layout


@final
@dataclass(frozen=True)
class Did:
    """An alternation of one machine, of which each rank holds rows."""

    inner: Alternating | Extrapolated
    k: int
    layout: Layout

    def init(self, X: Spread, Wt: Array, H: Array) -> State:
        return self.inner.init(X, Wt, H)

    def step(self, X: Spread, state: State, t: int) -> State:
        return self.inner.step(X, state, t)

    def messages(self, t: int, rank: int = 0) -> Sequence[Message]:
        pair = (self.layout.shape[1] + self.k) * self.k
        return spoken(Message("sum", pair + riding(self.inner, t), self.layout.ranks))


def riding(method: Alternating | Extrapolated, t: int) -> int:
    """How many numbers about W travel with a pair in iteration t."""
    inner = method.inner if isinstance(method, Extrapolated) else method
    return int(Violation(t).measured) + int(bool(inner.penalty.l1_W or inner.penalty.l2_W))


def spoken(*messages: Message) -> tuple[Message, ...]:
    """Those that go anywhere: a rank that is alone says nothing."""
    return tuple(message for message in messages if message.ranks > 1)
