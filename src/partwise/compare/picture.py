"""The figure of a race: the median error over seeds, and a band from the least to the greatest."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from partwise.compare.clock import Point
from partwise.compare.summary import points_by_run
from partwise.reports.figures import Figure, Line, Panel
from partwise.reports.tables import Store

GRID = 60  # places along an axis
Axis = Callable[[Point], float]


def figure(store: Store, title: str) -> Figure:
    """Over time, over iterations, and over bytes where somebody sent any."""
    by_run = points_by_run(store)
    methods = list(dict.fromkeys(method for _, method in by_run))
    runs = {method: [points for (_, name), points in by_run.items() if name == method] for method in methods}
    axes: list[tuple[str, Axis]] = [("seconds", lambda point: point.seconds), ("iterations", lambda point: point.t)]
    if any(point.bytes > 0 for points in by_run.values() for point in points):
        axes.append(("bytes sent", lambda point: point.bytes))
    panels = [_panel(runs, label, axis) for label, axis in axes]
    return Figure(panels, title, methods)


def _panel(runs: dict[str, list[list[Point]]], label: str, axis: Axis) -> Panel:
    lines = [line for method, curves in runs.items() if (line := band(method, curves, axis)) is not None]
    return Panel("", lines, label, "relative error  ‖X − WH‖ / ‖X‖", "log", "log")


def band(label: str, curves: Sequence[Sequence[Point]], axis: Axis) -> Line | None:
    """The median of several curves and a band from the least to the greatest; straight between points, in logarithms."""
    drawn = [curve for points in curves if (curve := [p for p in points if p.t > 0 and axis(p) > 0])]
    if not drawn:
        return None
    grid = np.geomspace(max(axis(curve[0]) for curve in drawn), max(axis(curve[-1]) for curve in drawn), GRID)
    levels = np.array([_levels(curve, axis, grid) for curve in drawn])
    return Line(label, grid.tolist(), *(np.quantile(levels, share, axis=0).tolist() for share in (0.5, 0.0, 1.0)))


def _levels(points: Sequence[Point], axis: Axis, grid: np.ndarray) -> np.ndarray:
    """The errors of one curve at the places of the grid; beyond its end it stays where it was."""
    errors = np.maximum([point.error for point in points], np.finfo(np.float64).tiny)
    return np.exp(np.interp(np.log(grid), np.log([axis(point) for point in points]), np.log(errors)))
