"""`partwise plan`: what a fit would take, before it is begun."""

from __future__ import annotations

from typing import Annotated

import typer

from partwise.cli import options as o
from partwise.errors import OptionError

EXAMPLE = (
    "Example:  partwise plan counts.npz -k 50 --threads 8   or   partwise plan --epsilon 1 --delta 1e-6 --records 20000"
)
PRIVACY = "Privacy (no data is read)"

MaybeData = Annotated[str | None, typer.Argument(help="As for fit; not with --epsilon.", show_default=False)]
MaybeComponents = Annotated[
    int | None, typer.Option("-k", "--n-components", min=1, metavar="K", help="How many parts.", show_default=False)
]
Epsilon = Annotated[
    float | None, typer.Option("--epsilon", help="Plan a private run of this total ε instead.", rich_help_panel=PRIVACY)
]
Delta = Annotated[float | None, typer.Option("--delta", help="δ, below 1/records.", rich_help_panel=PRIVACY)]
Records = Annotated[
    int | None,
    typer.Option("--records", metavar="N", help="How many records, a public number.", rich_help_panel=PRIVACY),
]
Rounds = Annotated[int, typer.Option("--rounds", help="Releases after the start.", rich_help_panel=PRIVACY)]
StartShare = Annotated[
    float, typer.Option("--start-share", help="Of the budget (of μ²), for the start.", rich_help_panel=PRIVACY)
]
Neighbours = Annotated[
    str, typer.Option("--neighbours", metavar="replace|add-remove", help="Of a record.", rich_help_panel=PRIVACY)
]

Ranks = Annotated[
    int | None,
    typer.Option("--ranks", min=1, metavar="P", help="Plan a run on so many ranks instead.", rich_help_panel="Ranks"),
]


OF_ONE_MACHINE = {"solver", "solver_option", "max_iter", "threads"}
OF_RANKS = {"latency", "bandwidth"}
OF_PRIVACY = {"epsilon", "delta", "records", "rounds", "start_share", "neighbours"}
OF_BOTH = {"json", "debug"}


def plan(
    context: typer.Context,
    data: MaybeData = None,
    k: MaybeComponents = None,
    solver: o.Solver = "auto",
    solver_option: o.SolverOption = None,
    loss: o.Loss = "frobenius",
    max_iter: o.MaxIter = 200,
    key: o.Key = None,
    missing: o.Missing = "error",
    negative: o.Negative = "error",
    dtype: o.Dtype = None,
    threads: o.Threads = None,
    ranks: Ranks = None,
    latency: o.Latency = None,
    bandwidth: o.Bandwidth = None,
    epsilon: Epsilon = None,
    delta: Delta = None,
    records: Records = None,
    rounds: Rounds = 20,
    start_share: StartShare = 0.1,
    neighbours: Neighbours = "replace",
    json: o.Json = False,
    debug: o.Debug = False,
) -> None:
    """Say which solver a fit would use, and predict its memory and its time on this machine.

    Reads the data and makes a few steps on some rows of it; writes nothing. With --ranks: memory, messages and time of every algorithm
    for a cluster, and which of them auto takes, by a model of the network. With --epsilon: how a privacy budget would be spent over
    the rounds, from public numbers alone.
    """
    _refuse_mixtures(context, private=epsilon is not None, spread=ranks is not None)
    if epsilon is not None:
        _plan_privacy(epsilon, delta, records, rounds, start_share, neighbours, json)
        return
    if data is None or k is None:
        raise OptionError(
            "Say what to fit and with how many parts, as in: partwise plan counts.npz -k 50. Or give --epsilon."
        )
    from partwise.cli import planning, wishes
    from partwise.estimators.settings import Settings

    if ranks is not None:
        from partwise.cli import planning_on_ranks as on_ranks

        settings, network = Settings(n_components=k, beta_loss=wishes.loss(loss)), wishes.network(latency, bandwidth)
        made = on_ranks.plan(data, key, missing, negative, wishes.dtype(dtype), settings, ranks, network)
        on_ranks.tell_json(made) if json else on_ranks.tell(made)
        return
    settings = Settings(
        n_components=k, solver=solver, beta_loss=wishes.loss(loss), max_iter=max_iter, options=wishes.solver_options(solver_option)
    )  # fmt: skip
    found = planning.plan(data, key, missing, negative, wishes.dtype(dtype), settings, threads=threads)
    if json:
        planning.tell_json(found)
    else:
        planning.tell(found)


def _refuse_mixtures(context: typer.Context, *, private: bool, spread: bool) -> None:
    """Options of the one kind of plan have no effect on the others."""
    sources = {name: context.get_parameter_source(name) for name in context.params}
    given = {name for name, source in sources.items() if source is not None and source.name == "COMMANDLINE"} - OF_BOTH
    if private and given - OF_PRIVACY:
        others = ", ".join(sorted(name.replace("_", "-") for name in given - OF_PRIVACY))
        raise OptionError(
            f"With --epsilon no data is read, since what depends on it would itself be a release. Leave out: {others}."
        )
    if spread and given & OF_ONE_MACHINE:
        others = ", ".join(sorted(name.replace("_", "-") for name in given & OF_ONE_MACHINE))
        raise OptionError(f"With --ranks all algorithms are planned, with one thread a rank. Leave out: {others}.")
    if not spread and not private and given & OF_RANKS:
        raise OptionError("--latency and --bandwidth are those of a network between ranks: give --ranks, too.")
    if not private and given & OF_PRIVACY:
        raise OptionError(
            "--delta, --records, --rounds, --start-share and --neighbours plan a private run: give --epsilon, too."
        )


def _plan_privacy(
    epsilon: float, delta: float | None, records: int | None, rounds: int, share: float, neighbours: str, json: bool
) -> None:
    from partwise.cli import spending

    plan = spending.spend(epsilon, delta, records, rounds, share, neighbours)  # type: ignore[arg-type]
    if json:
        spending.tell_json(plan)
    else:
        spending.tell(plan)
