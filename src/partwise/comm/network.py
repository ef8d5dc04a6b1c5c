"""What a message costs: α seconds of latency and β seconds a byte, with the best known algorithm for each collective.

All-reduce by recursive doubling (short) or reduce-scatter and all-gather (long), the others by recursive halving and doubling
(Thakur, Rabenseifner & Gropp 2005; Chan, Heimlich, Purkayastha & van de Geijn 2007). Ranks need not be a power of two: ⌈log₂ P⌉ rounds.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce
from typing import NamedTuple, final

from partwise.currency import Message


class Cost(NamedTuple):
    """Of one collective, for the rank that has most to do."""

    messages: float  # that this rank sends, one after another
    bytes: float  # that this rank sends
    seconds: float

    def plus(self, other: Cost) -> Cost:
        """Both, one after the other."""
        return Cost(*(mine + theirs for mine, theirs in zip(self, other, strict=True)))

    def times(self, number: float) -> Cost:
        """So many of them, one after another."""
        return Cost(*(number * part for part in self))


NOTHING = Cost(0, 0, 0.0)


@final
@dataclass(frozen=True)
class Network:
    """A network where all ranks are equally far from one another."""

    latency: float = 2e-6  # seconds before a message's first byte arrives
    bandwidth: float = 12.5e9  # bytes a second out of each rank: 100 Gb/s

    def sum(self, size: int, ranks: int) -> Cost:
        """All-reduce of `size` bytes: the cheaper of both algorithms."""
        rounds, share = _rounds(ranks)
        short = self._cost(rounds, rounds * size)
        return min(short, self._cost(2 * rounds, 2 * share * size), key=lambda cost: cost.seconds)

    def gather(self, size: int, ranks: int) -> Cost:
        """All-gather with a result of `size` bytes; also reduce-scatter of as many."""
        rounds, share = _rounds(ranks)
        return self._cost(rounds, share * size)

    def sum_scatter(self, size: int, ranks: int) -> Cost:
        """Reduce-scatter of `size` bytes on each rank."""
        return self.gather(size, ranks)

    def broadcast(self, size: int, ranks: int) -> Cost:
        """By a tree, or by scattering and gathering."""
        rounds, share = _rounds(ranks)
        tree = self._cost(rounds, rounds * size)
        return min(tree, self._cost(rounds + ranks - 1, 2 * share * size), key=lambda cost: cost.seconds)

    def barrier(self, size: int, ranks: int) -> Cost:
        """Nothing travels but the news."""
        return self._cost(_rounds(ranks)[0], 0)

    def send(self, size: int, ranks: int = 2) -> Cost:
        """One message."""
        return self._cost(1, size)

    def of(self, messages: Iterable[Message], itemsize: int) -> Cost:
        """All that a method declares, one after another; `itemsize`: bytes of a number of the data's dtype."""
        costs = (getattr(self, m.kind)(m.numbers * (8 if m.wide else itemsize), m.ranks) for m in messages)
        return reduce(Cost.plus, costs, NOTHING)

    def _cost(self, messages: float, size: float) -> Cost:
        return Cost(messages, size, messages * self.latency + size / self.bandwidth)


def _rounds(ranks: int) -> tuple[int, float]:
    """⌈log₂ P⌉, and the part of a vector that is not this rank's own."""
    return math.ceil(math.log2(ranks)) if ranks > 1 else 0, (ranks - 1) / ranks
