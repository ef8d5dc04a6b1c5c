"""Any method, visiting the components in a new random order each iteration (for coordinate descent, where there is an order)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from partwise.currency import Array, State
from partwise.protocols import Iteration, Matrix
from partwise.randomness import Purpose, generator


@final
@dataclass(frozen=True)
class Shuffled:
    """Permutes the rows of all that has one row a component, steps, and permutes back: k-sized work beside an iteration."""

    inner: Iteration
    seed: int
    fixed: int = 0  # the first components, which nobody moves

    def init(self, X: Matrix, Wt: Array, H: Array) -> State:
        return self.inner.init(X, Wt, H)

    def step(self, X: Matrix, state: State, t: int) -> State:
        order = np.arange(len(state.H))
        generator(self.seed, Purpose.ORDER, t).shuffle(order[self.fixed :])
        return reordered(self.inner.step(X, reordered(state, order), t), np.argsort(order))


def reordered(state: State, order: np.ndarray) -> State:
    """The components, and what is remembered of them, in another order."""
    return state._replace(
        Wt=state.Wt[order],
        H=state.H[order],
        carry_W=tuple(part[order] for part in state.carry_W),
        carry_H=tuple(part[order] for part in state.carry_H),
        memory={name: kept[order] if isinstance(kept, np.ndarray) else kept for name, kept in state.memory.items()},
    )
