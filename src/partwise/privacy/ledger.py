"""The privacy ledger: a line for each release, before it leaves; for each refusal; and for what is not private.

A line about a release has: round, what, mechanism, sensitivity, scale, event, μ² and ε(δ) so far, and who sees it. It is on the disk
before the value leaves, so an interrupted run may have paid for something that never left, and never the other way round. No release's
line says when: the time that a private computation takes may depend on the data.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple, final

from partwise._version import __version__
from partwise.currency import Array
from partwise.errors import RunError
from partwise.privacy.accountant import Accountant
from partwise.privacy.chain import Chain
from partwise.privacy.events import from_json, to_json
from partwise.privacy.mechanisms import Mechanism
from partwise.privacy.noise import NoiseSource
from partwise.privacy.terms import Terms

SCHEMA = 1
FILE = "ledger.jsonl"  # in a run directory
OPENED, RESUMED, RELEASE, REFUSAL, NOTE = "opened", "resumed", "release", "refusal", "note"


class Release(NamedTuple):
    """What is about to leave."""

    what: str
    mechanism: Mechanism
    seen_by: tuple[str, ...]
    also: Mapping[str, Any] = {}


class BudgetSpentError(RunError):
    """A release would exceed the budget; it was not made."""


@final
class Ledger:
    """What was released under `terms`. With a path it is durable; one that exists already is continued, under the same terms only."""

    def __init__(self, terms: Terms, path: Path | None = None) -> None:
        self.terms = terms
        self._chain = Chain(path)
        self.accountant = terms.accountant()
        if self._chain.entries:
            self._resume()
        else:
            facts = {"schema": SCHEMA, "partwise": __version__, "at": _now()}
            self._chain.append({"kind": OPENED, **facts, "terms": terms.to_json()})

    @property
    def path(self) -> Path | None:
        """Where it is kept."""
        return self._chain.path

    @property
    def head(self) -> str:
        """The digest of all of it: to be written down elsewhere, so that a tail that was cut off is missed."""
        return self._chain.head

    @property
    def entries(self) -> Sequence[Mapping[str, Any]]:
        """All lines."""
        return tuple(self._chain.entries)

    @property
    def content(self) -> bytes:
        """All of it, as a file holds it: what `privacy.checking.check` takes."""
        return self._chain.content

    def releases(self) -> Iterator[Mapping[str, Any]]:
        """The lines about releases."""
        return (entry for entry in self._chain.entries if entry["kind"] == RELEASE)

    @property
    def epsilon(self) -> float:
        """ε spent so far, at the terms' δ."""
        return self.accountant.epsilon(self.terms.delta)

    def release(
        self, value: Array, mechanism: Mechanism, rng: NoiseSource, *, t: int, what: str, seen_by: Sequence[str]
    ) -> Array:
        """Write it down, then add the noise: the only way a curator publishes."""
        self.spend(mechanism, t=t, what=what, seen_by=seen_by)
        return mechanism.release(value, rng)[0]

    def spend(
        self, mechanism: Mechanism, *, t: int, what: str, seen_by: Sequence[str], **also: Any
    ) -> Mapping[str, Any]:
        """Write a release down before it is made, by whomever; refuse it if the budget would be exceeded."""
        after = self.accountant.after(mechanism.event)
        epsilon = after.epsilon(self.terms.delta)
        self._stop_if_too_much(epsilon, t, what)
        entry = {"kind": RELEASE, "round": t, "what": what, "mechanism": mechanism.name}
        entry |= {"unit": self.terms.unit, "neighbours": self.terms.neighbours}
        entry |= {"sensitivity": mechanism.sensitivity, "scale": mechanism.scale, "event": to_json(mechanism.event)}
        entry |= {"mu_squared": after.mu_squared, "epsilon": epsilon, "delta": self.terms.delta}
        written = self._chain.append(entry | {"seen_by": list(seen_by), "details": {**mechanism.facts, **also}})
        self.accountant = after
        return written

    def spend_once(self, release: Release, t: int) -> None:
        """Write down what round t releases, unless it is there: a round that was interrupted is made again, and paid for once.

        Only for whoever keeps a value before it leaves, and says it alike when asked again.
        """
        if not any(entry["round"] == t and entry["what"] == release.what for entry in self.releases()):
            self.spend(release.mechanism, t=t, what=release.what, seen_by=release.seen_by, **release.also)

    def refuse(self, what: str, why: str) -> None:
        """Something was asked for and not done."""
        self._chain.append({"kind": REFUSAL, "what": what, "why": why})

    def note(self, text: str, *, private: bool = True) -> None:
        """Something an officer should know. With `private=False`: something left that no ε covers."""
        self._chain.append({"kind": NOTE, "text": text, "private": private})

    def _stop_if_too_much(self, epsilon: float, t: int, what: str) -> None:
        budget = self.terms.budget
        if budget is None or budget.allows(epsilon):
            return
        why = f"ε would rise from {self.epsilon:.6g} to {epsilon:.6g}, and the budget is {budget.epsilon:g} at δ = {budget.delta:g}"
        self.refuse(f"{what}, round {t}", why)
        raise BudgetSpentError(
            f"{what} of round {t} was not released: {why}. Go on with fewer rounds or more noise, or under a larger budget."
        )

    def _resume(self) -> None:
        first = self._chain.entries[0]
        if first.get("kind") != OPENED or first.get("schema") != SCHEMA:
            raise RunError(f"{self.path} is not a privacy ledger that this version can go on with.")
        before, now = first["terms"], self.terms.to_json()
        changed = [
            f"{name} was {before.get(name)!r} and is {now[name]!r}" for name in now if before.get(name) != now[name]
        ]
        if changed:
            raise RunError(
                f"{self.path} was opened under other terms: {'; '.join(changed)}. A promise is not changed once given: take a new ledger."
            )
        self.accountant = replayed(self.terms.accountant(), self.releases())
        self._chain.append({"kind": RESUMED, "at": _now(), "torn_bytes_removed": self._chain.repaired})


def replayed(accountant: Accountant, releases: Iterator[Mapping[str, Any]]) -> Accountant:
    """What these releases have cost together, by their events alone."""
    for entry in releases:
        accountant = accountant.after(from_json(entry["event"]))
    return accountant


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
