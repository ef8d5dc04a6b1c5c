"""Every party a rank: rank 0 is the server, rank p + 1 is party p. Real concurrency; letters go as bytes, never pickled.

Works over any communicator of `comm`. A rank that dies ends the job (`comm.one_fate`), so nobody is waited for in vain.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from partwise.drivers.letters import Letter, decode, encode
from partwise.drivers.seat import Seat
from partwise.errors import OptionError
from partwise.protocols import Comm

SERVER_RANK = 0


@final
@dataclass
class Ranks:
    """The server's end."""

    comm: Comm
    _waiting: int = 0

    def __post_init__(self) -> None:
        if self.comm.size < 2:
            raise OptionError(
                "Parties as ranks need a rank for the server and one for each party; start 1 + P of them."
            )

    @property
    def size(self) -> int:
        return self.comm.size - 1

    @property
    def now(self) -> float:
        return math.nan

    def post(self, letters: Sequence[Letter]) -> None:
        for letter in letters:
            self.comm.send(np.frombuffer(encode(letter), np.uint8), letter.party + 1)
            self._waiting += 1

    def next(self, seconds: float | None = None) -> Letter | None:
        if seconds is not None:
            raise OptionError(
                "Ranks cannot be given up after some seconds: a rank that dies ends the job. Leave out the time limit."
            )
        if not self._waiting:
            return None
        self._waiting -= 1
        came = self.comm.receive()
        letter = decode(came.array.tobytes())
        return letter._replace(party=came.source - 1)  # who it is from is what the communicator says

    def close(self) -> None:
        """Let the parties' ranks go; every server must, in the end."""
        for p in range(self.size):
            self.comm.send(np.frombuffer(encode(Letter("", "stop", 0, p, {})), np.uint8), p + 1)


def serve(comm: Comm, seat: Seat) -> None:
    """A party's rank: answer letters until there are no more."""
    while True:
        letter = decode(comm.receive(SERVER_RANK).array.tobytes())
        if letter.kind == "stop":
            return
        comm.send(np.frombuffer(encode(seat.answer(letter)), np.uint8), SERVER_RANK)
