"""What a race says: the time each method takes to the target, with an interval over the seeds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from partwise.compare.clock import Point, reached
from partwise.compare.race import CURVES, RUNS
from partwise.randomness import Purpose, generator
from partwise.reports.tables import Row, Store

LEVEL = 0.95
DRAWS = 4000
METHOD = f"{100 * LEVEL:.0f} % percentile bootstrap of the median over seeds"


class Standing(NamedTuple):
    """How a method did, over all seeds; times are infinite where the target was missed."""

    method: str
    error: float  # the median, at the end
    seconds: float  # the median time to the target
    low: float
    high: float
    iterations: float  # the median, to the target
    bytes: float  # the median, to the target
    reached: int  # seeds
    runs: int  # seeds
    beside_first: float  # the median over seeds of its time to the target, divided by the first method's
    note: str  # why it was not run, or how it failed


def standings(store: Store, gap: float) -> list[Standing]:
    """One for each method, in their order; the target of a seed is (1 + gap) times the least error that anybody reached there."""
    runs, curves = store.rows(RUNS), points_by_run(store)
    targets = targets_of(runs, gap)
    methods = list(dict.fromkeys(row["method"] for row in sorted(runs, key=lambda row: int(row["seed"]))))
    hits = {(seed, method): _hit(points, targets[seed]) for (seed, method), points in curves.items() if seed in targets}
    return [_standing(method, methods[0], runs, hits) for method in methods]


def targets_of(runs: Sequence[Row], gap: float) -> dict[str, float]:
    """The target of each seed."""
    best: dict[str, float] = {}
    for row in runs:
        error = float(row["least_error"])
        if error == error:
            best[row["seed"]] = min(best.get(row["seed"], np.inf), error)
    return {seed: (1 + gap) * error for seed, error in best.items()}


def points_by_run(store: Store) -> dict[tuple[str, str], list[Point]]:
    """(seed, method) → its stored points."""
    found: dict[tuple[str, str], list[Point]] = {}
    for row in store.rows(CURVES):
        point = Point(int(row["iteration"]), float(row["seconds"]), float(row["error"]), float(row["bytes"]))
        found.setdefault((row["seed"], row["method"]), []).append(point)
    return found


def _hit(points: Sequence[Point], target: float) -> tuple[float, float, float]:
    """(seconds, iterations, bytes) to the target."""
    hit = reached(points, target)
    if hit is None:
        return np.inf, np.inf, np.inf
    after = next(point for point in points if point.error <= target)
    return hit[0], float(hit[1]), after.bytes


def _standing(
    method: str, first: str, runs: Sequence[Row], hits: Mapping[tuple[str, str], tuple[float, ...]]
) -> Standing:
    mine = [row for row in runs if row["method"] == method]
    ran = {seed: hit for (seed, name), hit in hits.items() if name == method}
    times = [hit[0] for hit in ran.values()]
    low, high = interval(times)
    errors = [float(row["error"]) for row in mine]
    theirs = [(hit[0], hits[seed, first][0]) for seed, hit in ran.items() if (seed, first) in hits]
    ratios = [time / other if other > 0 else np.nan for time, other in theirs if np.isfinite(other)]
    note = next((row["outcome"] for row in mine if row["iterations"] == "0"), "")
    return Standing(
        method, _median(errors), _median(times), low, high, _median([hit[1] for hit in ran.values()]),
        _median([hit[2] for hit in ran.values()]), int(np.isfinite(times).sum()), len(mine), _median(ratios), note,
    )  # fmt: skip


def _median(values: Sequence[float]) -> float:
    return float(np.median(values)) if len(values) else float("nan")


def interval(values: Sequence[float]) -> tuple[float, float]:
    """The percentile bootstrap interval of the median; infinite values (targets missed) take part as they are."""
    if not len(values):
        return float("nan"), float("nan")
    drawn = generator(0, Purpose.SIMULATE).integers(len(values), size=(DRAWS, len(values)))
    medians = np.sort(np.median(np.asarray(values, np.float64)[drawn], axis=1))
    tail = int(DRAWS * (1 - LEVEL) / 2)
    return float(medians[tail]), float(medians[-1 - tail])


def table_rows(found: Sequence[Standing]) -> list[dict[str, Any]]:
    """For summary.csv and --json."""
    return [standing._asdict() for standing in found]
