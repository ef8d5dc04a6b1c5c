"""Whole fits: how long each method takes from one start to errors near the best known."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple, final

import numpy as np

from benchmarks.methods import PARTWISE, SKLEARN, Method, missing, unfit
from benchmarks.store import Row, Store
from benchmarks.workloads import Workload, given
from partwise.compare.clock import Judge, Point, judge, pinned, reached, settled, until
from partwise.currency import Array

# 1 % and 0.1 % above the best known error; 0.1 % above where scikit-learn's cd ends, which may be a worse minimum
LEVELS = ("1%", "0.1%", "cd")
LEAST = 1.0  # seconds that a peer gets in any case
DRAWN = 40  # points of a curve that are kept
TABLES = ("fits", "references", "curves")


@final
@dataclass(frozen=True)
class Plan:
    """What is to be measured."""

    workloads: tuple[Workload, ...]
    methods: tuple[Method, ...]
    dtypes: tuple[str, ...] = ("float64", "float32")
    threads: tuple[int, ...] = (1, 2)
    seeds: tuple[int, ...] = (0, 1, 2)
    ks: tuple[int, ...] = ()  # only these, if any
    repeats: int = 2
    limit: float = 60.0  # seconds of a run
    reference: float = 60.0  # seconds of each long run

    def settings(self) -> Iterator[tuple[int, str, int]]:
        """(seed, dtype, threads): all dtypes and threads for the first seed, the first of each for the others."""
        yield from ((self.seeds[0], dtype, threads) for dtype in self.dtypes for threads in self.threads)
        yield from ((seed, self.dtypes[0], self.threads[0]) for seed in self.seeds[1:])

    def taking_part(self, seed: int) -> tuple[Method, ...]:
        """Everybody for the first seed; for the others ours and the strongest peer."""
        return tuple(m for m in self.methods if seed == self.seeds[0] or m in (PARTWISE, SKLEARN))


class Known(NamedTuple):
    """Errors that long runs from one start ended with."""

    best: float
    cd: float

    def targets(self) -> dict[str, float]:
        """The error of each level."""
        return dict(zip(LEVELS, (1.01 * self.best, 1.001 * self.best, 1.001 * self.cd), strict=True))


class Case(NamedTuple):
    """One matrix, one start."""

    workload: str
    k: int
    dtype: str
    threads: int
    seed: int
    X: Any
    W: Array
    H: Array
    error: Judge
    known: Known

    @property
    def key(self) -> dict[str, Any]:
        """Its name in a table."""
        return {"workload": self.workload, "k": self.k, "dtype": self.dtype, "threads": self.threads, "seed": self.seed}


def run(plan: Plan, store: Store) -> None:
    """Everything of the plan that the store does not hold yet."""
    for workload in plan.workloads:
        if not workload.here:
            print(
                f"{workload.name}: not on this machine ({workload.dataset}.npz in $PARTWISE_DATA), skipped", flush=True
            )
    for method in plan.methods:
        if package := missing(method):
            print(f"{method.name}: {package} is not installed, skipped", flush=True)
    for seed, dtype, threads in plan.settings():
        for workload in plan.workloads:
            if workload.here:
                _run_workload(plan, store, workload, seed, dtype, threads)


def _run_workload(plan: Plan, store: Store, workload: Workload, seed: int, dtype: str, threads: int) -> None:
    made: Any = None
    for k in (k for k in workload.ks if not plan.ks or k in plan.ks):
        if _done(plan, store, workload.name, k, seed, dtype, threads):
            continue
        made = workload.make(seed) if made is None else made
        known = reference(plan, store, workload, made, k, seed)
        X, W, H = given(made, k, seed, dtype)
        case = Case(workload.name, k, dtype, threads, seed, X, W, H, judge(X), known)
        with pinned(threads):
            PARTWISE.run(X, W, H, case.error, until(0.0, 0.01))  # compiles, where nothing is cached yet
            _race(plan, store, case)


def _done(plan: Plan, store: Store, *case: Any) -> bool:
    """Whether the row that ends a case is there."""
    names = ("workload", "k", "seed", "dtype", "threads")
    wanted = dict(zip(names, map(str, case), strict=True)) | {"method": "end"}
    return any(wanted.items() <= row.items() for row in store.rows("fits"))


def reference(plan: Plan, store: Store, workload: Workload, made: Any, k: int, seed: int) -> Known:
    """The best known error: the lowest of long runs of ours and of scikit-learn's cd from this start, in float64."""
    key = {"workload": workload.name, "k": k, "seed": seed}
    for row in store.rows("references"):
        if {name: str(value) for name, value in key.items()}.items() <= row.items():
            return Known(float(row["best"]), float(row[SKLEARN.name]))
    X, W, H = given(made, k, seed, "float64")
    error, found = judge(X), dict[str, Any]()
    with pinned(max(plan.threads)):
        for method in (PARTWISE, SKLEARN):
            points = method.run(X, W, H, error, settled(plan.reference))
            found |= {method.name: points[-1].error, f"{method.name} seconds": points[-1].seconds}
    best = min(found[PARTWISE.name], found[SKLEARN.name])
    store.add("references", {**key, "n": X.shape[0], "m": X.shape[1], "best": best, **found})
    return Known(best, found[SKLEARN.name])


