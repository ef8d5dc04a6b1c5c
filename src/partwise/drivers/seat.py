"""A party's side of a study: letter in, letter out, whatever carries them. What it keeps, it keeps in its own vault."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import final

from partwise.currency import Arrays, Disclosure
from partwise.drivers.declared import breach
from partwise.drivers.encrypting import Encrypting
from partwise.drivers.letters import Letter
from partwise.drivers.safety import Safety
from partwise.drivers.summing import Summing
from partwise.drivers.vault import Kept, Vault
from partwise.errors import PartwiseError, RunError
from partwise.kernels.threads import one_for_blas
from partwise.privacy import ledger
from partwise.privacy.leakage import LeakLedger
from partwise.protocols import Matrix, Round

LEAKS = "leaks.jsonl"  # beside the party's state
START = -(2**31)  # the round of a party that has not begun


@final
@dataclass
class Seat:
    """Party p: its data, the method, and its vault. A letter that comes twice is answered twice alike, and computed once."""

    study: str
    method: Round
    X: Matrix
    p: int
    vault: Vault
    safety: Safety = field(default_factory=Safety)  # what the party insists on where sums are secure
    leaks: LeakLedger | None = None  # a party may insist on one of its own; else it keeps one for the study's allowance

    def answer(self, letter: Letter) -> Letter:
        """What goes back; a "failed" letter with a sentence where the party cannot do what is asked."""
        try:
            if letter.study != self.study or letter.party != self.p:
                raise RunError(
                    f"Party {self.p} of study {self.study!r} got a letter to party {letter.party} of {letter.study!r}."
                )
            with one_for_blas():
                return letter._replace(arrays=self._answers(letter))
        except PartwiseError as error:
            return letter._replace(kind="failed", arrays={}, word=str(error))

    @cached_property
    def summing(self) -> Summing | Encrypting:
        """The party's side of sums that hide what they are of, in the way agreed on: it knows no other."""
        kind = Encrypting if self.safety.by == "paillier" else Summing
        return kind(self.study, self.method, self.p, self.vault, self.safety)

    @cached_property
    def ledger(self) -> ledger.Ledger:
        """The party's own, of a private method: its budget holds whatever a server asks for."""
        assert self.method.promise is not None, "only a private method has releases"
        path = None if self.vault.folder is None else self.vault.folder / ledger.FILE
        return ledger.Ledger(self.method.promise, path)

    def private(self) -> Arrays:
        """What the party keeps, as it stands."""
        return self._kept().groups["private"]

    def _answers(self, letter: Letter) -> Arrays:
        if letter.kind in ("round", "measure") and self.safety.only_sums:
            raise RunError(f"Party {self.p} shows what it says in secure sums only, and was asked for it in the open.")
        if letter.kind == "round":
            return self.step(letter.t, letter.arrays)
        if letter.kind == "measure":
            return self.method.measure(self.X, self.private(), letter.arrays, self.p)
        if letter.kind == "finish":
            kept = self._kept()
            stays = self.method.finish(self.X, kept.groups["private"], letter.arrays, self.p)
            self.vault.keep(Kept(kept.t, {**kept.groups, "finished": stays}))
            return {}
        if letter.kind in self.summing.kinds:
            self._kept()  # a party begins before it answers
            return self.summing.answers(letter, self.step)
        raise RunError(f"Party {self.p} was sent a letter of kind {letter.kind!r}, which it does not know.")

    def step(self, t: int, down: Arrays) -> Arrays:
        """Round t: what the method has the party say, kept with the state so that it is said alike when asked again."""
        kept = self._kept()
        if t < kept.t:
            raise RunError(f"Party {self.p} was asked for round {t}, but has been through round {kept.t} already.")
        if t == kept.t:
            return kept.groups["goes"]
        declared = self.method.declare(t, self.p)
        wrong = breach(down, declared.down)
        if wrong:
            raise RunError(f"Party {self.p} cannot go on: the server {wrong}.")
        sketch = self.method.disclosure(t, self.p)
        if sketch is not None:
            self._leak_ledger(sketch).show(sketch, t)
        release = self.method.release(down, t, self.p)
        if release is not None:
            self.ledger.spend_once(release, t)
        stays, goes = self.method.party(self.X, kept.groups["private"], down, t, self.p)
        wrong = breach(goes, declared.up)
        if wrong:
            raise RunError(f"In round {t} party {self.p} would have {wrong}; nothing was sent.")
        kept_too = {name: group for name, group in kept.groups.items() if name != "finished"}
        self.vault.keep(Kept(t, {**kept_too, "private": stays, "goes": goes}))
        return goes

    def _leak_ledger(self, sketch: Disclosure) -> LeakLedger:
        """The party's own, or one with the allowance that the study wrote down."""
        if self.leaks is None:
            path = None if self.vault.folder is None else self.vault.folder / LEAKS
            self.leaks = LeakLedger(sketch.allowance, path)
        return self.leaks

    def finished(self) -> Arrays:
        """What the party has in the end."""
        groups = self._kept().groups
        return groups.get("finished", groups["private"])

    def _kept(self) -> Kept:
        kept = self.vault.kept()
        if kept is None:
            kept = Kept(START, {"private": self.method.begin(self.X, self.p), "goes": {}})
            self.vault.keep(kept)
        return kept
