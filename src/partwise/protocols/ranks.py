"""The ranks that work together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol, Self

from numpy.typing import NDArray


class Received(NamedTuple):
    """A message that came from another rank."""

    array: NDArray[Any]
    source: int
    tag: int


class Comm(Protocol):
    """The ranks that work together, as one of them sees it. All must call the same collectives in the same order.

    Arrays go in and new arrays come out, as buffers: nothing is ever pickled. Shapes and dtypes are the same on all ranks, but for
    the last axis of what is gathered.
    """

    @property
    def rank(self) -> int: ...

    @property
    def size(self) -> int: ...

    def sum(self, A: NDArray[Any]) -> NDArray[Any]:
        """All-reduce: the sum over the ranks, the same bits on each of them."""
        ...

    def gather(self, part: NDArray[Any], widths: Sequence[int]) -> NDArray[Any]:
        """All-gather: the parts (…, widths[p]) of all ranks side by side along the last axis, in the order of ranks."""
        ...

    def sum_scatter(self, A: NDArray[Any], widths: Sequence[int]) -> NDArray[Any]:
        """Reduce-scatter: of the sum over the ranks (…, Σ widths), this rank's share (…, widths[rank])."""
        ...

    def broadcast(self, A: NDArray[Any], root: int = 0) -> NDArray[Any]:
        """What the root has; on the other ranks A only says shape and dtype."""
        ...

    def barrier(self) -> None:
        """Wait until all ranks are here."""
        ...

    def send(self, A: NDArray[Any], to: int, tag: int = 0) -> None:
        """Send an array to one rank; returns before it has been received, and A may be changed at once."""
        ...

    def receive(self, source: int | None = None, tag: int | None = None) -> Received:
        """Wait for a message of this source and tag; None: of any."""
        ...

    def split(self, color: int, key: int = 0) -> Self:
        """The ranks of one color, in the order of their keys, then of their ranks here. A collective call."""
        ...
