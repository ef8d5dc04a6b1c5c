"""What `partwise compare` does, step by step."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from rich.table import Table
from rich.text import Text

from partwise.cli import screen, sources, wishes
from partwise.cli.failures import Stopped
from partwise.cli.rounds import telling
from partwise.compare import names, summary
from partwise.compare.contestants import Contestant
from partwise.compare.picture import figure
from partwise.compare.race import Race, Run, race
from partwise.errors import OptionError
from partwise.kernels.threads import threads as limited
from partwise.reports.figures import can_draw, draw
from partwise.reports.quantities import count, counted, duration, ratio, share, size
from partwise.reports.results import filling, made_with, write_manifest
from partwise.reports.tables import Store

KIND = "comparison"


class Wanted(NamedTuple):
    """The comparison, as asked for."""

    data: str
    key: str | None
    negative: str
    dtype: str | None
    k: int
    methods: str
    peers: str
    seeds: int
    seed: int
    init: str | None
    gap: float
    max_seconds: float
    max_iter: int


def compare(
    wanted: Wanted, target: Path, *, threads: int | None, resume: bool, force: bool, json: bool, quiet: bool
) -> None:
    """Claim the place, race, draw, tell."""
    contestants = _contestants(wanted)
    console = screen.to_stderr()
    with screen.Notes(console), limited(threads) as used:
        source = sources.load(wanted.data, wanted.key, "error", wanted.negative, wishes.dtype(wanted.dtype))
        data = source.facts()
        plan = Race(
            wanted.k, contestants, tuple(range(wanted.seed, wanted.seed + wanted.seeds)),
            wishes.init(wanted.init) or "random", wanted.max_seconds, wanted.max_iter, used,
        )  # fmt: skip
        asked = {**wanted._asdict(), "data": data["sha256"], "threads": used, "gap": None}  # the gap may change
        with filling(target, KIND, asked, force=force, resume=resume) as partial:
            store = Store(partial)
            _race(plan, source, store, quiet)
            found = summary.standings(store, wanted.gap)
            store.drop(["summary"])
            store.add("summary", *summary.table_rows(found))
            title = f"{source.name}, k = {wanted.k}, {counted(wanted.seeds, 'start')}"
            if can_draw():
                draw(figure(store, title), partial / "figure")
            facts = _facts(wanted, plan, data, used)
            write_manifest(partial, KIND, facts)
    if json:
        screen.show_json({**facts, "results": summary.table_rows(found), "directory": str(target)})
    elif not quiet:
        _tell(wanted, source, found, target)


def _contestants(wanted: Wanted) -> tuple[Contestant, ...]:
    """Everybody who was named."""
    words = [word.strip() for word in wanted.methods.split(",") if word.strip()]
    peers = [word.strip() for word in wanted.peers.split(",") if word.strip()]
    found = names.alone([*map(names.method, words), *(one for word in peers for one in names.peers_of(word))])
    if not found:
        raise OptionError("There is nobody to compare: name some with --methods or --peers.")
    return tuple(found)


def _race(plan: Race, source: sources.Source, store: Store, quiet: bool) -> None:
    console = screen.to_stderr()
    total = len(plan.seeds) * len(plan.contestants)
    if not quiet:
        most = duration(total * plan.seconds)
        console.print(Text(f"{source.name}: {source.describe()}"), soft_wrap=True)
        console.print(Text(f"{counted(total, 'run')} of at most {duration(plan.seconds)}: {most} at most."))
    with telling(console, total, quiet=quiet) as tell:

        def told(run: Run, number: int, of: int) -> None:
            error = run.points[-1].error if run.points else math.nan
            seconds = duration(run.points[-1].seconds) if run.points else "–"
            tell(number, f"{run.method}, seed {run.seed}: error {ratio(error)} in {seconds}, {run.outcome}")

        try:
            race(plan, source.X, store, told)
        except KeyboardInterrupt:
            raise Stopped(
                f"Stopped; the runs that are done are kept. Go on with:  {screen.typed('--resume')}"
            ) from None


def _facts(wanted: Wanted, plan: Race, data: dict[str, Any], threads: int) -> dict[str, Any]:
    """What the manifest says."""
    return {
        "command": screen.typed(),
        **made_with(threads),
        "data": data,
        "settings": {**wanted._asdict(), "init": plan.init},
        "methods": [one.name for one in plan.contestants],
        "seeds": list(plan.seeds),
        "target": f"{share(wanted.gap)} above the least error reached from the same start",
        "interval": summary.METHOD,
    }


def _tell(wanted: Wanted, source: sources.Source, found: Sequence[summary.Standing], target: Path) -> None:
    out = screen.to_stdout(piped_width=120)
    title = f"{source.name} in {counted(wanted.k, 'part')}, {counted(wanted.seeds, 'start')}"
    out.print(Text(title, style="bold"), "", sep="\n")
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="bold")
    talks = any(standing.bytes > 0 and math.isfinite(standing.bytes) for standing in found)
    headings = ["method", "error at the end", "time to target", "interval", "iterations", "× first", "reached"]
    for heading in [*headings, *(["bytes to target"] if talks else [])]:
        table.add_column(heading, no_wrap=True, justify="left" if heading == "method" else "right")
    for standing in found:
        table.add_row(*map(Text, _cells(standing)), *([Text(_size(standing.bytes))] if talks else []))
    out.print(table)
    notes = [f"target: {share(wanted.gap)} above the least error that anybody reached from the same start;",
             f"times: medians over starts; interval: {summary.METHOD}."]  # fmt: skip
    notes += [f"{standing.method}: {standing.note}" for standing in found if standing.note]
    if not can_draw():
        notes.append("No figure was drawn: that needs matplotlib; pip install 'partwise[report]'")
    out.print("", *map(Text, notes), Text(f"results: {target}/"), sep="\n", soft_wrap=True)


def _cells(standing: summary.Standing) -> list[str]:
    ran = not standing.note
    return [
        standing.method,
        ratio(standing.error),
        _time(standing.seconds) if ran else "–",
        f"{_time(standing.low)} – {_time(standing.high)}" if ran else "–",
        count(round(standing.iterations)) if ran and math.isfinite(standing.iterations) else "–",
        f"{standing.beside_first:.3g}" if math.isfinite(standing.beside_first) else "–",
        f"{standing.reached} of {standing.runs}",
    ]


def _time(seconds: float) -> str:
    return duration(seconds) if math.isfinite(seconds) else "never"


def _size(number: float) -> str:
    return size(number) if math.isfinite(number) else "–"
