"""P ranks in one process, for tests, plans and teaching: deterministic, with a clock, and with a word to say when ranks get stuck.

One rank runs at a time: always the one whose virtual clock is behind all others' (then the lowest rank). Messages cost what the
`Network` says; computing costs nothing, or the thread's CPU time, or what the program says by `advance`.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Sequence
from contextvars import copy_context
from dataclasses import dataclass
from functools import partial, reduce
from typing import Any, Generic, Literal, NamedTuple, Self, TypeVar, final

import numpy as np
from numpy.typing import NDArray

from partwise.comm.network import Network
from partwise.comm.widths import check_part, check_whole, shares
from partwise.comm.world import Call, Clock, World
from partwise.errors import RunError
from partwise.kernels.threads import threads
from partwise.protocols import Received

Result = TypeVar("Result")
STACK = 4 << 20  # bytes of address space for each thread: of memory they take what they use
_stack_lock = threading.Lock()


class Simulation(NamedTuple, Generic[Result]):
    """What every rank's program returned, and what its clock showed then."""

    results: list[Result]
    seconds: list[float]


def simulate(
    program: Callable[[Simulated], Result], ranks: int, network: Network | None = None, clock: Clock = "none"
) -> Simulation[Result]:
    """Run program(comm) on so many ranks. What a rank raises is raised here, with a note that says which rank it was."""
    world = World(ranks, network or Network(), clock)
    results: list[Any] = [None] * ranks

    def body(rank: int) -> None:
        results[rank] = program(Simulated(world, tuple(range(ranks)), rank, ()))

    with threads(1):  # of BLAS and the kernels: the setting is the process's, so no rank may change it while others run
        lives = [_thread(world.live, rank, partial(body, rank)) for rank in range(ranks)]
        world.begin()
        for life in lives:
            life.join()
    if world.failure is not None:
        raise world.failure
    return Simulation(results, world.clocks)


def _thread(live: Callable[[int, Callable[[], None]], None], rank: int, body: Callable[[], None]) -> threading.Thread:
    """A started thread, in the context of the caller."""
    with _stack_lock:
        before = threading.stack_size(STACK)
        try:
            life = threading.Thread(
                target=copy_context().run, args=(live, rank, body), name=f"rank {rank}", daemon=True
            )
            life.start()
        finally:
            threading.stack_size(before)
    return life


@final
@dataclass(frozen=True, eq=False)
class Simulated:
    """One rank's view of some of the ranks of a simulated world."""

    world: World
    members: tuple[int, ...]  # their ranks in the world
    rank: int
    name: tuple[Any, ...]  # of this communicator: the world is (); those split from it say how

    @property
    def size(self) -> int:
        return len(self.members)

    @property
    def now(self) -> float:
        """What this rank's clock shows, in seconds."""
        return self.world.clocks[self.members[self.rank]]

    def advance(self, seconds: float) -> None:
        """Let time pass for this rank, as if it had computed."""
        self.world.clocks[self.members[self.rank]] += seconds

    def sum(self, A: NDArray[Any]) -> NDArray[Any]:
        total = self._together("sum", A, A.nbytes, (A.shape, A.dtype.str), _sum)
        return total.copy()

    def gather(self, part: NDArray[Any], widths: Sequence[int]) -> NDArray[Any]:
        check_part(part, widths, self.rank, self.size)
        size = math.prod(part.shape[:-1]) * sum(widths) * part.itemsize
        alike = (part.shape[:-1], part.dtype.str, tuple(widths))
        return self._together("gather", part, size, alike, lambda parts: np.concatenate(parts, axis=-1)).copy()

    def sum_scatter(self, A: NDArray[Any], widths: Sequence[int]) -> NDArray[Any]:
        check_whole(A, widths, self.size)
        total = self._together("sum_scatter", A, A.nbytes, (A.shape, A.dtype.str, tuple(widths)), _sum)
        return total[..., shares(widths)[self.rank]].copy()

    def broadcast(self, A: NDArray[Any], root: int = 0) -> NDArray[Any]:
        return self._together(
            "broadcast", A, A.nbytes, (A.shape, A.dtype.str, root), lambda arrays: arrays[root]
        ).copy()

    def barrier(self) -> None:
        self._together("barrier", np.empty(0), 0, (), lambda arrays: arrays[0])

    def send(self, A: NDArray[Any], to: int, tag: int = 0) -> None:
        if not 0 <= to < self.size:
            raise RunError(f"Rank {self.rank} sends to rank {to}, but there are {self.size} ranks.")
        message = Received(np.array(A, order="C"), self.rank, tag)
        self.world.post(self.members[self.rank], self.members[to], self.name, message)

    def receive(self, source: int | None = None, tag: int | None = None) -> Received:
        return self.world.collect(self.members[self.rank], self.name, source, tag)

    def split(self, color: int, key: int = 0) -> Self:
        mine = np.array([[color], [key]])
        colors, keys = self.gather(mine, [1] * self.size)
        chosen = sorted((int(keys[r]), r) for r in range(self.size) if colors[r] == color)
        calls = self.world.calls_of(self.members[self.rank], self.name)
        members = tuple(self.members[r] for _, r in chosen)
        rank = [r for _, r in chosen].index(self.rank)
        return type(self)(self.world, members, rank, (*self.name, (calls, color)))

    def _together(
        self, kind: Literal["sum", "gather", "sum_scatter", "broadcast", "barrier"], A: NDArray[Any], size: int,
        alike: tuple[Any, ...], finish: Callable[[list[NDArray[Any]]], NDArray[Any]],
    ) -> NDArray[Any]:  # fmt: skip
        """A collective: what `finish` makes of everyone's arrays; `alike` must be the same on all ranks."""
        call = Call(kind, alike, size)
        return self.world.meet(self.members, self.rank, self.name, call, A, finish)


def _sum(arrays: list[NDArray[Any]]) -> NDArray[Any]:
    """In the order of ranks, so that sums are the same bits every time."""
    return reduce(np.add, arrays)
