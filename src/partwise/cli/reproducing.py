"""What `partwise reproduce` does, step by step."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from partwise.cli import screen
from partwise.cli.failures import Stopped
from partwise.cli.rounds import telling
from partwise.errors import OptionError
from partwise.reports.quantities import counted, duration
from partwise.reports.tables import Cells
from partwise.reproduce.carrying_out import Result, carry_out, table_of
from partwise.reproduce.checking import SHOWN, Check, differences
from partwise.reproduce.experiment import Case, Experiment, Size, Verdict
from partwise.reproduce.registry import PAPERS, find
from partwise.reproduce.stored import measured, stored

FORMS = (Size.FULL, Size.QUICK)
LOOKS = {Verdict.HOLDS: "green", Verdict.PART: "yellow", Verdict.NOT: "red"}


class Place(NamedTuple):
    """Where results go, and those that they are compared with."""

    folder: Path
    stored: Path | None
    check: bool
    resume: bool
    force: bool


def show_all(*, json: bool) -> None:
    """Every paper and its experiments."""
    if json:
        facts = [
            {"paper": one.paper, "name": one.name, "title": one.title, "claim": one.claim, "data": list(one.data),
             "seconds": {str(size): measured(one, size) for size in FORMS}}
            for paper in PAPERS.values()
            for one in paper.experiments
        ]  # fmt: skip
        screen.show_json({"experiments": facts})
        return
    out = screen.to_stdout(piped_width=200)
    for paper in PAPERS.values():
        out.print(Text(paper.reference, style="bold"), soft_wrap=True)
        table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, show_header=False)
        for one in paper.experiments:
            times = (f"{'--quick ' if size is Size.QUICK else ''}{about(one, size)}" for size in FORMS)
            table.add_row(f"  {paper.name} {one.name}", Text(one.title), *times)
        out.print(table, "")
    out.print("Times are of one core, as measured when the results that come with partwise were made.")


def about(experiment: Experiment, size: Size) -> str:
    """How long it takes: as measured, else as expected."""
    seconds = measured(experiment, size)
    if seconds is None:
        return f"about {experiment.about(size):g} min (not measured yet)"
    return duration(seconds)


def reproduce(paper: str, name: str | None, place: Place, *, quick: bool, json: bool, quiet: bool) -> None:
    """One experiment, or all of a paper, one after another."""
    experiments = find(paper, name)
    if place.stored is not None and not place.check:
        raise OptionError("--stored names what --check compares with: give both, or neither.")
    for experiment in experiments if place.check else []:
        stored(experiment, chosen(quick), place.stored)  # before hours are spent: is there something to compare with?
    console, results, checks = screen.to_stderr(), list[Result](), list[Check]()
    for experiment in experiments:
        result = _one(experiment, place, quick, console, quiet=quiet)
        results.append(result)
        checks += [differences(result, place.stored)] if place.check else []
        if not (json or quiet):
            tell(result, checks[-1] if place.check else None)
    if json:
        screen.show_json(
            {"results": [_facts(result, checks[at] if checks else None) for at, result in enumerate(results)]}
        )
    if not all(check.agrees for check in checks):
        raise typer.Exit(1)


def _one(experiment: Experiment, place: Place, quick: bool, console: Console, *, quiet: bool) -> Result:
    """Say how long it will take, then do it."""
    size = chosen(quick)
    cases = experiment.cases(size)
    if not quiet:
        console.print(Text(f"{experiment.paper} {experiment.name}: {experiment.title}", style="bold"), soft_wrap=True)
        console.print(f"{counted(len(cases), 'run')}, {about(experiment, size)} on one core.")
    with screen.Notes(console), telling(console, len(cases), quiet=quiet) as show:

        def told(case: Case, seconds: float, number: int, of: int) -> None:
            show(number, f"{', '.join(f'{value}' for value in case.values())}: {duration(seconds)}")

        try:
            target = place.folder / experiment.key
            return carry_out(experiment, size, target, told, force=place.force, resume=place.resume)
        except KeyboardInterrupt:
            raise Stopped(
                f"Stopped; the runs that are done are kept. Go on with:  {screen.typed('--resume')}"
            ) from None


def chosen(quick: bool) -> Size:
    """How much of it."""
    return Size.QUICK if quick else Size.FULL


def tell(result: Result, check: Check | None) -> None:
    """Claim, table, what was seen, verdict."""
    out, experiment = screen.to_stdout(piped_width=160), result.experiment
    out.print(Text(f"{experiment.paper} {experiment.name}: {experiment.title}", style="bold"), "", sep="\n")
    out.print(Text(f"claim: {experiment.claim}"), Text(f"data: {'; '.join(experiment.data)}"), "", sep="\n")
    out.print(as_table(table_of(result)), "")
    for finding in result.findings:
        sign = Text("yes  ", style="green") if finding.met else Text("no   ", style="red")
        out.print(Text.assemble(sign, finding.criterion, "\n     ", (finding.seen, "dim")))
    for sentence in result.manifest["left_out"].values():
        out.print(Text(f"left out: {sentence}"))
    out.print(Text.assemble("\nThe claim ", (str(result.verdict), f"bold {LOOKS[result.verdict]}"), "."))
    if result.verdict is not Verdict.HOLDS:
        out.print(Text(experiment.because(result.rows)))
    if check is not None:
        out.print(*map(Text, told(check)), sep="\n")
    out.print(Text(f"results: {result.folder}/\n"), soft_wrap=True)


def as_table(cells: Cells) -> Table:
    """For the terminal."""
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="bold")
    for at, heading in enumerate(cells[0]):
        table.add_column(heading, justify="right" if at else "left")
    for line in cells[1:]:
        table.add_row(*map(Text, line))
    return table


def told(check: Check) -> Sequence[str]:
    """How it compares with what is stored."""
    if check.agrees:
        return [f"Agrees with the stored result in {counted(check.compared, 'number')} and in the verdict."]
    lines = [f"Differs from the stored result ({len(check.differences)} of {counted(check.compared, 'number')}):"]
    lines += [f"  {sentence}" for sentence in check.differences[:SHOWN]]
    return [*lines, *(["  …"] if len(check.differences) > SHOWN else [])]


def _facts(result: Result, check: Check | None) -> dict[str, Any]:
    facts = {"directory": str(result.folder), **result.manifest}
    if check is not None:
        facts |= {"agrees": check.agrees, "compared": check.compared, "differences": check.differences}
    return facts
