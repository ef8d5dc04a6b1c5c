"""What a finished fit tells: a table for people, one object for machines."""

from __future__ import annotations

from partwise.cli import screen
from partwise.cli.fitting import Done
from partwise.reports.quantities import count, counted, duration, ratio
from partwise.reports.run_contents import outcome


def tell(done: Done) -> None:
    """The table, and what one may do next."""
    fit, target = done.fit, screen.quoted(done.target)
    error = ("relative error", ratio(fit.relative_error)) if fit.problem.beta == 2 else ("loss", ratio(fit.loss))
    rows = [
        ("data", done.source.describe()),
        ("solver", f"{fit.choice.solver} ({fit.choice.why})"),
        error,
        ("iterations", f"{count(fit.iterations)} in {duration(fit.seconds)}"),
        ("stopped", fit.reason.sentence),
        ("results", f"{target}/"),
    ]
    after = [f"partwise apply {target} NEW -o W.npy"]
    if not fit.reason.converged:
        after.append(screen.typed("--resume", *_more(done)))
    screen.show(f"{done.source.name} in {counted(fit.problem.k, 'part')}", rows, after)


def _more(done: Done) -> tuple[str, str]:
    """Twice what was used up."""
    settings = done.settings
    if done.fit.iterations >= settings.max_iter or settings.max_seconds is None:
        return "--max-iter", str(2 * settings.max_iter)
    return "--max-seconds", f"{2 * settings.max_seconds:g}"


def tell_json(done: Done) -> None:
    """relative_error, iterations, seconds, solver, stopping_reason, run, and more."""
    screen.show_json({**outcome(done.fit), "run": str(done.target), "shape": list(done.source.X.shape)})
