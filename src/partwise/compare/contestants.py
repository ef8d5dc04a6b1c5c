"""Who runs: a method of ours, or one of another library, from a given start until it is told to stop."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from inspect import signature
from math import isnan
from typing import Any, Protocol, final

import scipy.sparse as sp

from partwise.compare.clock import Judge, Point, Steps, Stop, clock, follow
from partwise.currency import Array
from partwise.data import as_matrix
from partwise.drivers.iterate import begin, iterate
from partwise.drivers.stopping import Reason
from partwise.drivers.trace import Trace
from partwise.estimators.factorize import initial, prepare
from partwise.estimators.settings import Settings

DENSE_AT_MOST = 2 << 30  # bytes that a sparse X may take as a dense one, for peers that know only these
DIGITS = 1e-6  # below which the judge of sparse data does not see


class Contestant(Protocol):
    """Whoever takes part."""

    @property
    def name(self) -> str: ...

    def run(self, X: Any, W: Array, H: Array, error: Judge, stop: Stop, seed: int = 0) -> list[Point]:
        """From (W, H), which stay as they are, until `stop` says so: where it stood after its iterations."""
        ...


@final
@dataclass(frozen=True)
class Ours:
    """partwise, as `factorize` runs it, but for the exact W at the end; errors by its own trace, in its own time."""

    name: str
    solver: str
    options: Mapping[str, Any] = field(default_factory=dict)
    packages: tuple[str, ...] = ("partwise",)
    dense_only: bool = False
    patience: float = 1.0

    def run(self, X: Any, W: Array, H: Array, error: Judge, stop: Stop, seed: int = 0) -> list[Point]:
        """The errors of its trace, by the clock that peers have; the judge agrees with the last."""
        matrix = as_matrix(X)
        settings = Settings(W.shape[1], solver=self.solver, init="custom", options=self.options, seed=seed)
        prepared = prepare(matrix, settings, H)
        state, trace = begin(prepared.method, matrix, *initial(prepared, W, H), relative=True)
        points, unseen = list[Point](), set[int]()

        def rule(trace: Trace) -> Reason | None:
            now = trace.last
            unmeasured = isnan(now.loss)  # then it counts as no better than before, and is not told of
            error = points[-1].error if unmeasured else trace.relative_error(now.loss)
            unseen.update([now.t] if unmeasured else [])
            points.append(Point(now.t, clock() - began, error))
            return Reason("enough") if stop(points) else None

        began = clock()
        outcome = iterate(prepared.method, matrix, state, trace, [rule])
        judged = error(outcome.state.Wt.T, outcome.state.H)
        if not isnan(outcome.state.loss) and abs(judged - points[-1].error) > 1e-4 * judged + DIGITS:
            raise AssertionError(f"{self.name} says {points[-1].error:.6g}, but its relative error is {judged:.6g}.")
        last = points[-1]._replace(error=judged)
        return [*(point for point in points[:-1] if point.t not in unseen), last]


@final
@dataclass(frozen=True)
class Peer:
    """Another library's method, or yours: a generator of factors."""

    name: str
    steps: Callable[..., Steps]  # (X, W, H) or (X, W, H, seed=...)
    packages: tuple[str, ...] = ()
    dense_only: bool = False
    patience: float = 6.0  # times our time to the last target: then it is given up

    def run(self, X: Any, W: Array, H: Array, error: Judge, stop: Stop, seed: int = 0) -> list[Point]:
        """Its iterations, timed."""
        seeded = {"seed": seed} if "seed" in signature(self.steps).parameters else {}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # peers call what their own dependencies have since deprecated
            X = X.toarray() if self.dense_only and sp.issparse(X) else X
            return follow(self.steps(X, W, H, **seeded), error, stop)


MODULES = {"scikit-learn": "sklearn", "nmf-torch": "nmf"}  # where a package's module has another name


def missing(contestant: Contestant) -> str | None:
    """The package that a contestant would need and that is not here."""
    packages: tuple[str, ...] = getattr(contestant, "packages", ())
    return next((package for package in packages if find_spec(MODULES.get(package, package)) is None), None)


def unfit(contestant: Contestant, X: Any) -> str | None:
    """Why a contestant is not run on this X, if it is not."""
    if not getattr(contestant, "dense_only", False) or not sp.issparse(X):
        return None
    size = X.shape[0] * X.shape[1] * X.dtype.itemsize
    return f"takes dense arrays only: {size / 2**30:.1f} GB" if size > DENSE_AT_MOST else None
