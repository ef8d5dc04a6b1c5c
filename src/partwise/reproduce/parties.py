"""Studies between simulated parties, and the time that they would take side by side.

Who answers first is settled by the clock of the simulation, where a round takes as long as a party has rows, so that it does not
depend on the machine. Seconds are processor time as measured, party by party: of the slowest in each exchange where all wait for all,
the parties' mean where nobody waits; the server's time comes on top, and the network's, by messages and bytes.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, final

import numpy as np

from partwise.comm.network import Network
from partwise.compare.clock import pinned
from partwise.currency import Array, Arrays
from partwise.data import Entries, as_matrix
from partwise.data.partition import partition
from partwise.drivers.letters import Letter
from partwise.drivers.rounds import RoundPoint
from partwise.drivers.seat import Seat
from partwise.drivers.transports.clocked import Clocked, Speeds
from partwise.estimators.federate import Federation, federate
from partwise.estimators.study_wishes import Wishes
from partwise.protocols import Transport
from partwise.reproduce.experiment import Row

NETWORK = Network(latency=50e-6, bandwidth=125e6)  # Gigabit Ethernet, as between organisations or in a small cluster
Told = Callable[
    [Arrays, Sequence[Arrays]], Mapping[str, float]
]  # (public, each party's private) → what else a row should say
Saying = Callable[[Arrays, int, int], Arrays]  # (what party p would say in round t, t, p) → what it says


@final
@dataclass
class Timed:
    """A seat whose rounds are timed."""

    seat: Seat
    saying: Saying | None = None
    rounds: float = 0.0  # seconds
    answers: int = 0
    rest: float = 0.0  # of measuring and finishing, which belong to nobody's time

    @property
    def X(self) -> Any:
        return self.seat.X

    def answer(self, letter: Letter) -> Letter:
        """As the seat answers."""
        began = time.process_time()
        try:
            answer = self.seat.answer(letter)
            if self.saying is None or answer.kind != "round":
                return answer
            return answer._replace(arrays=self.saying(answer.arrays, answer.t, answer.party))
        finally:
            spent = time.process_time() - began
            if letter.kind == "round":
                self.rounds += spent
                self.answers += 1
            else:
                self.rest += spent


@final
@dataclass
class Watch:
    """The rows of one study, as its rounds end."""

    exchanges: int = 1
    asynchronous: bool = False
    told: Told | None = None
    saying: Saying | None = None
    rows: list[Row] = field(default_factory=list)
    seats: list[Timed] = field(default_factory=list)
    began: float = 0.0
    bytes: int = 0
    up: int = 0

    def carried(self, seats: Sequence[Seat]) -> Transport:
        """The transport, watched."""
        self.seats = [Timed(seat, self.saying) for seat in seats]
        self.began = time.process_time()
        return Clocked(self.seats, Speeds.named("equal", len(seats)))  # type: ignore[arg-type]

    def __call__(self, public: Arrays, point: RoundPoint) -> None:
        """A round ended."""
        began = time.process_time()
        self.bytes += point.bytes_up + point.bytes_down
        self.up += point.bytes_up
        begun = point.t > 0
        more = (
            self.told(public, [seat.seat.private() for seat in self.seats]) if self.told is not None and begun else {}
        )
        talking, messages = self.talking(point.t)
        computing, server = self.computing(point.t, began)
        row: Row = {
            "t": point.t, "seconds": computing + server + talking, "server": server, "talking": talking, "messages": messages,
            "bytes": self.bytes, "up": self.up, "error": point.error, "drift": point.drift,
        }  # fmt: skip
        if begun:
            self.rows.append(row | dict(more))
        self.began += time.process_time() - began

    def computing(self, t: int, now: float) -> tuple[float, float]:
        """Seconds of the parties side by side, waiting for the slowest unless nobody waits; and of the server."""
        spent = [seat.rounds for seat in self.seats]
        rest = sum(seat.rest for seat in self.seats)
        slowest = max(seat.rounds / max(seat.answers, 1) for seat in self.seats)
        parties = float(np.mean(spent)) if self.asynchronous else slowest * t * self.exchanges
        return parties, now - self.began - sum(spent) - rest

    def talking(self, t: int) -> tuple[float, int]:
        """(seconds, messages) of letters both ways, one party's being like the others'."""
        answers = sum(seat.answers for seat in self.seats)
        messages = 2 * t * self.exchanges
        return messages * NETWORK.send(int(self.bytes / max(2 * answers, 1))).seconds, messages


_warm: set[str] = set()


def study(
    Xs: Sequence[Any], wishes: Wishes, told: Told | None = None, saying: Saying | None = None
) -> tuple[list[Row], Federation]:
    """(a row for each round, what came out) of a study on one thread; `saying` alters what parties say in a round."""
    entered = [X if isinstance(X, Entries) else as_matrix(X) for X in Xs]
    chosen = wishes.round_method((entered[0].shape[1], [X.shape[0] for X in entered]), entered[0].dtype)
    watch = Watch(chosen.exchanges, chosen.asynchronous, told, saying)
    with pinned(1):
        if wishes.method not in _warm:
            federate(entered[:2], replace(wishes, rounds=1))  # loads and compiles what is needed, outside the clock
            _warm.add(wishes.method)
        found = federate(entered, wishes, observers=[watch], carried=watch.carried)
    return watch.rows, found


def shared(X: Any, parties: int, kind: str = "iid", *, labels: Any = None, seed: int = 0) -> list[Any]:
    """X (n, m) cut into the parties' rows."""
    return [X[rows] for rows in partition(X.shape[0], parties, kind, labels=labels, seed=seed)]


def pooled(X: Any, k: int, seed: int, iterations: int = 200) -> tuple[Array, float]:
    """(H, relative error) of the fit to everybody's data in one place."""
    from partwise.estimators.factorize import factorize

    with pinned(1):
        fit = factorize(X, k, seed=seed, max_iter=iterations, tol=1e-6)
    return fit.H, fit.relative_error


def rmsd_of(X: Any, error: float) -> float:
    """Root mean square deviation over all entries, given the relative error."""
    norm = np.sqrt(np.vdot(X.data, X.data)) if hasattr(X, "indptr") else np.linalg.norm(X)
    return float(error * norm / np.sqrt(X.shape[0] * X.shape[1]))
