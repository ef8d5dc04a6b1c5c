"""The options of a private fit, and which others go with them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from partwise.errors import OptionError
from partwise.launch import started

PANEL = "Privacy"


def _option(*names: str, help: str, **more: object):  # noqa: A002
    return typer.Option(*names, help=help, rich_help_panel=PANEL, show_default=False, **more)  # type: ignore[arg-type]


Epsilon = Annotated[
    float | None, _option("--epsilon", metavar="E", help="Publish parts that are (ε, δ)-private, of this total ε.")
]
Delta = Annotated[float | None, _option("--delta", metavar="D", help="δ, below 1/records, such as 1e-5.")]
Neighbours = Annotated[
    str, _option("--neighbours", metavar="replace|add-remove", help="What the promise hides of one record.")
]
Records = Annotated[
    int | None, _option("--records", metavar="N", help="With add-remove: a public number near that of the records.")
]
RowNorm = Annotated[
    str,
    _option("--row-norm", metavar="unit|LENGTH", help="Rows are brought to length one, or shortened to a public one."),
]
Density = Annotated[
    float | None,
    _option("--density", metavar="SHARE", help="The share of nonzero entries, where public: picks the method."),
]
PublishError = Annotated[
    float, _option("--publish-error", metavar="SHARE", help="Of the budget, for a noisy error; else none is told.")
]
LedgerPath = Annotated[
    Path | None,
    _option("--ledger", metavar="FILE", help="One ledger, and so one budget, for all private fits of these data."),
]
Mechanism = Annotated[
    str, _option("--mechanism", metavar="lattice|opendp|laplace|analytic", help="Which noise; else lattice Gaussian.")
]
InsecureSeed = Annotated[
    int | None, _option("--insecure-seed", metavar="N", help="Noise that can be repeated, and subtracted: for tests.")
]

OURS = {
    "epsilon", "delta", "neighbours", "records", "row_norm", "density", "publish_error", "ledger", "insecure_seed",
    "mechanism",
}  # fmt: skip
SHARED = {
    "data", "k", "output", "solver", "solver_option", "seed", "key", "missing", "negative", "threads", "force", "json", "quiet",
    "debug",
}  # fmt: skip
WHY = {
    "init": "a start made from the data shows them, and no noise hides it; private methods start at random or from a budgeted release",
    "tol": "it would stop by an objective that depends on every record: a private run makes a number of rounds settled beforehand",
    "target_error": "it would stop by an error that depends on every record; --publish-error SHARE pays for a noisy one",
    "max_seconds": "how long it takes may depend on the data",
    "max_iter": "the number of rounds is what is paid for: --solver-option rounds=N",
    "resume": "nothing of a private run leaves before it is whole, so it is simply made again",
}


def asked(context: typer.Context) -> bool:
    """Whether a private fit is asked for; options that do not go with it, or only with it, are refused."""
    sources = {name: context.get_parameter_source(name) for name in context.params}
    given = {name for name, source in sources.items() if source is not None and source.name == "COMMANDLINE"}
    if "epsilon" not in given:
        alone = sorted(given & OURS)
        if alone:
            raise OptionError(f"{_flags(alone)}: of a private fit. Give --epsilon and --delta, too.")
        return False
    for name in sorted(given - OURS - SHARED):
        why = WHY.get(name, "private methods have no such option")
        raise OptionError(f"{_flags([name])} does not go with --epsilon: {why}. Leave it out.")
    if started().size > 1:
        raise OptionError("A private fit runs in one process: leave mpiexec, srun or `run -n P` out.")
    if "delta" not in given:
        raise OptionError("A promise is ε and δ: give --delta, far below one by the number of records, such as 1e-5.")
    return True


def _flags(names: list[str]) -> str:
    return ", ".join(f"--{name.replace('_', '-')}" for name in names)
