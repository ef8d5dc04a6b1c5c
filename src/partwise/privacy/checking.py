"""Checking a privacy ledger without the data: is it as it was written, does it add up, was the promise kept?

What cannot be seen from a ledger: whether the sensitivities are right, whether the noise was really added, whether something left that
nobody wrote down. The first two are what the tests and the audits of `privacy.audit` are for.
"""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, final

from partwise.errors import PartwiseError
from partwise.privacy import chain, oracle
from partwise.privacy.accountant import SLACK, Accountant
from partwise.privacy.events import Event, Gaussian, Sampled, from_json
from partwise.privacy.ledger import NOTE, OPENED, REFUSAL, RELEASE, RESUMED, SCHEMA
from partwise.privacy.terms import Terms

AGREE = (
    1e-3  # relative: the oracle computes on a grid, which costs up to about 1e-5 for each hundred different releases
)
SAME = 1e-6  # relative: figures of a line against our own, made from the same events

Entry = Mapping[str, Any]


@final
@dataclass
class Checked:
    """What was found. It is sound if nothing was broken; warnings are for a person to weigh."""

    terms: Terms | None = None
    releases: list[Entry] = field(default_factory=list)
    refusals: list[Entry] = field(default_factory=list)
    notes: list[Entry] = field(default_factory=list)
    accountant: Accountant | None = None
    epsilon_said: float = 0.0  # by the ledger's last release
    epsilon_found: float = math.nan  # by recomputation
    by: str = ""
    head: str = chain.START
    lines: int = 0
    breaches: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    @property
    def sound(self) -> bool:
        """Whether the promise was kept, as far as a ledger can tell."""
        return not self.breaches


def check(content: bytes, *, digest: str | None = None, head: str | None = None) -> Checked:
    """Check the bytes of a ledger. `digest` of the whole file is a manifest's; `head`, its last link, somebody wrote down."""
    found = chain.read(content)
    result = Checked(lines=len(found.entries), head=found.entries[-1][chain.DIGEST] if found.entries else chain.START)
    _check_ends(result, found, content, digest, head)
    if found.broken is not None:
        result.breaches.append(
            f"The ledger was tampered with: {found.broken}. What follows that line counts for nothing."
        )
    elif not found.entries:
        result.breaches.append("The ledger holds no whole line: it promises nothing.")
    if not found.entries or not _opening(result, found.entries[0]):
        return result
    for entry in found.entries[1:]:
        _sort(result, entry)
    _recompute(result)
    _check_budget(result)
    return result


def _check_ends(result: Checked, found: chain.Found, content: bytes, digest: str | None, head: str | None) -> None:
    if digest is not None and hashlib.sha256(content).hexdigest() != digest:
        result.breaches.append(
            "The ledger is not the one that the run's manifest names: lines were cut off at its end, put in or changed."
        )
    if head is not None and head != result.head:
        result.breaches.append(f"The ledger's last digest is {result.head}, and not the {head} that was written down.")
    if digest is None and head is None:
        result.warnings.append(
            "Nothing says where the ledger should end (no manifest, no --head): lines cut off at its end would not be missed."
        )
    if found.torn:
        result.warnings.append(
            f"The last {len(found.torn)} bytes are the beginning of a line: the run was interrupted while it wrote, before it released."
        )


def _opening(result: Checked, first: Entry) -> bool:
    try:
        if first["kind"] != OPENED or first["schema"] != SCHEMA:
            raise KeyError("schema")
        result.terms = Terms.from_json(first["terms"])
    except (KeyError, PartwiseError) as error:
        result.breaches.append(f"The first line holds no terms that this version can check ({error}).")
        return False
    result.accountant = result.terms.accountant()
    if result.terms.insecure_seed is not None:
        result.breaches.append(
            f"The noise was made from a seed ({result.terms.insecure_seed}): whoever knows it can subtract the noise. Nothing is private."
        )
    return True


