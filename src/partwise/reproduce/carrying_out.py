"""Carrying out an experiment: run by run, each stored as it ends; then the table, the figure and the verdict."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from partwise.reports.figures import can_draw, draw
from partwise.reports.quantities import value_of
from partwise.reports.results import filling, made_with, write_manifest
from partwise.reports.tables import Cells, Store
from partwise.reproduce.at_hand import At, at_hand
from partwise.reproduce.experiment import Case, Experiment, Finding, Row, Size, Verdict, verdict

KIND = "reproduction"
ROWS, RUNS = "rows", "runs"
Tell = Callable[[Case, float, int, int], None]  # (the run, its seconds of one core, its number, of how many)


class Result(NamedTuple):
    """What came of an experiment."""

    experiment: Experiment
    rows: list[Row]
    findings: Sequence[Finding]
    folder: Path
    manifest: dict[str, Any]

    @property
    def verdict(self) -> Verdict:
        """Holds, in part, or not."""
        return verdict(self.findings)


def carry_out(
    experiment: Experiment, size: Size, target: Path, tell: Tell, *, threads: int = 1, force: bool = False, resume: bool = False
) -> Result:  # fmt: skip
    """Run what has not been run yet, then write the table, the figure and the manifest, whole or not at all."""
    asked = {"experiment": experiment.key, "size": str(size)}
    there = at_hand(experiment, size)
    with filling(target, KIND, asked, force=force, resume=resume) as partial:
        store = Store(partial)
        run(there.cases, experiment, size, store, tell)
        rows = typed(store.rows(ROWS))
        findings = experiment.judge(rows)
        store.drop(["table"])
        names, *lines = experiment.table(rows)
        store.add("table", *(dict(zip(names, line, strict=True)) for line in lines))
        if experiment.figure is not None and can_draw():
            draw(experiment.figure(rows), partial / "figure")
        seconds = sum(float(row["seconds"]) for row in store.rows(RUNS))
        manifest = write_manifest(
            partial, KIND, {**asked, **made_with(threads), **said(experiment, there, findings, seconds)}
        )
    return Result(experiment, rows, findings, target, manifest)


def run(cases: Sequence[Case], experiment: Experiment, size: Size, store: Store, tell: Tell) -> None:
    """Make the runs that the store does not hold yet."""
    done = {key_of(row, list(cases[0])) for row in store.rows(RUNS)}
    for number, case in enumerate(cases, start=1):
        if key_of(case, list(case)) in done:
            continue
        began = time.process_time()
        measured = [{**case, **row} for row in experiment.measure(case, size)]
        seconds = time.process_time() - began
        _forget(store, case)
        store.add(ROWS, *measured)
        store.add(RUNS, {**case, "seconds": seconds})
        tell(case, seconds, number, len(cases))


def _forget(store: Store, case: Case) -> None:
    """Rows of a run that was killed between its rows and its end."""
    kept = store.rows(ROWS)
    fresh = [row for row in kept if key_of(row, list(case)) != key_of(case, list(case))]
    if len(fresh) < len(kept):
        store.drop([ROWS])
        store.add(ROWS, *fresh)


def key_of(row: Row | Case, names: Sequence[str]) -> tuple[str, ...]:
    """What names a run."""
    return tuple(str(row[name]) for name in names)


def typed(rows: Sequence[dict[str, str]]) -> list[Row]:
    """Numbers as numbers."""
    return [{name: value_of(text) for name, text in row.items()} for row in rows]


def said(experiment: Experiment, there: At, findings: Sequence[Finding], seconds: float) -> dict[str, Any]:
    """For the manifest: claim, data, criteria and what was seen, verdict."""
    return {
        "paper": experiment.paper,
        "title": experiment.title,
        "claim": experiment.claim,
        "data": list(experiment.data),
        "digests": there.digests,
        "left_out": there.left_out,
        "findings": [finding._asdict() for finding in findings],
        "verdict": str(verdict(findings)),
        "seconds": seconds,
    }


def table_of(result: Result) -> Cells:
    """What a person reads."""
    return result.experiment.table(result.rows)
