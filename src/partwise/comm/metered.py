"""Counts what an algorithm sends: the payload that it asked for, and what that costs on the wire by the model of a network."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Self, final

from numpy.typing import NDArray

from partwise.comm.network import Network
from partwise.protocols import Comm, Received


class Count(NamedTuple):
    """Of one kind of message, so far."""

    calls: int = 0
    numbers: int = (
        0  # in the arrays that were summed or sent, in the results of gathers: what the algorithm's page declares
    )
    payload: int = 0  # the same in bytes
    messages: float = 0.0  # that this rank sends, by the model
    wire: float = 0.0  # bytes that this rank sends, by the model
    seconds: float = 0.0  # that this takes, by the model

    def plus(self, other: Count, sign: int = 1) -> Count:
        """Both; or, with sign −1, what there is beyond the other."""
        return Count(
            self.calls + sign * other.calls,
            self.numbers + sign * other.numbers,
            self.payload + sign * other.payload,
            self.messages + sign * other.messages,
            self.wire + sign * other.wire,
            self.seconds + sign * other.seconds,
        )


@final
@dataclass(frozen=True, eq=False)
class Metered:
    """A communicator that keeps a ledger, by kind of collective; those split from it write into the same one."""

    inner: Comm
    network: Network = field(default_factory=Network)
    ledger: dict[str, Count] = field(default_factory=dict)

    @property
    def rank(self) -> int:
        return self.inner.rank

    @property
    def size(self) -> int:
        return self.inner.size

    @property
    def total(self) -> Count:
        """Of all kinds together."""
        total = Count()
        for count in self.ledger.values():
            total = total.plus(count)
        return total

    def since(self, before: dict[str, Count]) -> dict[str, Count]:
        """What was added to a copy of the ledger that was made before."""
        added = {kind: now.plus(before.get(kind, Count()), -1) for kind, now in self.ledger.items()}
        return {kind: count for kind, count in added.items() if count.calls}

    def sum(self, A: NDArray[Any]) -> NDArray[Any]:
        self._note("sum", A.size, A.itemsize)
        return self.inner.sum(A)

    def gather(self, part: NDArray[Any], widths: Sequence[int]) -> NDArray[Any]:
        self._note("gather", math.prod(part.shape[:-1]) * sum(widths), part.itemsize)
        return self.inner.gather(part, widths)

    def sum_scatter(self, A: NDArray[Any], widths: Sequence[int]) -> NDArray[Any]:
        self._note("sum_scatter", A.size, A.itemsize)
        return self.inner.sum_scatter(A, widths)

    def broadcast(self, A: NDArray[Any], root: int = 0) -> NDArray[Any]:
        self._note("broadcast", A.size, A.itemsize)
        return self.inner.broadcast(A, root)

    def barrier(self) -> None:
        self._note("barrier", 0, 0)
        self.inner.barrier()

    def send(self, A: NDArray[Any], to: int, tag: int = 0) -> None:
        self._note("send", A.size, A.itemsize)
        self.inner.send(A, to, tag)

    def receive(self, source: int | None = None, tag: int | None = None) -> Received:
        return self.inner.receive(source, tag)

    def split(self, color: int, key: int = 0) -> Self:
        return type(self)(self.inner.split(color, key), self.network, self.ledger)

    def _note(self, kind: str, numbers: int, itemsize: int) -> None:
        """Write down what travels: among the ranks of one, nothing does."""
        if self.size == 1:
            return
        cost = getattr(self.network, kind)(numbers * itemsize, self.size)
        count = Count(1, numbers, numbers * itemsize, *cost)
        self.ledger[kind] = self.ledger.get(kind, Count()).plus(count)
