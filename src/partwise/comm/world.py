"""The scheduler behind `simulated`: who runs next, who meets whom, and who is stuck."""

from __future__ import annotations

import heapq
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, final

from numpy.typing import NDArray

from partwise.comm.network import Network
from partwise.errors import RunError
from partwise.protocols import Received

Clock = Literal["none", "cpu"]  # does computing cost nothing, or the CPU time it took?
Name = tuple[Any, ...]
MOST_NAMED = 8  # ranks that a sentence names


class Call(NamedTuple):
    """What a rank calls in a collective; all ranks must call the same."""

    kind: str
    alike: tuple[Any, ...]
    size: int  # bytes, as the network counts them

    def __str__(self) -> str:
        return f"{self.kind}({', '.join(map(str, self.alike))})"


@dataclass
class Meeting:
    """A collective that not all have reached."""

    call: Call
    first: int  # who came first, by rank in the communicator
    arrays: dict[int, NDArray[Any]] = field(default_factory=dict)
    result: Any = None
    left: int = 0


class Letter(NamedTuple):
    """A message on its way; ordered by arrival, then by when it was sent."""

    arrival: float
    number: int
    name: Name
    message: Received


class Ended(BaseException):
    """Ends the thread of a rank because another one failed. Nobody but the world catches it."""


