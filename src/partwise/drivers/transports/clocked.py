"""Parties that take their time, by a clock that is not on the wall: who answers first is the same in every run.

A round takes party p  (its rows / the mean of rows) / (its speed)  units of time, and up to `jitter` of that more.
"""

from __future__ import annotations

import heapq
from collections import Counter, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import final

import numpy as np

from partwise.drivers.letters import Letter
from partwise.drivers.seat import Seat
from partwise.errors import OptionError
from partwise.randomness import Purpose, generator

AWAY = "it was away, and has come back."


@final
@dataclass(frozen=True)
class Speeds:
    """How fast each party is, and how steady."""

    speeds: tuple[float, ...]
    jitter: float = 0.0
    by_rows: bool = True  # a party with more rows takes longer
    seed: int = 0

    @classmethod
    def named(cls, name: str, parties: int, seed: int = 0, jitter: float = 0.0) -> Speeds:
        """`equal`, or `uniform:1..10`: drawn from the seed."""
        if name == "equal":
            return cls((1.0,) * parties, jitter, seed=seed)
        try:
            kind, span = name.split(":")
            low, high = map(float, span.split(".."))
        except ValueError:
            kind, low, high = "", 0.0, 0.0
        if kind != "uniform" or not 0 < low <= high < float("inf"):
            raise OptionError(
                f"speeds={name!r} is not known; expected 'equal', or 'uniform:LOW..HIGH' such as 'uniform:1..10'."
            )
        drawn = generator(seed, Purpose.ARRIVALS).uniform(low, high, parties)
        return cls(tuple(map(float, drawn)), jitter, seed=seed)

    def seconds(self, p: int, count: int, share: float) -> float:
        """How long party p takes for its count-th answer, having `share` times the mean number of rows."""
        late = generator(self.seed, Purpose.ARRIVALS, count, 1 + p).random() if self.jitter else 0.0
        return (share if self.by_rows else 1.0) / self.speeds[p] * (1 + self.jitter * late)


@final
@dataclass
class Clocked:
    """In one process; `now` is the time of the answer that came last.

    A party that is away in a round (`lost`) comes back at the end of it without having done anything: nobody waits for others in whose
    silence it would be noticed.
    """

    seats: Sequence[Seat]
    speeds: Speeds
    now: float = 0.0
    lost: Callable[[Letter], bool] = field(default=lambda letter: False)
    _coming: list[tuple[float, int, int, Letter]] = field(default_factory=list)
    _at_once: deque[Letter] = field(default_factory=deque)  # measuring takes no time
    _counts: Counter[int] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        if len(self.speeds.speeds) != len(self.seats):
            raise OptionError(f"There are {len(self.speeds.speeds)} speeds for {len(self.seats)} parties.")

    @property
    def size(self) -> int:
        return len(self.seats)

    def post(self, letters: Sequence[Letter]) -> None:
        mean = np.mean([seat.X.shape[0] for seat in self.seats])
        for letter in letters:
            if letter.kind != "round":
                self._at_once.append(letter)
                continue
            p = letter.party
            took = self.speeds.seconds(p, self._counts[p], float(self.seats[p].X.shape[0] / mean))
            self._counts[p] += 1
            heapq.heappush(self._coming, (self.now + took, p, self._counts[p], letter))

    def next(self, seconds: float | None = None) -> Letter | None:
        """`seconds` are of this clock."""
        if self._at_once:
            letter = self._at_once.popleft()
            return self.seats[letter.party].answer(letter)
        if not self._coming or (seconds is not None and self._coming[0][0] > self.now + seconds):
            return None
        self.now, p, _, letter = heapq.heappop(self._coming)
        return (
            letter._replace(kind="failed", arrays={}, word=AWAY) if self.lost(letter) else self.seats[p].answer(letter)
        )
