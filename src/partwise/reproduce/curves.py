"""Errors over time, iterations or bytes: what most experiments store, draw and judge."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from partwise.compare.clock import Limits, Point, judge, pinned
from partwise.compare.contestants import Contestant
from partwise.compare.picture import band
from partwise.data import as_matrix
from partwise.reports.figures import Figure, Line, Panel
from partwise.reports.quantities import ratio
from partwise.reports.tables import Cells
from partwise.reproduce.experiment import Row, Rows, only, values
from partwise.start import start

AXES: dict[str, Callable[[Point], float]] = {
    "seconds": lambda point: point.seconds,
    "iterations": lambda point: point.t,
    "rounds": lambda point: point.t,
    "bytes sent": lambda point: point.bytes,
}
ERROR = "relative error"


def follow(
    one: Contestant, X: Any, k: int, seed: int, limits: Limits, init: str = "random", threads: int = 1
) -> list[Row]:
    """One run from the start of this seed: its errors at a ladder of iterations, which does not depend on the machine's speed."""
    Wt, H = start(as_matrix(X), k, init, seed)
    with pinned(threads):
        points = one.run(X, np.ascontiguousarray(Wt.T), H, judge(X), limits, seed)
    return [as_row(point) for point in laddered(points)]


def as_row(point: Point) -> Row:
    """A row of rows.csv."""
    return {"t": point.t, "seconds": point.seconds, "bytes": point.bytes, "error": point.error}


def laddered(points: Sequence[Point]) -> list[Point]:
    """All of the first ten, then about ten in each doubling, and the last."""
    kept, due = list[Point](), 0
    for point in points:
        if point.t >= due:
            kept.append(point)
            due = max(point.t + 1, int(point.t * 1.07))
    return kept if kept[-1] == points[-1] else [*kept, points[-1]]


def points_of(rows: Rows) -> list[Point]:
    """Back from rows."""
    return [Point(row["t"], float(row["seconds"]), float(row["error"]), float(row["bytes"])) for row in rows]


def panels(
    rows: Rows, axis: str, *, by: str = "data", line: str = "method", title: str = "{}", x_scale: str = "log",
    y_label: str = ERROR,
) -> list[Panel]:  # fmt: skip
    """A panel for each value of `by`, a line for each of `line`: the median over seeds, and a band."""
    return [
        Panel(title.format(value), lines_of(only(rows, **{by: value}), axis, line), axis, y_label, x_scale, "log")
        for value in values(rows, by)
    ]


def lines_of(rows: Rows, axis: str, line: str = "method") -> list[Line]:
    """The lines of one panel."""
    drawn = []
    for name in values(rows, line):
        mine = only(rows, **{line: name})
        curves = [points_of(only(mine, seed=seed)) for seed in values(mine, "seed")]
        made = band(str(name), curves, AXES[axis])
        drawn += [made] if made is not None else []
    return drawn


def figure(rows: Rows, axis: str, **more: Any) -> Figure:
    """Panels in the style of most of the papers' figures."""
    return Figure(panels(rows, axis, **more), order=[str(name) for name in values(rows, more.get("line", "method"))])


def over(rows: Rows, x: str, y: str, line: str = "method") -> list[Line]:
    """One number of each run over a setting: the median over seeds, and a band from the least to the greatest."""
    drawn = []
    for name in values(rows, line):
        mine = only(rows, **{line: name})
        places = sorted(values(mine, x))
        heights = [sorted(float(row[y]) for row in only(mine, **{x: place})) for place in places]
        low, high = ([at[end] for at in heights] for end in (0, -1))
        drawn.append(Line(str(name), places, [float(np.median(at)) for at in heights], low, high))
    return drawn


def median(rows: Rows, column: str) -> float:
    """Of a column; NaN of no rows."""
    return float(np.median([float(row[column]) for row in rows])) if rows else math.nan


def grid(rows: Rows, column: str, *, by: str = "data", line: str = "method") -> Cells:
    """A table: the median of a column for each line (across) in each panel (down)."""
    names = values(rows, line)
    return [[by, *map(str, names)]] + [
        [str(value), *(ratio(median(only(rows, **{by: value, line: name}), column)) for name in names)]
        for value in values(rows, by)
    ]


def end(rows: Rows) -> float:
    """The error at the end, the median over seeds."""
    if not rows:
        return math.nan
    return float(np.median([only(rows, seed=seed)[-1]["error"] for seed in values(rows, "seed")]))


def least(rows: Rows) -> float:
    """The least error met, the median over seeds."""
    if not rows:
        return math.nan
    return float(np.median([min(row["error"] for row in only(rows, seed=seed)) for seed in values(rows, "seed")]))


def until(rows: Rows, error: float, column: str = "seconds") -> float:
    """When this error was reached, the median over seeds; endless where it was not."""
    first = [
        next((float(row[column]) for row in only(rows, seed=seed) if row["error"] <= error), math.inf)
        for seed in values(rows, "seed")
    ]
    return float(np.median(first)) if first else math.inf


def ends(rows: Rows, *, by: str = "data", line: str = "method") -> Cells:
    """A table: the error at the end for each line in each panel."""
    names = values(rows, line)
    table = [[by, *map(str, names)]]
    for value in values(rows, by):
        here = only(rows, **{by: value})
        table.append([str(value), *(ratio(end(only(here, **{line: name}))) for name in names)])
    return table
