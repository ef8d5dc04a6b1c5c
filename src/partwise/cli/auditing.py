"""What `partwise audit` does, and the page it prints."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from partwise.cli import screen
from partwise.privacy.checking import Checked, check
from partwise.privacy.statement import statement
from partwise.reports.evidence import Evidence, gather


class Audited(NamedTuple):
    """A run and what was found."""

    run: Path
    evidence: Evidence
    checked: Checked

    @property
    def breaches(self) -> list[str]:
        """Of the ledger and of what lies beside it."""
        return [*self.checked.breaches, *self.evidence.faults]

    @property
    def sound(self) -> bool:
        """Nothing is broken."""
        return not self.breaches


def audit(run: Path, head: str | None) -> Audited:
    """Read and check."""
    evidence = gather(run)
    return Audited(run, evidence, check(evidence.content, digest=evidence.digest, head=head))


def tell(found: Audited) -> None:
    """The verdict and what is broken, then the statement."""
    rows = [("BREACH", line) for line in found.breaches]
    rows += [("warning", line) for line in found.checked.warnings]
    rows += [*statement(found.checked), *(("went", line) for line in found.evidence.traffic)]
    verdict = "sound" if found.sound else "NOT SOUND"
    screen.show(f"Privacy audit of {found.run}: {verdict}", _grouped(rows))


def _grouped(rows: list[screen.Row]) -> list[screen.Row]:
    """A name once, for the first of its rows."""
    names = ["", *(name for name, _ in rows)]
    return [("" if name == before else name, value) for (name, value), before in zip(rows, names, strict=False)]


def tell_json(found: Audited) -> None:
    """sound, breaches, warnings, epsilon, delta, budget, …"""
    checked = found.checked
    facts: dict[str, Any] = {"sound": found.sound, "breaches": found.breaches, "warnings": checked.warnings}
    if checked.terms is not None:
        facts |= {"terms": checked.terms.to_json(), "delta": checked.terms.delta, "budget": checked.terms.epsilon}
    facts |= {"epsilon": checked.epsilon_said, "epsilon_recomputed": checked.epsilon_found, "recomputed_by": checked.by}
    facts |= {"releases": len(checked.releases), "refusals": checked.refusals, "notes": checked.notes}
    facts |= {"statement": [list(row) for row in statement(checked)], "traffic": found.evidence.traffic}
    screen.show_json({**facts, "lines": checked.lines, "head": checked.head, "ledger": str(found.evidence.ledger)})
