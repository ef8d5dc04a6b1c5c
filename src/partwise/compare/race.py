"""The race: every contestant from the same starts, one run at a time, each stored as it ends."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, final

import numpy as np

from partwise.compare.clock import Limits, Point, judge, pinned
from partwise.compare.contestants import Contestant, Ours, unfit
from partwise.currency import Array
from partwise.data import Dense, Sparse
from partwise.data.entries import Entries
from partwise.errors import DataError, OptionError
from partwise.reports.tables import Store
from partwise.start import start

RUNS, CURVES = "runs", "curves"
KEPT = 100  # points of a curve that are stored, evenly in the logarithm of time


@final
@dataclass(frozen=True)
class Race:
    """What is to be run."""

    k: int
    contestants: tuple[Contestant, ...]
    seeds: tuple[int, ...]
    init: str = "random"
    seconds: float = 5.0  # of a run, at most
    iterations: int = 1000
    threads: int = 1

    def runs(self) -> Iterator[tuple[int, Contestant]]:
        """Seed by seed; in each seed another contestant begins, so that nobody always runs on a warm machine."""
        for at, seed in enumerate(self.seeds):
            first = at % len(self.contestants)
            yield from ((seed, one) for one in (*self.contestants[first:], *self.contestants[:first]))


class Run(NamedTuple):
    """One run, as it ended."""

    seed: int
    method: str
    points: Sequence[Point]
    outcome: str


Tell = Callable[[Run, int, int], None]  # (the run, its number, of how many)


def plain(X: Entries) -> Any:
    """X as other libraries take it: an array, or a csr_array; both complete and in memory or mapped."""
    if isinstance(X, Dense):
        return np.ascontiguousarray(X.array)
    if isinstance(X, Sparse):
        return X.stored.tocsr()
    raise DataError(
        f"To compare methods, X must be whole and at hand: an array or a sparse array without missing entries; "
        f"here it is {type(X).__name__}. Convert it to .npy or .npz first."
    )


def race(plan: Race, X: Entries, store: Store, tell: Tell) -> None:
    """Make every run that the store does not hold yet."""
    if plan.init == "custom":
        raise OptionError("A race needs a start that follows from X and a seed; expected random, nndsvd, … .")
    whole = plain(X)
    error = judge(whole)
    limits = Limits(plan.seconds, plan.iterations)
    todo = list(plan.runs())
    done = {(row["seed"], row["method"]) for row in store.rows(RUNS)}
    store_curves = {(row["seed"], row["method"]) for row in store.rows(CURVES)}
    warm: set[str] = set()
    with pinned(plan.threads):
        for number, (seed, one) in enumerate(todo, start=1):
            if (str(seed), one.name) in done:
                continue
            Wt, H = start(X, plan.k, plan.init, seed)
            W = np.ascontiguousarray(Wt.T)
            if one.name not in warm and isinstance(one, Ours):
                one.run(whole, W, H, error, Limits(plan.seconds, 2))  # compiles, where nothing is cached yet
            warm.add(one.name)
            run = _run(one, seed, whole, W, H, error, limits)
            if (str(seed), one.name) not in store_curves:
                store.add(CURVES, *curve(run))
            store.add(RUNS, summary(run))
            tell(run, number, len(todo))


def _run(one: Contestant, seed: int, X: Any, W: Array, H: Array, error: Any, limits: Limits) -> Run:
    """Whatever a contestant raises is its result."""
    if reason := unfit(one, X):
        return Run(seed, one.name, (), reason)
    try:
        points = one.run(X, W, H, error, limits, seed)
    except Exception as failure:
        return Run(seed, one.name, (), f"failed: {type(failure).__name__}: {failure}".splitlines()[0][:200])
    return Run(seed, one.name, points, limits.why(points))


def summary(run: Run) -> dict[str, Any]:
    """The row of a run."""
    end = run.points[-1] if run.points else Point(0, float("nan"), float("nan"), float("nan"))
    least = min((point.error for point in run.points), default=float("nan"))
    return {
        "seed": run.seed,
        "method": run.method,
        "iterations": end.t,
        "seconds": end.seconds,
        "bytes": end.bytes,
        "error": end.error,
        "least_error": least,
        "outcome": run.outcome,
    }


def curve(run: Run) -> list[dict[str, Any]]:
    """The rows of a run's points, thinned."""
    return [
        {
            "seed": run.seed,
            "method": run.method,
            "iteration": p.t,
            "seconds": p.seconds,
            "bytes": p.bytes,
            "error": p.error,
        }
        for p in thinned(run.points)
    ]


def thinned(points: Sequence[Point], kept: int = KEPT) -> list[Point]:
    """The start, the end, and points between them, evenly in the logarithm of time."""
    if len(points) <= kept:
        return list(points)
    seconds = np.array([max(point.seconds, 1e-9) for point in points])
    wished = np.geomspace(seconds[1], seconds[-1], kept - 1)
    places = sorted({0, *np.searchsorted(seconds, wished).clip(1, len(points) - 1).tolist(), len(points) - 1})
    return [points[place] for place in places]
