"""All parties in one process: turn by turn, or as many at a time as there are threads; results are the same."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import final

from partwise.drivers.letters import Letter
from partwise.drivers.seat import Seat
from partwise.kernels.threads import side_by_side


@final
@dataclass
class InProcess:
    """Answers come in the order in which letters were posted."""

    seats: Sequence[Seat]
    threads: bool = False
    _posted: deque[Letter] = field(default_factory=deque)
    _answers: deque[Letter] = field(default_factory=deque)

    @property
    def size(self) -> int:
        return len(self.seats)

    @property
    def now(self) -> float:
        return math.nan

    def post(self, letters: Sequence[Letter]) -> None:
        self._posted.extend(letters)

    def next(self, seconds: float | None = None) -> Letter | None:
        if not self._answers and self.threads:
            letters = list(self._posted)
            self._posted.clear()
            self._answers.extend(side_by_side(self._answer, letters))
        elif not self._answers and self._posted:
            self._answers.append(self._answer(self._posted.popleft()))
        return self._answers.popleft() if self._answers else None

    def _answer(self, letter: Letter) -> Letter:
        return self.seats[letter.party].answer(letter)
