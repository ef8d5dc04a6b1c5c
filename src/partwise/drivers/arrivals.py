"""The loop without a barrier: the server folds each reply as it comes, and sends that party on at once.

As many replies are folded as `rounds` synchronous rounds would have. A point of the history stands for P replies.
"""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import final

from partwise.currency import Arrays, Reply
from partwise.drivers.correspondence import Correspondence
from partwise.drivers.letters import Letter
from partwise.drivers.rounds import RoundPoint, RoundsOutcome, Terms, drift, finish, measured
from partwise.drivers.vault import Kept
from partwise.errors import OptionError, RunError
from partwise.protocols import Round

TRIES = 10  # letters in a row that a party may leave unanswered, or answer badly, before it is given up

Observer = Callable[[Arrays, RoundPoint], None]


def run_arrivals(
    method: Round, mail: Correspondence, terms: Terms, observers: Sequence[Observer] = ()
) -> RoundsOutcome:
    """From the opening, or from where the server's vault left off, until all replies are folded; then every party finishes."""
    if not method.asynchronous:
        raise OptionError("This method waits for all parties in each round: it cannot fold replies as they come.")
    loop = Loop.resumed(method, mail, terms)
    loop.send(range(mail.transport.size))
    while loop.folded < terms.rounds * mail.transport.size:
        came = mail.arrived(lambda letter: method.declare(letter.t, letter.party).up)
        if came is None:
            loop.send(loop.silent())
            continue
        letter, arrays = came
        if arrays is None:
            loop.failed(letter.party)
        else:
            loop.fold(Reply((letter.party,), arrays))
            if loop.folded % mail.transport.size == 0:
                loop.note(observers)
        loop.send([letter.party])
    finish(method, loop.public, terms.rounds + 1, mail)
    return RoundsOutcome(loop.public, loop.history, f"The replies of {terms.rounds} rounds are folded.")


@final
@dataclass
class Loop:
    """Where the loop stands. Each party counts its own rounds; the server counts replies."""

    method: Round
    mail: Correspondence
    terms: Terms
    public: Arrays
    history: list[RoundPoint]
    counts: dict[int, int]  # {party: the round that it was last asked for}
    folded: int
    began: float
    failures: Counter[int] = field(default_factory=Counter)
    heard: set[int] = field(default_factory=set)  # since the last point of the history, like the following
    drifts: list[float] = field(default_factory=list)
    spent: tuple[int, int] = (0, 0)

    @classmethod
    def resumed(cls, method: Round, mail: Correspondence, terms: Terms) -> Loop:
        """The beginning, or what the server's vault has."""
        kept = None if terms.vault is None else terms.vault.kept()
        if kept is None:
            return cls(method, mail, terms, method.opening(), [], {}, 0, time.perf_counter())
        history = [RoundPoint(*point) for point in kept.facts["history"]]
        ahead = mail.transport.size + 1  # a party may have been asked so often since
        counts = {int(p): count + ahead for p, count in kept.facts["counts"].items()}
        folded = history[-1].t * mail.transport.size
        began = time.perf_counter() - history[-1].seconds
        return cls(method, mail, terms, kept.groups["public"], history, counts, folded, began)

    def send(self, parties: Iterable[int]) -> None:
        """Send parties on from what the server knows now, but those that were given up."""
        for p in parties:
            if self.failures[p] < TRIES and self.folded < self.terms.rounds * self.mail.transport.size:
                t = self.counts[p] = self.counts.get(p, 0) + 1
                self.mail.expect(Letter(self.mail.study, "round", t, p, self.method.down(self.public, t, p)))

    def silent(self) -> list[int]:
        """The parties that nothing came from; each is noted."""
        gone = sorted(self.mail.outstanding)
        for p in gone:
            self.mail.fault(self.counts[p], p, f"did not answer to 'round' of round {self.counts[p]}.")
            self.failed(p)
        self.mail.outstanding.clear()
        return gone

    def failed(self, p: int) -> None:
        """Party p could not, or would not."""
        self.failures[p] += 1
        left = sum(self.failures[q] < TRIES for q in range(self.mail.transport.size))
        if left < self.terms.least:
            raise RunError(
                f"{left} parties are left and {self.terms.least} needed, after {self.folded} replies. {self.mail.told()} What was "
                "kept lets the study go on."
            )

    def fold(self, reply: Reply) -> None:
        """Let the server move."""
        p = reply.parties[0]
        self.failures[p] = 0
        self.public = self.method.server(self.public, [reply], self.folded)
        self.folded += 1
        self.heard.add(p)
        self.drifts.append(drift([reply], self.public))

    def note(self, observers: Sequence[Observer]) -> None:
        """A point of the history; what the server knows is kept."""
        transcript, t = self.mail.transcript, self.folded // self.mail.transport.size
        known = transcript.bytes_up, transcript.bytes_down
        seconds, clock = time.perf_counter() - self.began, self.mail.transport.now
        due = self.terms.measure_every and (t % self.terms.measure_every == 0 or t == self.terms.rounds)
        error = measured(self.method, self.public, -t, self.mail) if due else math.nan
        apart = math.sqrt(sum(d * d for d in self.drifts) / len(self.drifts))
        up, down = known[0] - self.spent[0], known[1] - self.spent[1]
        self.history.append(RoundPoint(t, error, apart, len(self.heard), up, down, seconds, clock))
        self.heard, self.drifts, self.spent = set(), [], (transcript.bytes_up, transcript.bytes_down)
        if self.terms.vault is not None:
            facts = {"history": [list(point) for point in self.history], "counts": self.counts}
            self.terms.vault.keep(Kept(t, {"public": self.public}, facts))
        for observe in observers:
            observe(self.public, self.history[-1])
        self.began = time.perf_counter() - seconds
