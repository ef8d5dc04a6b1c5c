"""DBCD, distributed block coordinate descent (Gao & Chu 2018): the iterates of DID, in k messages instead of one.

    rank p       W_p ← HALS sweep from HHᵀ, X_p Hᵀ
    for each i   y_p = (X_p − W_p H + w_i h_i)ᵀ w_i,   z_p = ‖w_i‖²
                 all-reduce  y, z = Σ y_p, Σ z_p                   m + 1 numbers
                 every rank  h_i ← [y / z]₊

    paper                                 here                                                 held by
    e_j = x_j − B c_j, kept up to date    y_p = cross_i − Σ_{l≠i} gram_il h_l, from the pair   rank p
    y_j, z_j; y, z: (20), (21)            y_p, z_p; y, z                                       `component`

No rank ever has the pair of all rows. The error is known nevertheless: the first message brings the error of (new W, old H), one number,
and with y and z everyone knows what each h_i takes off it, z (‖h‖² − ‖h_old‖²) − 2⟨y, h − h_old⟩.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, final

import numpy as np

from partwise.algorithms.distributed.did import riding, spoken
from partwise.algorithms.distributed.spread import Spread
from partwise.algorithms.single.alternating import Alternating, Violation, start_state
from partwise.comm import sum_together
from partwise.currency import Array, Message, NormalEq, State
from partwise.data import Layout
from partwise.kernels.sums import dot64, sq64, violation


class Seen(NamedTuple):
    """What the ranks learn of an iteration beside H."""

    sq_error: float  # ‖X − WH‖² for the H so far
    on_W: float | None  # the KKT residual of W
    paid: float | None  # the penalty of W
    on_H: float = 0.0  # the KKT residual met on the way


@final
@dataclass(frozen=True)
class Dbcd:
    """`inner` is HALS, whose update of W is used; components of H are updated here."""

    inner: Alternating
    layout: Layout
    components: range  # those that move

    def init(self, X: Spread, Wt: Array, H: Array) -> State:
        return self.inner.onward(start_state(self.inner, X, Wt, H))

    def step(self, X: Spread, state: State, t: int) -> State:
        met = Violation(t)
        Wt, carry_W, mine = self.inner.rows_moved(X, state, met)
        seen = Seen(X.here.sq_error(Wt, state.H, mine), met.so_far, self.inner.penalty.on_W(Wt))
        H = state.H.copy()
        for i in self.components:
            seen = self.component(X, mine, H, i, seen)
        total = seen.on_W + seen.on_H if seen.on_W is not None else np.nan
        paid = (seen.paid or 0.0) + (self.inner.penalty.on_H(H) or 0.0)
        return State(Wt, H, 0.5 * max(seen.sq_error, 0.0), paid, total, carry_W)

    def component(self, X: Spread, mine: NormalEq, H: Array, i: int, seen: Seen) -> Seen:
        """h_i, in place. The first message also carries what everyone must know of W."""
        own = mine.cross[i] - mine.gram[i] @ H + mine.gram[i, i] * H[i]
        told = [number for number in seen[:3] if number is not None] if i == self.components.start else []
        y, z, heard = sum_together(X.comm, own, mine.gram[i, i : i + 1], np.array(told, own.dtype))
        if told:
            said = iter(heard.tolist())
            seen = Seen(*(None if number is None else next(said) for number in seen[:3]))  # type: ignore[arg-type]
        l1, l2 = y.dtype.type(self.inner.penalty.l1_H), y.dtype.type(self.inner.penalty.l2_H)
        before, curvature = H[i].copy(), z[0] + l2
        if curvature >= np.finfo(y.dtype).tiny:  # else the component is dead, and stays as it is
            H[i] = np.maximum((y - l1) / curvature, 0)
        fell = float(z[0]) * (sq64(H[i]) - sq64(before)) - 2 * (dot64(y, H[i]) - dot64(y, before))
        slope = 0.0 if seen.on_W is None else violation(before, curvature * before - (y - l1))
        return seen._replace(sq_error=seen.sq_error + fell, on_H=seen.on_H + slope)

    def messages(self, t: int, rank: int = 0) -> Sequence[Message]:
        said = [self.layout.shape[1] + 1 for _ in self.components]
        said[0] += 1 + riding(self.inner, t)
        return spoken(*(Message("sum", numbers, self.layout.ranks) for numbers in said))
