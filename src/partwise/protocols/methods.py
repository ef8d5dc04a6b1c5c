"""What changes factors, and in what order: on one machine and on a cluster."""

from __future__ import annotations

from typing import Any, Protocol, TypeVar

from partwise.currency import Array, Carry, State

Data = TypeVar("Data", contravariant=True)


class Update(Protocol):
    """Moves a factor, knowing only its pair; columns are independent of one another."""

    def init(self, F: Array) -> Carry: ...

    def __call__(self, F: Array, eq: Any, carry: Carry) -> tuple[Array, Carry]:
        """A new F (k, r) and what to remember; neither F nor the pair is written to."""
        ...


class Iteration(Protocol[Data]):
    """A named method: how it starts from given factors, and one iteration. The loop is the driver's.

    On one machine the data are a `Matrix`; on a cluster they are what this rank holds of one.
    """

    def init(self, X: Data, Wt: Array, H: Array) -> State: ...

    def step(self, X: Data, state: State, t: int) -> State: ...
