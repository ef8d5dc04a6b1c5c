"""What a finished fit tells: a table for people, one object for machines."""

from __future__ import annotations

from partwise.cli import screen
from partwise.cli.fitting import Done
from partwise.estimators.factorize import Factorization
from partwise.reports.quantities import count, counted, duration, ratio
from partwise.reports.run_contents import outcome

SHARING = {  # by the kind of layout
    "rows": "rows",
    "both": "rows and by columns",
    "grid": "blocks of a {} × {} grid",
    "columns": "columns",
    "shared": "blocks of a {} × {} grid",
    "whole": "nothing: each rank has all of it",
}


def tell(done: Done) -> None:
    """The table, and what one may do next."""
    fit, target = done.fit, screen.quoted(done.target)
    error = ("relative error", ratio(fit.relative_error)) if fit.problem.beta == 2 else ("loss", ratio(fit.loss))
    rows = [
        ("data", done.source.describe()),
        (_kind(done), f"{fit.choice.solver} ({fit.choice.why})"),
        *_ranks(done),
        error,
        ("iterations", f"{count(fit.iterations)} in {duration(fit.seconds)}"),
        ("stopped", fit.reason.sentence),
        ("results", f"{target}/"),
    ]
    after = [f"partwise apply {target} NEW -o W.npy"]
    if not fit.reason.converged:
        after.append(screen.typed("--resume", *_more(done)))
    screen.show(f"{done.source.name} in {counted(fit.problem.k, 'part')}", rows, after)


def _kind(done: Done) -> str:
    return "solver" if isinstance(done.fit, Factorization) else "algorithm"


def _ranks(done: Done) -> list[tuple[str, str]]:
    """How many, and how they share X."""
    if isinstance(done.fit, Factorization):
        return []
    cut = done.fit.layout
    return [("ranks", f"{cut.ranks}, X by {SHARING[cut.kind].format(*cut.grid)}")]


def _more(done: Done) -> tuple[str, str]:
    """Twice what was used up."""
    settings = done.settings
    if done.fit.iterations >= settings.max_iter or settings.max_seconds is None:
        return "--max-iter", str(2 * settings.max_iter)
    return "--max-seconds", f"{2 * settings.max_seconds:g}"


def tell_json(done: Done) -> None:
    """relative_error, iterations, seconds, solver, stopping_reason, run, and more."""
    facts = outcome(done.fit)
    if not isinstance(done.fit, Factorization):
        facts |= {"algorithm": facts["solver"], "ranks": done.fit.layout.ranks, "grid": list(done.fit.layout.grid)}
    screen.show_json({**facts, "run": str(done.target), "shape": list(done.source.X.shape)})
