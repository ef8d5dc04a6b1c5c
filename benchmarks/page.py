"""docs/benchmarks.md: the tables between its markers, and the figure, from stored results."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchmarks import tables
from benchmarks.store import Store

BEGIN, END = "<!-- results: made by `python -m benchmarks --docs` -->", "<!-- end of results -->"
COLOURS = (
    "#000000",
    "#0072B2",
    "#56B4E9",
    "#D55E00",
    "#E69F00",
    "#CC79A7",
    "#009E73",
    "#999933",
    "#882255",
)  # Okabe & Ito, Tol
DASHES = ("-", "--", "-.", ":")


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
    pieces = [f"Measured {runs[0]['date']} to {runs[-1]['date']} on {where}. Versions: {versions}."]
    if rows := store.rows("fits"):
        pieces += ["### Fits", tables.markdown(tables.fits(rows))]
    if (store.folder / "curves.svg").exists():
        pieces.append("![Error above the best known over time](../benchmarks/results/curves.svg)")
    if rows := store.rows("kernels"):
        pieces += ["### Parts", tables.markdown(tables.parts(rows))]
    return "\n\n".join(pieces)


def figure(store: Store) -> list[Path]:
    """Error above the best known over time, a panel a workload: curves.svg and curves.png."""
    import matplotlib as mpl

    mpl.use("Agg")
    mpl.rcParams["svg.hashsalt"] = "partwise"
    import matplotlib.pyplot as plt

    rows, best = store.rows("curves"), {}
    for row in store.rows("references"):
        best.setdefault((row["workload"], row["k"]), float(row["best"]))
    cases = list(dict.fromkeys((row["workload"], row["k"]) for row in rows))
    names = list(dict.fromkeys(row["method"] for row in rows))
    across = min(4, len(cases))
    down = -(-len(cases) // across)
    picture, grid = plt.subplots(down, across, figsize=(3.4 * across, 2.8 * down), squeeze=False, layout="constrained")
    for axes, case in zip(grid.flat, cases, strict=False):
        _panel(axes, [row for row in rows if (row["workload"], row["k"]) == case], best[case], names)
        axes.set_title(f"{case[0]}, k = {case[1]}", fontsize=9)
    for axes in grid.flat[len(cases) :]:
        axes.set_visible(False)
    handles = {label: line for axes in grid.flat for line, label in zip(*axes.get_legend_handles_labels(), strict=True)}
    picture.legend(handles.values(), handles.keys(), loc="outside lower center", ncols=min(5, len(names)), fontsize=8)
    picture.supylabel("relative error above the best known", fontsize=9)
    paths = [store.folder / f"curves.{kind}" for kind in ("svg", "png")]
    for path in paths:
        picture.savefig(path, dpi=110, metadata={"Date": None} if path.suffix == ".svg" else None)
    plt.close(picture)
    return paths


def _panel(axes: Any, rows: list[dict[str, str]], best: float, names: list[str]) -> None:
    for level in (0.01, 0.001):
        axes.axhline(level, color="0.8", linewidth=0.8)
    for at, name in enumerate(names):
        drawn = [row for row in rows if row["method"] == name]
        gaps = [max(float(row["error"]) / best - 1, 1e-4) for row in drawn]
        style = {
            "color": COLOURS[at % len(COLOURS)],
            "linestyle": DASHES[at % len(DASHES)],
            "linewidth": 2.2 if at == 0 else 1.2,
        }
        if drawn:
            axes.plot([float(row["seconds"]) for row in drawn], gaps, label=name, **style)
    axes.set(xscale="log", yscale="log")
    axes.set_xlabel("seconds", fontsize=7)
    axes.tick_params(labelsize=7)
