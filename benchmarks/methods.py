"""Who takes part: name, library, how to run it, and how long it is waited for."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from math import isnan
from typing import Any, final

import scipy.sparse as sp

from benchmarks import peers
from benchmarks.measure import Judge, Point, Steps, Stop, clock, follow
from partwise.currency import Array
from partwise.data import as_matrix
from partwise.drivers.iterate import begin, iterate
from partwise.drivers.stopping import Reason
from partwise.drivers.trace import Trace
from partwise.estimators.factorize import initial, prepare
from partwise.estimators.settings import Settings

DENSE_AT_MOST = 2 << 30  # bytes that a sparse X may take as a dense one, for peers that know only these


@final
@dataclass(frozen=True)
class Ours:
    """partwise, as `factorize` runs it, but for the exact W at the end; errors by its own trace, in its own time."""

    name: str
    solver: str
    packages: tuple[str, ...] = ("partwise",)
    dense_only: bool = False
    patience: float = 1.0

    def run(self, X: Any, W: Array, H: Array, error: Judge, stop: Stop) -> list[Point]:
        """The errors of its trace, by the clock that peers have; the judge agrees with the last."""
        matrix = as_matrix(X)
        prepared = prepare(matrix, Settings(W.shape[1], solver=self.solver, init="custom"), H)
        state, trace = begin(prepared.method, matrix, *initial(prepared, W, H), relative=True)
        points: list[Point] = []

        def rule(trace: Trace) -> Reason | None:
            now = trace.last
            unmeasured = isnan(now.loss)  # then it counts as no better than before
            error = points[-1].error if unmeasured else trace.relative_error(now.loss)
            points.append(Point(now.t, clock() - began, error))
            return Reason("enough") if stop(points) else None

        began = clock()
        outcome = iterate(prepared.method, matrix, state, trace, [rule])
        judged = error(outcome.state.Wt.T, outcome.state.H)
        if not isnan(outcome.state.loss) and abs(judged - points[-1].error) > 1e-4 * judged:
            raise AssertionError(f"{self.name} says {points[-1].error:.6g}, but its relative error is {judged:.6g}.")
        return points


@final
@dataclass(frozen=True)
class Peer:
    """Another library's method."""

    name: str
    steps: Callable[[Any, Array, Array], Steps]
    packages: tuple[str, ...]
    dense_only: bool = False
    patience: float = 6.0  # times our time to the last target: then it is given up

    def run(self, X: Any, W: Array, H: Array, error: Judge, stop: Stop) -> list[Point]:
        """Its iterations, timed."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # peers call what their own dependencies have since deprecated
            return follow(self.steps(X.toarray() if self.dense_only and sp.issparse(X) else X, W, H), error, stop)


Method = Ours | Peer
PARTWISE = Ours("partwise", "auto")
SKLEARN = Peer("scikit-learn cd", peers.sklearn_cd, ("scikit-learn",), patience=25.0)
METHODS: tuple[Method, ...] = (
    PARTWISE,
    SKLEARN,
    Peer("scikit-learn mu", peers.sklearn_mu, ("scikit-learn",)),
    Peer("nmf-torch hals", peers.nmf_torch("hals"), ("nmf-torch", "torch"), dense_only=True),
    Peer("nmf-torch halsvar", peers.nmf_torch("halsvar"), ("nmf-torch", "torch"), dense_only=True),
    Peer("nmf-torch bpp", peers.nmf_torch("bpp"), ("nmf-torch", "torch"), dense_only=True),
    Peer("torchnmf mu", peers.torchnmf_mu, ("torchnmf", "torch")),
    Peer("nimfa lsnmf", peers.nimfa_lsnmf, ("nimfa",)),
    Peer("nimfa mu", peers.nimfa_mu, ("nimfa",)),
    *(Ours(f"partwise {solver}", solver) for solver in ("hals", "bpp", "mu", "nesterov", "randomized")),
)
DEFAULT = tuple(method.name for method in METHODS[:9])
MODULES = {"scikit-learn": "sklearn", "nmf-torch": "nmf"}  # where a package's module has another name


def missing(method: Method) -> str | None:
    """The package that a method would need and that is not here."""
    return next((package for package in method.packages if find_spec(MODULES.get(package, package)) is None), None)


def unfit(method: Method, X: Any) -> str | None:
    """Why a method is not run on this X, if it is not."""
    if not method.dense_only or not sp.issparse(X):
        return None
    size = X.shape[0] * X.shape[1] * X.dtype.itemsize
    return f"takes dense arrays only: {size / 2**30:.1f} GB" if size > DENSE_AT_MOST else None
