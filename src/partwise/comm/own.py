"""One process alone: every collective gives back what went in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Self, final

import numpy as np
from numpy.typing import NDArray

from partwise.errors import RunError
from partwise.protocols import Received


@final
@dataclass(frozen=True, eq=False)
class Own:
    """The communicator of a run without other ranks."""

    _mail: list[Received] = field(default_factory=list)

    @property
    def rank(self) -> int:
        return 0

    @property
    def size(self) -> int:
        return 1

    def sum(self, A: NDArray[Any]) -> NDArray[Any]:
        return A

    def gather(self, part: NDArray[Any], widths: Sequence[int]) -> NDArray[Any]:
        return part

    def sum_scatter(self, A: NDArray[Any], widths: Sequence[int]) -> NDArray[Any]:
        return A

    def broadcast(self, A: NDArray[Any], root: int = 0) -> NDArray[Any]:
        return A

    def barrier(self) -> None:
        """Nobody to wait for."""

    def send(self, A: NDArray[Any], to: int, tag: int = 0) -> None:
        if to != 0:
            raise RunError(f"There is no rank {to}: this run has one process, rank 0.")
        self._mail.append(Received(np.array(A), 0, tag))

    def receive(self, source: int | None = None, tag: int | None = None) -> Received:
        for place, message in enumerate(self._mail):
            if tag in (None, message.tag) and source in (None, 0):
                return self._mail.pop(place)
        raise RunError("Rank 0 waits for a message that nobody can send: this run has one process.")

    def split(self, color: int, key: int = 0) -> Self:
        return self


OWN = Own()