def _race(plan: Plan, store: Store, case: Case) -> None:
    """Everybody in turn, then everybody again in reverse; who did not get there is not asked again."""
    methods = [m for m in plan.taking_part(case.seed) if missing(m) is None]
    for repeat in range(plan.repeats):
        for method in methods if repeat % 2 == 0 else reversed(methods):
            before = [row for row in store.rows("fits") if _of(case).items() <= row.items()]
            if any(row["method"] == method.name and _spared(row, repeat) for row in before):
                continue
            limit = plan.limit if method is PARTWISE else min(plan.limit, _patience(method, before))
            row, points = _measure(case, method, repeat, limit)
            store.add("fits", row)
            _tell(row)
            drawn = (plan.seeds[0], plan.dtypes[0], plan.threads[0])
            if repeat == 0 and (case.seed, case.dtype, case.threads) == drawn:
                _draw(store, case, method, points)
    store.add("fits", _row(case, "end", 0, [], "all methods of this case are measured", 0.0))


def _of(case: Case) -> Row:
    return {name: str(value) for name, value in case.key.items()}


def _spared(row: Row, repeat: int) -> bool:
    """Whether a row makes this repeat needless: it is the same, or the method did not get there."""
    return row["repeat"] == str(repeat) or row["outcome"] != "reached"


def _patience(method: Method, rows: list[Row]) -> float:
    """How long a peer is waited for, by how long we took."""
    ours = [float(row["seconds_0.1%"]) for row in rows if row["method"] == PARTWISE.name and row["seconds_0.1%"]]
    return max(LEAST, method.patience * min(ours)) if ours else float("inf")


def _measure(case: Case, method: Method, repeat: int, limit: float) -> tuple[dict[str, Any], list[Point]]:
    if reason := unfit(method, case.X):
        return _row(case, method.name, repeat, [], reason, limit), []
    target = case.known.targets()["0.1%"]
    try:
        points = method.run(case.X, case.W, case.H, case.error, until(target, limit))
    except Exception as failure:  # whatever a peer raises is its result
        sentence = f"failed: {type(failure).__name__}: {failure}".splitlines()[0][:120]
        return _row(case, method.name, repeat, [], sentence, limit), []
    outcome = "reached" if reached(points, target) else "given up"
    return _row(case, method.name, repeat, points, outcome, limit), points


def _row(case: Case, method: str, repeat: int, points: list[Point], outcome: str, limit: float) -> dict[str, Any]:
    row: dict[str, Any] = {**case.key, "method": method, "repeat": repeat, "best": case.known.best}
    for level, target in case.known.targets().items():
        hit = reached(points, target)
        row |= {f"seconds_{level}": hit[0] if hit else "", f"iterations_{level}": hit[1] if hit else ""}
    end = points[-1] if points else Point(0, 0.0, float("nan"))
    return row | {"error": end.error, "iterations": end.t, "seconds": end.seconds, "limit": limit, "outcome": outcome}


def _draw(store: Store, case: Case, method: Method, points: list[Point]) -> None:
    """Keep some points of a curve, evenly in log time."""
    after = [p for p in points if p.t > 0]
    if not after:
        return
    wished = np.geomspace(after[0].seconds, after[-1].seconds, DRAWN)
    at = sorted({int(np.searchsorted([p.seconds for p in after], second)) for second in wished})
    drawn = [after[min(i, len(after) - 1)] for i in at]
    key = {"workload": case.workload, "k": case.k, "method": method.name}
    store.add("curves", *({**key, "seconds": p.seconds, "error": p.error} for p in drawn))


def _tell(row: Row | dict[str, Any]) -> None:
    case = f"{row['workload']} k={row['k']} {row['dtype']} threads={row['threads']} seed={row['seed']}"
    times = " ".join(f"{row[f'seconds_{level}'] or float('nan'):8.3f} s to {level}" for level in LEVELS)
    print(f"{case:48} {row['method']:18} {times}  {row['outcome']}", flush=True)
