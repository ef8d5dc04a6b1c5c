"""Simulated trouble on any transport: parties that vanish for a round, at its beginning or half way."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import final

from partwise.drivers.letters import Letter
from partwise.errors import OptionError
from partwise.protocols import Transport
from partwise.randomness import Purpose, generator

SAID = ("round", "masked", "encrypted")  # kinds that end the first half of a round
AFTER = ("seeds", "shares", "opened")  # and those of the second
FAR = 2**32  # apart from the numbers that speeds are drawn with


@final
@dataclass(frozen=True)
class Dropouts:
    """In each round each party vanishes with probability `rate`: before it has said anything or, of a secure sum, right after."""

    rate: float
    seed: int = 0

    def __post_init__(self) -> None:
        if not 0 <= self.rate < 1:
            raise OptionError(f"dropout={self.rate!r}; expected a probability in [0, 1).")

    def __call__(self, letter: Letter) -> bool:
        """Whether this letter to a party is never answered."""
        if letter.kind not in (*SAID, *AFTER):
            return False
        vanishes, when = generator(self.seed, Purpose.ARRIVALS, letter.t, FAR + letter.party).random(2)
        in_this_half = letter.kind == "round" or (letter.kind in AFTER) or when < 0.5
        return bool(vanishes < self.rate and in_this_half)


@final
@dataclass
class Unreliable:
    """A transport on which some letters are lost."""

    transport: Transport
    lost: Callable[[Letter], bool]
    losses: list[Letter] = field(default_factory=list)

    @property
    def size(self) -> int:
        return self.transport.size

    @property
    def now(self) -> float:
        return self.transport.now

    def post(self, letters: Sequence[Letter]) -> None:
        going = []
        for letter in letters:
            (self.losses if self.lost(letter) else going).append(letter)
        self.transport.post(going)

    def next(self, seconds: float | None = None) -> Letter | None:
        return self.transport.next(seconds)
