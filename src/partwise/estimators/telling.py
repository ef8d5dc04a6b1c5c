"""What an estimator says to its user: progress when `verbose`, and a warning that helps when it did not converge."""

from __future__ import annotations

import math
import sys
import warnings

from sklearn.exceptions import ConvergenceWarning

from partwise.currency import State
from partwise.drivers.batches import Progress
from partwise.drivers.trace import Trace

EVERY = 10  # iterations between two lines at verbose=1; at verbose=2 and above every iteration has its line


class Lines:
    """An observer that writes lines to standard output, as scikit-learn's `verbose` does."""

    def __init__(self, verbose: int) -> None:
        self.every = EVERY if verbose == 1 else 1

    def __call__(self, state: State, trace: Trace) -> None:
        point = trace.last
        if point.t % self.every == 0 and not math.isnan(point.loss):
            tell(f"Iteration {point.t}: objective {point.objective:.6g}, {point.seconds:.2f} s")


def tell(line: str) -> None:
    """One line on standard output."""
    sys.stdout.write(line + "\n")


def warn_of_max_iter(trace: Trace, tol: float, max_iter: int, by_residual: bool) -> None:
    """Say which parameter ended the fit, how far from converged it was, and what to try."""
    known = [point.violation for point in trace.points if not math.isnan(point.violation)]
    if by_residual and len(known) > 1 and known[0] > 0:
        left = known[-1] / known[0]
        where = f" The KKT residual (projected gradient, relative to the first one) is {left:.1e}, and tol={tol:g} asks for at most that."
        longer = max_iter * math.log(tol) / math.log(left) if left < 1 and tol < 1 else math.inf
        advice = f"Try max_iter={_rounded(min(max(2 * max_iter, longer), 50 * max_iter))}, or tol={_above(left):g} if that is near enough."
    else:
        where = f" The root of the objective was still falling by more than tol={tol:g} of its first value in ten iterations."
        advice = f"Try max_iter={_rounded(5 * max_iter)}, or a larger tol."
    warnings.warn(
        f"Maximum number of iterations {max_iter} reached. Increase it to improve convergence.{where} {advice}",
        ConvergenceWarning,
        stacklevel=_levels_to_user(),
    )


def warn_of_max_epochs(progress: Progress, tol: float, max_iter: int) -> None:
    """The same for batches."""
    warnings.warn(
        f"Maximum number of iterations {max_iter} reached. Increase it to improve convergence. Batches still moved the "
        f"components by {progress.change:.1e} of their size, and tol={tol:g} asks for at most that. "
        f"Try max_iter={_rounded(5 * max_iter)}, a larger batch_size, or a larger tol.",
        ConvergenceWarning,
        stacklevel=_levels_to_user(),
    )


def _rounded(number: float) -> int:
    """To one leading digit, upwards."""
    unit = 10 ** math.floor(math.log10(number))
    return math.ceil(number / unit) * unit


def _above(ratio: float) -> float:
    """A round tolerance at which this run would have ended."""
    unit = 10.0 ** math.floor(math.log10(ratio))
    return math.ceil(ratio / unit * (1 + 1e-9)) * unit


def _levels_to_user() -> int:
    """For a warning given by the caller of this: how far up the user's own line is, outside of this package and of scikit-learn."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] in ("partwise", "sklearn"):
        level, frame = level + 1, frame.f_back
    return level
