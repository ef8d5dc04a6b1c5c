"""Who masks with whom: everyone with everyone, or on a ring in random order with the nearest (Bell et al. 2020)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import final

import numpy as np

from partwise.errors import OptionError
from partwise.randomness import Purpose, generator

ALL = 100  # parties up to which everyone masks with everyone


@final
@dataclass(frozen=True)
class Ring:
    """P parties on a ring, each a neighbour of the degree/2 before and after it; all of them if degree ≥ P − 1.

    `threshold` of a party and its neighbours can open the party's own mask. Default: more than half of them. No party helps to open
    a sum of less than `fewest`: so many may be needed to make the noise.
    """

    parties: int
    degree: int | None = None
    threshold: int | None = None
    seed: int = 0
    fewest: int = 3

    def __post_init__(self) -> None:
        if self.parties < 3:
            raise OptionError(f"A secure sum needs 3 parties at least and has {self.parties}: of the sum of two each would know the "
                              "other's part. Sum in the open, or find another party.")  # fmt: skip
        if self.degree is not None and (self.degree < 2 or self.degree % 2):
            raise OptionError(f"degree={self.degree!r}; expected an even number ≥ 2 of neighbours.")
        if not self.holders // 2 < self.least <= self.holders:
            raise OptionError(
                f"threshold={self.threshold!r}; expected more than half of the {self.holders} parties that hold shares (else two "
                "halves could open two different sums), and not more than all."
            )

    @property
    def width(self) -> int:
        """How many neighbours each party has."""
        wanted = self.degree or (self.parties - 1 if self.parties <= ALL else ALL)
        return min(wanted, self.parties - 1)

    @property
    def holders(self) -> int:
        """How many parties hold a share of a party's mask: its neighbours and itself."""
        return self.width + 1

    @property
    def least(self) -> int:
        """The threshold."""
        return self.holders // 2 + 1 if self.threshold is None else self.threshold

    def neighbours(self, p: int) -> list[int]:
        """The neighbours of party p, ascending; p is a neighbour of each of them."""
        if self.width == self.parties - 1:
            return [q for q in range(self.parties) if q != p]
        place = self._places[p]
        steps = range(1, self.width // 2 + 1)
        return sorted(int(self._order[(place + s * side) % self.parties]) for s in steps for side in (-1, 1))

    def joined(self, members: Sequence[int]) -> bool:
        """Whether the members hang together: else the server would learn the sum of each piece.

        They fall apart where two stretches of the ring, each longer than anyone reaches, are without members.
        """
        if self.width == self.parties - 1:
            return True
        places = np.sort(self._places[list(members)])
        gaps = np.diff(places, append=places[0] + self.parties)
        return int((gaps > self.width // 2).sum()) <= 1

    @cached_property
    def _order(self) -> np.ndarray:
        return generator(self.seed, Purpose.MASKING).permutation(self.parties)

    @cached_property
    def _places(self) -> np.ndarray:
        return np.argsort(self._order)
