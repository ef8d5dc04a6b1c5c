"""Extrapolated alternation (Ang & Gillis 2019), in a form whose reported loss never rises.

Each factor is updated, then pushed on along the way it came:  F^y = [F + β (F − F_before)]₊.  The error of (W^y, H) costs nothing.
If it fell, the step counts and β grows; if it rose, the step is thrown away, β shrinks, and the next step from the last good
point is a plain one, which cannot fail. (Ang & Gillis restart from the last *unextrapolated* point, whose error may be higher.)

    here            paper            meaning
    ahead           β_k              how far to push
    ahead_most      β̄                what β may grow to; itself grows by `growth_most` up to 1
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from partwise.algorithms.single.alternating import Alternating, Blocks, Violation, everyone, pass_over, start_state
from partwise.currency import Array, NormalEq, State
from partwise.kernels.push import push
from partwise.protocols import Passes


@final
@dataclass(frozen=True)
class Extrapolated:
    """Wraps an alternation whose updates remember nothing."""

    inner: Alternating
    first: float = 0.5  # β₀
    growth: float = 1.05  # γ
    growth_most: float = 1.01  # γ̄
    shrink: float = 1.5  # η

    def init(self, X: Passes, Wt: Array, H: Array) -> State:
        return self.onward(start_state(self.inner, X, Wt, H))

    def onward(self, state: State) -> State:
        """The same point, with what this method remembers at first."""
        memory = {
            "Wt_before": state.Wt, "H_before": state.H, "H_ahead": state.H,
            "ahead": self.first, "ahead_most": 1.0, "plain": 0.0,
        }  # fmt: skip
        return State(*state[:5], memory=memory)

    def step(self, X: Passes, state: State, t: int) -> State:
        past = state.memory
        Wt_before, H_ahead = np.asarray(past["Wt_before"]), np.asarray(past["H_ahead"])
        ahead = 0.0 if past["plain"] else float(past["ahead"])
        seen = Violation(t)
        moved_W = Blocks(state.Wt)

        def move(rows: slice, F: Array, eq: NormalEq) -> Array:
            seen.add(F, eq, self.inner.optimal_W)
            moved, _ = self.inner.update_W(F, eq, ())
            moved_W.put(rows, moved)
            return push(moved, Wt_before, ahead, rows.start or 0) if ahead else moved

        Wt, mine = pass_over(X, state.Wt, H_ahead, move)
        eq, paid = everyone(X, mine, seen, self.inner.penalty.on_W(Wt))
        seen.add(H_ahead, eq, self.inner.optimal_H)
        H, _ = self.inner.update_H(H_ahead, eq, ())
        paid += self.inner.penalty.on_H(H) or 0.0
        found = State(Wt, H, 0.5 * X.sq_error(Wt, H, eq), paid, seen.total)
        if found.objective > state.objective and ahead > 0:
            return self._back(state, seen.total)
        return self._on(found, moved_W.together, ahead, past)

    def _on(self, found: State, moved_W: Array, ahead: float, past) -> State:
        """The step counts."""
        H_ahead = push(found.H, past["H_before"], ahead) if ahead else found.H
        most = min(1.0, self.growth_most * past["ahead_most"])
        memory = {
            "Wt_before": moved_W, "H_before": found.H, "H_ahead": H_ahead,
            "ahead": min(most, self.growth * past["ahead"]), "ahead_most": most, "plain": 0.0,
        }  # fmt: skip
        return found._replace(memory=memory)

    def _back(self, state: State, violation: float) -> State:
        """The step does not count: the last good point, and a plain step from there."""
        past = state.memory
        memory = {
            "Wt_before": state.Wt, "H_before": state.H, "H_ahead": state.H,
            "ahead": past["ahead"] / self.shrink, "ahead_most": past["ahead"], "plain": 1.0,
        }  # fmt: skip
        return state._replace(memory=memory, violation=violation)
