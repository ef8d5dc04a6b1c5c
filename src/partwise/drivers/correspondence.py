"""The server's desk: asks parties, checks every answer against what was declared, writes everything down.

Whoever vanishes, answers twice, late, for another study, or with something else than was declared is left out, and named in
`faults`; what the others said counts.
"""

from __future__ import annotations

import time
from collections import deque
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
    outstanding: dict[int, Letter] = field(
        default_factory=dict
    )  # {party: the letter that it may answer whenever it likes}
    _aside: deque[Letter] = field(default_factory=deque)  # such answers that came while others were waited for

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
            if self._is_outstanding(letter):
                self._aside.append(letter)
            elif self._fits(letter, kind, t, waiting):
                waiting.discard(letter.party)
                arrays = self._taken(letter, kind, declared(letter.party))
                if arrays is not None:
                    answers[letter.party] = arrays
        for p in sorted(waiting):
            self.fault(t, p, f"did not answer to {kind!r} of round {t}.")
        return dict(sorted(answers.items()))

    def expect(self, letter: Letter) -> None:
        """Send a letter whose answer is taken by `arrived`, whenever it comes."""
        self.transcript.sent(letter)
        self.outstanding[letter.party] = letter
        self.transport.post([letter])

    def arrived(self, declared: Callable[[Letter], Mapping[str, Field]]) -> tuple[Letter, Arrays | None] | None:
        """(the letter that was answered, the answer or None if it cannot be used); None: nothing comes any more."""
        while self.outstanding:
            letter = self._aside.popleft() if self._aside else self.transport.next(self.seconds)
            if letter is None:
                return None
            due = self.outstanding.get(letter.party)
            if due is None:
                self.fault(letter.t, letter.party, f"sent {letter.kind!r} of round {letter.t} without being asked.")
            elif self._fits(letter, due.kind, due.t, {due.party}):
                del self.outstanding[due.party]
                return due, self._taken(letter, due.kind, declared(due))
        return None

    def _fits(self, letter: Letter, kind: str, t: int, waiting: set[int]) -> bool:
        """Whether this is the answer that is being waited for."""
        if letter.study != self.study:
            self.fault(t, letter.party, f"sent a letter of study {letter.study!r}, not of {self.study!r}.")
        elif letter.t != t or letter.kind not in (kind, "failed"):
            self.fault(t, letter.party, f"sent {letter.kind!r} of round {letter.t} when {kind!r} of {t} was due.")
        elif letter.party not in waiting:
            self.fault(t, letter.party, f"answered to {kind!r} of round {t} again, or was not asked.")
        else:
            return True
        return False

    def _taken(self, letter: Letter, kind: str, declared: Mapping[str, Field]) -> Arrays | None:
        """What the letter holds, if that is what was declared."""
        if letter.kind == "failed":
            self.fault(letter.t, letter.party, f"could not answer to {kind!r} of round {letter.t}: {letter.word}")
            return None
        self.transcript.received(letter)
        wrong = breach(letter.arrays, declared)
        if wrong:
            self.fault(letter.t, letter.party, f"{wrong} (round {letter.t}).")
        return None if wrong else letter.arrays

    def _is_outstanding(self, letter: Letter) -> bool:
        due = self.outstanding.get(letter.party)
        return due is not None and letter.t == due.t and letter.kind == due.kind

    def fault(self, t: int, party: int, what: str) -> None:
        """Write down what went wrong with whom."""
        self.faults.append(Fault(t, party, f"Party {party} {what}"))

    def told(self, since: int = 0) -> str:
        """The faults as sentences, the newest of them; what several parties have in common is said once."""
        parties: dict[str, list[int]] = {}
        for fault in self.faults[since:]:
            parties.setdefault(fault.sentence.removeprefix(f"Party {fault.party} "), []).append(fault.party)
        return " ".join(f"{_named(sorted(set(who)))} {what}" for what, who in [*parties.items()][-3:])


def _named(parties: list[int]) -> str:
    """Party 3; Parties 0, 1, 4; Parties 0, 1, 2, 3, 4 and 7 more."""
    listed = ", ".join(map(str, parties[:5])) + (f" and {len(parties) - 5} more" if len(parties) > 5 else "")
    return f"{'Party' if len(parties) == 1 else 'Parties'} {listed}"
