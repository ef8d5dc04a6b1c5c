"""A privacy ledger in plain words, on a page: who is protected against whom, how far, what left for whom, and how that was checked."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

from scipy.special import ndtr, ndtri

from partwise.privacy.accountant import Accountant
from partwise.privacy.checking import Checked, check
from partwise.privacy.ledger import Ledger
from partwise.privacy.terms import Terms

FALSE_ALARMS = 0.05  # of the test that the statement speaks of
Row = tuple[str, str]
Entry = Mapping[str, Any]


def page(ledger: Ledger) -> str:
    """The statement as lines of text."""
    return "\n".join(f"{name:>10}  {line}" for name, line in statement(check(ledger.content)))


def statement(checked: Checked) -> list[Row]:
    """(what, in words), in the order in which an officer asks."""
    rows: list[Row] = []
    if checked.terms is not None and checked.accountant is not None:
        rows += [
            ("unit", unit(checked.terms)),
            ("adversary", checked.terms.adversary),
            ("total", total(checked)),
            ("meaning", meaning(checked.terms.unit, checked.accountant, checked.epsilon_found, checked.terms.delta)),
            ("noise", noise(checked.terms)),
        ]
        if checked.terms.method:
            rows.insert(0, ("method", checked.terms.method))
    rows += [("left", line) for line in left(checked.releases)] or [("left", "nothing under this ledger")]
    rows += [("refused", f"{entry.get('what')}: {entry.get('why')}") for entry in checked.refusals]
    rows += [("note", str(entry.get("text"))) for entry in checked.notes]
    rows.append(("ledger", f"{checked.lines} lines, the last with digest {checked.head}"))
    return [*rows, ("recomputed", f"ε = {_number(checked.epsilon_found)} by {checked.by or 'nobody'}")]


def unit(terms: Terms) -> str:
    """Who is protected, and which data sets must look alike."""
    if terms.neighbours == "replace":
        alike = f"data sets must look alike of which one {terms.unit} is replaced by any other"
    else:
        alike = f"data sets must look alike of which one {terms.unit} is there in one and missing in the other"
    return f"each {terms.unit}, of {terms.count}: {alike}"


def total(checked: Checked) -> str:
    """Spent, of what."""
    assert checked.terms is not None
    of = "no budget was set" if checked.terms.epsilon is None else f"of a budget of ε = {checked.terms.epsilon:g}"
    return f"ε = {_number(checked.epsilon_said)} at δ = {checked.terms.delta:g}, {of}; {len(checked.releases)} releases"


def meaning(unit: str, accountant: Accountant, epsilon: float, delta: float) -> str:
    """For one who must tell which of two units was among the data: how often that may succeed."""
    if math.isnan(epsilon):
        return "unknown, since ε could not be recomputed"
    power = min(
        1.0, math.exp(min(epsilon, 700)) * FALSE_ALARMS + delta, 1 - math.exp(-epsilon) * (1 - FALSE_ALARMS - delta)
    )
    if not accountant.others:  # noise that is all Gaussian says it exactly
        power = float(ndtr(ndtri(FALSE_ALARMS) + math.sqrt(accountant.mu_squared)))
    share = f"{power:.1%}" if power < 0.999 else "all"
    return (
        f"a test for one {unit} that cries wolf in {FALSE_ALARMS:.0%} of cases finds it in at most {share}, whatever is known of all "
        f"others ({FALSE_ALARMS:.0%} is guessing)"
    )


def noise(terms: Terms) -> str:
    """Whether it can be subtracted again."""
    if terms.insecure_seed is None:
        return "from the operating system's cryptographic generator; it is not kept anywhere"
    return f"from the seed {terms.insecure_seed}: NOT PRIVATE, whoever knows the seed subtracts the noise"


def left(releases: Iterable[Entry]) -> list[str]:
    """What went to whom, alike releases together."""
    groups: dict[tuple[str, str, str], list[int]] = {}
    for entry in releases:
        whom = ", ".join(map(str, entry.get("seen_by", []))) or "nobody named"
        details = entry.get("details")
        by = details.get("noise_added") if isinstance(details, Mapping) else None  # a ledger may hold anything
        key = (str(entry.get("what")), f"{entry.get('mechanism')} noise" + (f" ({by})" if by else ""), whom)
        groups.setdefault(key, []).append(int(entry.get("round", 0)))
    return [f"{what}, {_rounds(rounds)}, with {how} → {whom}" for (what, how, whom), rounds in groups.items()]


def _rounds(rounds: list[int]) -> str:
    first, last = min(rounds), max(rounds)
    if first == last:
        return f"round {first}" + ("" if len(rounds) == 1 else f" ({len(rounds)} times)")
    often = "" if len(rounds) == last - first + 1 else f" ({len(rounds)} releases)"
    return f"rounds {first} to {last}{often}"


def _number(epsilon: float) -> str:
    return "unknown" if math.isnan(epsilon) else f"{epsilon:.4g}"
