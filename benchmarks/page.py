"""docs/benchmarks.md: the tables between its markers, and the figure, from stored results."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from benchmarks import tables
from benchmarks.store import Row, Store
from partwise.reports.figures import Figure, Line, Panel, draw

BEGIN, END = "<!-- results: made by `python -m benchmarks --docs` -->", "<!-- end of results -->"


def fill(page: Path, store: Store) -> None:
    """Replace what is between the markers."""
    before, rest = page.read_text(encoding="utf-8").split(BEGIN)
    page.write_text(before + BEGIN + "\n\n" + results(store) + "\n\n" + END + rest.split(END)[1], encoding="utf-8")


def results(store: Store) -> str:
    """The part of the page that is made."""
    manifest = store.manifest()
    made, runs = manifest["made_with"], manifest["runs"]
    versions = ", ".join(f"{name} {number}" for name, number in made["versions"].items())
    memory = f", {made['machine']['memory_bytes'] / 2**30:.0f} GB" if made["machine"]["memory_bytes"] else ""
    where = f"{made['machine']['processor']}, {made['machine']['cores']} cores{memory}; {' and '.join(made['blas'])}"
    pieces = [f"Measured {runs[0]['date']} to {runs[-1]['date']} on {where}. Versions: {versions}.", made_by(runs)]
    if rows := store.rows("fits"):
        pieces += ["### Fits", tables.markdown(tables.fits(rows))]
    if (store.folder / "curves.svg").exists():
        pieces.append("![Error above the best known over time](../benchmarks/results/curves.svg)")
    if rows := store.rows("kernels"):
        pieces += ["### Parts", tables.markdown(tables.parts(rows))]
    return "\n\n".join(pieces)


def made_by(runs: list[dict[str, Any]]) -> str:
    """The commands, but for where their results went."""
    lines = (re.sub(r" ?--out \S+", "", f"python -m benchmarks {run['arguments']}") for run in runs)
    return "Made by:\n\n```sh\n" + "\n".join(dict.fromkeys(lines)) + "\n```"


def figure(store: Store) -> list[Path]:
    """Error above the best known over time, a panel a workload: curves.svg and curves.png."""
    rows, best = store.rows("curves"), {}
    for row in store.rows("references"):
        best.setdefault((row["workload"], row["k"]), float(row["best"]))
    cases = dict.fromkeys((row["workload"], row["k"]) for row in rows)
    panels = [_panel(case, [row for row in rows if (row["workload"], row["k"]) == case], best[case]) for case in cases]
    return draw(Figure(panels), store.folder / "curves")


def _panel(case: tuple[str, str], rows: list[Row], best: float) -> Panel:
    lines = []
    for name in dict.fromkeys(row["method"] for row in rows):
        drawn = [row for row in rows if row["method"] == name]
        gaps = [max(float(row["error"]) / best - 1, 1e-4) for row in drawn]
        lines.append(Line(name, [float(row["seconds"]) for row in drawn], gaps))
    levels = (("1 %", 0.01), ("0.1 %", 0.001))
    title, above = f"{case[0]}, k = {case[1]}", "error above the best known"
    return Panel(title, lines, "seconds", above, "log", "log", levels)
