"""`partwise plan`: what a fit would take, before it is begun."""

from __future__ import annotations

from partwise.cli import options as o

EXAMPLE = "Example:  partwise plan counts.npz -k 50 --threads 8"


def plan(
    data: o.Data,
    k: o.Components,
    solver: o.Solver = "auto",
    solver_option: o.SolverOption = None,
    loss: o.Loss = "frobenius",
    max_iter: o.MaxIter = 200,
    key: o.Key = None,
    missing: o.Missing = "error",
    negative: o.Negative = "error",
    dtype: o.Dtype = None,
    threads: o.Threads = None,
    json: o.Json = False,
    debug: o.Debug = False,
) -> None:
    """Say which solver a fit would use, and predict its memory and its time on this machine.

    Reads the data and makes a few steps on some rows of it; writes nothing.
    """
    from partwise.cli import planning, wishes
    from partwise.estimators.settings import Settings

    settings = Settings(
        n_components=k, solver=solver, beta_loss=wishes.loss(loss), max_iter=max_iter, options=wishes.solver_options(solver_option)
    )  # fmt: skip
    found = planning.plan(data, key, missing, negative, wishes.dtype(dtype), settings, threads=threads)
    if json:
        planning.tell_json(found)
    else:
        planning.tell(found)