@final
class World:
    """All ranks of a simulation. Exactly one of them runs at any moment."""

    def __init__(self, ranks: int, network: Network, clock: Clock) -> None:
        self.network, self.clock = network, clock
        self.clocks = [0.0] * ranks
        self.failure: BaseException | None = None
        self._turn = [threading.Semaphore(0) for _ in range(ranks)]
        self._ready: list[tuple[float, int, int]] = []  # a heap of (when, rank, ticket)
        self._tickets = [0] * ranks  # only a rank's newest ticket lets it run
        self._waits: dict[int, Any] = {}  # rank → (name, call) of the collective, or (name, source, tag) it waits for
        self._alive = set(range(ranks))
        self._meetings: dict[tuple[Name, int], Meeting] = {}
        self._calls: dict[tuple[int, Name], int] = {}
        self._mail: dict[int, list[Letter]] = {}
        self._sent = 0
        self._since = [0.0] * ranks  # CPU time when the rank began to run

    def begin(self) -> None:
        """Let the first rank run."""
        for rank in range(len(self.clocks)):
            self._schedule(rank, 0.0)
        self._next()

    def live(self, rank: int, body: Callable[[], None]) -> None:
        """A rank's life: what its thread runs."""
        try:
            self._wait_for_turn(rank)
            body()
            self._charge(rank)
        except Ended:
            return
        except BaseException as error:
            error.add_note(f"This happened on the simulated rank {rank} of {len(self.clocks)}.")
            self._end_all(rank, error)
            return
        self._alive.discard(rank)
        self._next()

    def calls_of(self, rank: int, name: Name) -> int:
        """How many collectives this rank has called on a communicator."""
        return self._calls.get((rank, name), 0)

    def meet(
        self, members: tuple[int, ...], rank: int, name: Name, call: Call, array: NDArray[Any],
        finish: Callable[[list[NDArray[Any]]], NDArray[Any]],
    ) -> Any:  # fmt: skip
        """Wait for all members, and get what `finish` makes of their arrays."""
        me = members[rank]
        self._charge(me)
        number = self._calls[me, name] = self.calls_of(me, name) + 1
        meeting = self._meetings.setdefault((name, number), Meeting(call, rank))
        if meeting.call[:2] != call[:2]:
            raise RunError(f"Ranks called different collectives (call {number}{_of(name)}): rank {meeting.first} called "
                           f"{meeting.call}, rank {rank} called {call}.")  # fmt: skip
        meeting.arrays[rank] = array
        if len(meeting.arrays) < len(members):
            self._waits[me] = (name, call)
            self._rest(me)
        else:
            self._conclude(members, me, meeting, finish)
        result = meeting.result
        meeting.left += 1
        if meeting.left == len(members):
            del self._meetings[name, number]
        return result

    def _conclude(self, members: tuple[int, ...], me: int, meeting: Meeting, finish: Callable[..., Any]) -> None:
        """All are here: let their clocks agree, and everyone go on in turn."""
        meeting.result = finish([meeting.arrays[r] for r in range(len(members))])
        meeting.arrays.clear()
        cost = getattr(self.network, meeting.call.kind)(meeting.call.size, len(members))
        then = max(self.clocks[member] for member in members) + cost.seconds
        for member in members:
            self.clocks[member] = then
            self._waits.pop(member, None)
            self._schedule(member, then)
        self._rest(me)

    def post(self, me: int, to: int, name: Name, message: Received) -> None:
        """Send: the sender goes on after the latency."""
        self._charge(me)
        self._sent += 1
        arrival = self.clocks[me] + self.network.send(message.array.nbytes).seconds
        heapq.heappush(self._mail.setdefault(to, []), Letter(arrival, self._sent, name, message))
        self.clocks[me] += self.network.latency
        if to in self._waits and (letter := self._letter(to)) is not None:
            self._schedule(to, max(self.clocks[to], letter.arrival))

    def collect(self, me: int, name: Name, source: int | None, tag: int | None) -> Received:
        """Receive: the message that arrives first among those asked for."""
        self._charge(me)
        self._waits[me] = (name, source, tag)
        if (letter := self._letter(me)) is not None:
            self._schedule(me, max(self.clocks[me], letter.arrival))
        self._rest(me)
        letter = self._letter(me)
        assert letter is not None
        del self._waits[me]
        self._mail[me].remove(letter)
        self.clocks[me] = max(self.clocks[me], letter.arrival)
        return letter.message

    def _letter(self, rank: int) -> Letter | None:
        """The first letter that a waiting rank would take."""
        wanted = self._waits[rank]
        if len(wanted) != 3:
            return None
        name, source, tag = wanted
        fitting = (
            letter for letter in self._mail.get(rank, ())
            if letter.name == name and source in (None, letter.message.source) and tag in (None, letter.message.tag)
        )  # fmt: skip
        return min(fitting, default=None, key=lambda letter: letter[:2])

    def _rest(self, rank: int) -> None:
        """Give the turn away until it comes back."""
        self._next()
        self._wait_for_turn(rank)

    def _wait_for_turn(self, rank: int) -> None:
        self._turn[rank].acquire()
        if self.failure is not None:
            raise Ended
        self._since[rank] = time.thread_time()

    def _charge(self, rank: int) -> None:
        """Let the clock show what was computed since the rank's turn began."""
        if self.clock == "cpu":
            now = time.thread_time()
            self.clocks[rank] += now - self._since[rank]
            self._since[rank] = now

    def _schedule(self, rank: int, when: float) -> None:
        """Let a rank run when its time comes, instead of when it was scheduled before."""
        self._tickets[rank] += 1
        heapq.heappush(self._ready, (when, rank, self._tickets[rank]))

    def _next(self) -> None:
        """Give the turn to the rank whose clock is behind all others'."""
        while self._ready:
            _, rank, ticket = heapq.heappop(self._ready)
            if ticket == self._tickets[rank]:
                self._turn[rank].release()
                return
        if self._alive:
            self._end_all(-1, RunError(self._stuck()))

    def _end_all(self, culprit: int, error: BaseException) -> None:
        """Wake every rank, to end."""
        if self.failure is None:
            self.failure = error
        for rank in self._alive - {culprit}:
            self._turn[rank].release()

    def _stuck(self) -> str:
        """Who waits for what, and who is gone."""
        waiting = sorted(self._waits.items())
        said = [f"rank {rank} waits in {_wanted(wanted)}" for rank, wanted in waiting[:MOST_NAMED]]
        more = f"; so do {len(waiting) - MOST_NAMED} more" if len(waiting) > MOST_NAMED else ""
        gone = [str(rank) for rank in range(len(self.clocks)) if rank not in self._alive]
        ended = f"; ended: rank {', '.join(gone[:MOST_NAMED])}" if gone else ""
        return f"The ranks wait for one another for ever: {'; '.join(said)}{more}{ended}."


def _wanted(wanted: Any) -> str:
    if len(wanted) == 2:
        return f"{wanted[1]}{_of(wanted[0])}"
    name, source, tag = wanted
    return f"receive from {'any rank' if source is None else f'rank {source}'}, tag {'any' if tag is None else tag}{_of(name)}"


def _of(name: Name) -> str:
    return f" of the group {'/'.join(str(color) for _, color in name)}" if name else ""