def _sort(result: Checked, entry: Entry) -> None:
    here, kind = f"Line {entry[chain.LINE] + 1}", entry.get("kind")
    if kind == RELEASE:
        try:
            _add(result, entry, here)
        except (KeyError, TypeError, ValueError, ArithmeticError, PartwiseError) as error:
            result.breaches.append(f"{here} is no release that this version can count ({error}).")
    elif kind == REFUSAL:
        result.refusals.append(entry)
    elif kind == NOTE:
        result.notes.append(entry)
        if entry.get("private") is not True:
            result.breaches.append(f"{here} says that something left which no ε covers: {entry.get('text')}")
    elif kind != RESUMED:
        result.breaches.append(f"{here} is of a kind that this version does not know: {kind!r}.")


def _add(result: Checked, entry: Entry, here: str) -> None:
    """Count a release by its event, and compare what the line says with what follows from it."""
    assert result.accountant is not None
    assert result.terms is not None
    event = from_json(entry["event"])
    if not isinstance(entry["round"], int) or not isinstance(entry["seen_by"], list):
        raise ValueError("its round is no number, or who saw it is no list")
    result.accountant = result.accountant.after(event)
    result.releases.append(entry)
    result.epsilon_said = float(entry["epsilon"])
    facts = [
        ("noise by sensitivity", float(entry["scale"]) / float(entry["sensitivity"]), _multiplier(event)),
        ("μ² so far", float(entry["mu_squared"]), result.accountant.mu_squared),
        ("δ", float(entry["delta"]), result.terms.delta),
    ]
    if not result.accountant.others:  # else the oracle's figure at the end must do: each would take a second
        facts.append(("ε so far", result.epsilon_said, result.accountant.epsilon(result.terms.delta)))
    for name, said, follows in facts:
        if not math.isclose(said, follows, rel_tol=SAME, abs_tol=1e-12):
            result.breaches.append(
                f"{here} does not add up: its {name} is {said:.9g}; {follows:.9g} follows from the ledger."
            )
    if (entry["unit"], entry["neighbours"]) != (result.terms.unit, result.terms.neighbours):
        result.breaches.append(f"{here} protects another unit or other neighbours than the first line promises.")
    if "warning" in entry["details"]:
        result.warnings.append(f"{here}: {entry['mechanism']}: {entry['details']['warning']}.")


def _multiplier(event: Event) -> float:
    return event.event.noise_multiplier if isinstance(event, Sampled) else event.noise_multiplier


def _recompute(result: Checked) -> None:
    """The total ε again, from the events one by one, by a library that shares no code with us."""
    assert result.terms is not None
    assert result.accountant is not None
    delta = result.terms.delta
    counted = Counter(from_json(entry["event"]) for entry in result.releases)
    everything = list(counted.items())
    if oracle.available():
        result.by = f"dp-accounting ({oracle.way(everything)})"
        result.epsilon_found = oracle.epsilon(everything, delta)
    elif all(isinstance(event, Gaussian) for event in counted):
        result.by = "partwise's own formula only: dp-accounting is not installed (pip install 'partwise[dp]')"
        result.epsilon_found = result.accountant.epsilon(delta)
        result.warnings.append(
            "ε was not recomputed independently: dp-accounting is not installed (pip install 'partwise[dp]')."
        )
    else:
        result.by = "nobody"
        result.breaches.append(
            "ε could not be recomputed: the ledger holds Laplace noise or sampling, and dp-accounting is not installed "
            "(pip install 'partwise[dp]')."
        )
        return
    if abs(result.epsilon_found - result.epsilon_said) > AGREE * max(result.epsilon_said, result.epsilon_found, 1e-3):
        result.breaches.append(
            f"The ledger says ε = {result.epsilon_said:.6g} in total; recomputed it is {result.epsilon_found:.6g}."
        )


def _check_budget(result: Checked) -> None:
    assert result.terms is not None
    budget = result.terms.budget
    if budget is None:
        result.warnings.append("No budget was set: ε was counted, and nothing would have stopped the run.")
        return
    spent = [("says", result.epsilon_said, SLACK), ("recomputed", result.epsilon_found, AGREE)]
    for how, epsilon, tolerance in spent:
        if epsilon > budget.epsilon * (1 + tolerance):
            result.breaches.append(f"The budget is exceeded: ε = {epsilon:.6g} ({how}) of {budget.epsilon:g}.")
            return
