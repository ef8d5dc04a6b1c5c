"""A method that wants X by its rows, for an X by its columns: it is given Xᵀ ≈ Hᵀ Wᵀ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, final

from partwise.algorithms.distributed.spread import Spread
from partwise.algorithms.single.sketched import turned
from partwise.currency import Array, Message, State
from partwise.data import Layout
from partwise.protocols import Iteration


class ByRows(Iteration[Spread], Protocol):
    """A method for a cluster whose layout is "rows"."""

    @property
    def layout(self) -> Layout: ...

    def messages(self, t: int, rank: int = 0) -> Sequence[Message]: ...


@final
@dataclass(frozen=True)
class Turned:
    """W is whole everywhere and H is spread; what was remembered of W and of H changes places as well."""

    inner: ByRows

    @property
    def layout(self) -> Layout:
        """By columns."""
        return self.inner.layout.T

    def init(self, X: Spread, Wt: Array, H: Array) -> State:
        return _turned(self.inner.init(X.T, H, Wt))

    def step(self, X: Spread, state: State, t: int) -> State:
        return _turned(self.inner.step(X.T, _turned(state), t))

    def messages(self, t: int, rank: int = 0) -> Sequence[Message]:
        return self.inner.messages(t, rank)


def _turned(state: State) -> State:
    return turned(state)._replace(carry_W=state.carry_H, carry_H=state.carry_W)
