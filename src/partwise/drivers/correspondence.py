"""The server's desk: asks parties, checks every answer against what was declared, writes everything down.

Whoever vanishes, answers twice, late, for another study, or with something else than was declared is left out, and named in
`faults`; what the others said counts.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, final

from partwise.currency import Arrays, Field
from partwise.drivers.declared import breach
from partwise.drivers.letters import Letter, Transcript
from partwise.protocols import Transport

Declared = Callable[[int], Mapping[str, Field]]  # of party p


class Fault(NamedTuple):
    """What went wrong with whom."""

    t: int
    party: int
    sentence: str


@final
@dataclass
class Correspondence:
    """One study's letters over one transport."""

    study: str
    transport: Transport
    seconds: float | None = None  # to wait for answers; None: as long as the transport says that some will come
    transcript: Transcript = field(default_factory=Transcript)
    faults: list[Fault] = field(default_factory=list)

    def ask(self, kind: str, t: int, messages: Mapping[int, Arrays], declared: Declared) -> dict[int, Arrays]:
        """{party: what it answered}, in the order of the parties, of those that answered as declared and in time."""
        letters = [Letter(self.study, kind, t, p, arrays) for p, arrays in messages.items()]
        for letter in letters:
            self.transcript.sent(letter)
        self.transport.post(letters)
        answers: dict[int, Arrays] = {}
        waiting = set(messages)
        until = None if self.seconds is None else time.monotonic() + self.seconds
        while waiting:
            left = None if until is None else until - time.monotonic()
            letter = self.transport.next(left) if left is None or left > 0 else None
            if letter is None:
                break
            if self._fits(letter, kind, t, waiting):
                waiting.discard(letter.party)
                self._take(letter, kind, declared, answers)
        for p in sorted(waiting):
            self._fault(t, p, f"did not answer to {kind!r} of round {t}.")
        return dict(sorted(answers.items()))

    def _fits(self, letter: Letter, kind: str, t: int, waiting: set[int]) -> bool:
        """Whether this is the answer that is being waited for."""
        if letter.study != self.study:
            self._fault(t, letter.party, f"sent a letter of study {letter.study!r}, not of {self.study!r}.")
        elif letter.t != t or letter.kind not in (kind, "failed"):
            self._fault(t, letter.party, f"sent {letter.kind!r} of round {letter.t} when {kind!r} of {t} was due.")
        elif letter.party not in waiting:
            self._fault(t, letter.party, f"answered to {kind!r} of round {t} again, or was not asked.")
        else:
            return True
        return False

    def _take(self, letter: Letter, kind: str, declared: Declared, answers: dict[int, Arrays]) -> None:
        if letter.kind == "failed":
            self._fault(letter.t, letter.party, f"could not answer to {kind!r} of round {letter.t}: {letter.word}")
            return
        self.transcript.received(letter)
        wrong = breach(letter.arrays, declared(letter.party))
        if wrong:
            self._fault(letter.t, letter.party, f"{wrong} (round {letter.t}).")
        else:
            answers[letter.party] = letter.arrays

    def _fault(self, t: int, party: int, what: str) -> None:
        self.faults.append(Fault(t, party, f"Party {party} {what}"))

    def told(self, since: int = 0) -> str:
        """The faults as sentences, the newest five of them."""
        news = [fault.sentence for fault in self.faults[since:]]
        return " ".join(news[-5:])
