"""Qian and others, Figure 5: proximal coordinate descent against projected gradient descent, by iterations."""

from __future__ import annotations

from collections.abc import Sequence

from partwise.compare.clock import Limits
from partwise.compare.contestants import Ours
from partwise.reports.figures import Figure
from partwise.reports.quantities import ratio
from partwise.reports.tables import Cells
from partwise.reproduce import curves
from partwise.reproduce.experiment import Case, Finding, Row, Rows, Size, only, values
from partwise.reproduce.papers.dsanls_cluster import DATA, SEVERAL, affordable
from partwise.reproduce.papers.dsanls_damping import GRID, options, tuned

SKETCHES = {"S": "subsample", "G": "gaussian"}
INNER = ("pcd", "pgd")


def cases(size: Size) -> list[Case]:
    """Data × sketch × inner solver × damping."""
    return [
        {"data": data, "method": f"{inner.upper()}/{sketch}", "damping": damping, "seed": seed}
        for data in DATA
        for sketch in SKETCHES
        if affordable(data, f"DSANLS/{sketch}", size)
        for inner in INNER
        for damping in dampings(data, sketch, size)
        for seed in range(size.pick(1, 1, 3 if data in SEVERAL and sketch == "S" else 1))
    ]


def dampings(data: str, sketch: str, size: Size) -> Sequence[str]:
    """All of the grid; with Gaussian sketches a part."""
    if size is not Size.FULL:
        return list(GRID)[: size.pick(1, 5, 5) : 4]
    return list(GRID)[:3] if sketch == "G" else list(GRID)


def measure(case: Case, size: Size) -> list[Row]:
    """The faithful method on one machine: its iterates are those on any number of nodes."""
    inner, sketch = str(case["method"]).lower().split("/")
    data = str(case["data"])
    chosen = {"sketch": SKETCHES[sketch.upper()], "inner": inner, **options(str(case["damping"]))}
    chosen["measured"] = size.pick(10, 10, 2)
    if inner == "pgd":
        chosen["relative_damping"] = True  # as they stand, all of the grid is too long a step for these data
    k, iterations = size.pick(3, 20, 100), size.pick(20, 40, 8 if data == "MNIST" else 16)
    one = Ours("sanls", "sanls", chosen)
    rows = curves.follow(one, DATA[data](size), k, int(case["seed"]), Limits(1e9, iterations, settles=False))
    return [row for row in rows if row["t"] % chosen["measured"] == 0]


def judge(rows: Rows) -> list[Finding]:
    """Coordinate descent is below projected gradient, and gets to where that ends in fewer iterations."""
    best, findings = tuned(rows), []
    for sketch, name in (("S", "subsampling"), ("G", "Gaussian sketches")):
        pairs = {
            data: (only(best, data=data, method=f"PCD/{sketch}"), only(best, data=data, method=f"PGD/{sketch}"))
            for data in values(best, "data")
        }
        pairs = {data: pair for data, pair in pairs.items() if pair[0]}
        below = [data for data, (pcd, pgd) in pairs.items() if curves.end(pcd) < curves.end(pgd)]
        seen = "; ".join(
            f"{data} {ratio(curves.end(pcd))} and {ratio(curves.end(pgd))}, which PCD reached at iteration "
            f"{curves.until(pcd, curves.end(pgd), 't'):g}"
            for data, (pcd, pgd) in pairs.items()
        )
        findings.append(Finding(f"With {name}, PCD ends below PGD on every data set.", len(below) == len(pairs), seen))
    return findings


def figure(rows: Rows) -> Figure:
    """Error over iterations."""
    return curves.figure(tuned(rows), "iterations", x_scale="linear")


def table(rows: Rows) -> Cells:
    """Errors at the end."""
    return curves.ends(tuned(rows))
