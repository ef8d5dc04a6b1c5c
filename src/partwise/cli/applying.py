"""What `partwise apply` does, step by step."""

from __future__ import annotations

import time
from pathlib import Path
from typing import NamedTuple

from partwise.algorithms.single.exact import exact_W
from partwise.cli import screen, sources
from partwise.cli.features import Features
from partwise.currency import Array
from partwise.kernels.threads import threads as limited
from partwise.reports.factor_files import check_target, write_factor
from partwise.reports.quantities import duration, ratio, shape
from partwise.reports.run_contents import Run, read_run


class Wanted(NamedTuple):
    """The new data, as asked for; None: as in the run."""

    data: str
    key: str | None
    missing: str | None
    negative: str | None


class Done(NamedTuple):
    """W is written."""

    source: sources.Source
    run: Run
    W: Array  # (n, k)
    relative_error: float  # NaN for other losses than Frobenius's
    loss: float
    seconds: float
    target: Path


def apply(folder: Path, wanted: Wanted, target: Path, *, force: bool, threads: int | None) -> Done:
    """Read the run and the data, match the features, solve, write."""
    check_target(target, force=force)
    with screen.Notes(screen.to_stderr()), limited(threads):
        run = read_run(folder)
        source = _source(run, wanted)
        began = time.perf_counter()
        X, settings = source.X, run.settings
        problem = settings.problem(X, len(run.H))
        Wt = exact_W(X, run.H, problem, tol=settings.tol)
        loss, seconds = X.divergence(Wt, run.H, problem.beta), time.perf_counter() - began
        whole = X.sq_norm()
        error = float("nan") if problem.beta != 2 else (2 * loss / whole) ** 0.5 if whole > 0 else 0.0
    write_factor(target, Wt.T, source.table.row_names)
    return Done(source, run, Wt.T, error, loss, seconds, target)


def _source(run: Run, wanted: Wanted) -> sources.Source:
    as_before = run.manifest["data"]
    missing = wanted.missing or as_before["missing"]
    negative = wanted.negative or as_before["negative"]
    features = Features(run.H.shape[1], run.feature_names)
    return sources.load(wanted.data, wanted.key, missing, negative, run.H.dtype, features)


def tell(done: Done) -> None:
    """A table."""
    error = ("relative error", ratio(done.relative_error))
    rows = [
        ("data", done.source.describe()),
        ("parts", f"{len(done.run.H)} of {screen.quoted(done.run.folder)}/"),
        error if done.relative_error == done.relative_error else ("loss", ratio(done.loss)),
        ("time", duration(done.seconds)),
        ("results", f"{screen.quoted(done.target)} holds W, {shape(done.W.shape)}"),
    ]
    screen.show(f"{done.source.name} by the parts of {done.run.folder}", rows)


def tell_json(done: Done) -> None:
    """relative_error, loss, seconds, run, output, shape."""
    facts = {"relative_error": done.relative_error, "loss": done.loss, "seconds": done.seconds}
    screen.show_json({**facts, "run": str(done.run.folder), "output": str(done.target), "shape": list(done.W.shape)})
