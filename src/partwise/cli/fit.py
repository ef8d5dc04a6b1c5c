"""`partwise fit`: from data to a run directory."""

from __future__ import annotations

from pathlib import Path

import typer

from partwise.cli import options as o
from partwise.cli import privacy as p
from partwise.errors import OptionError
from partwise.launch import started

EXAMPLE = (
    "Example:  partwise fit counts.npz -k 20 --loss kullback-leibler -o run   ·   then: partwise apply run new.npz"
)


def fit(
    context: typer.Context,
    data: o.Data,
    k: o.Components,
    output: o.Output = Path("run"),
    solver: o.Solver = "auto",
    solver_option: o.SolverOption = None,
    loss: o.Loss = "frobenius",
    init: o.Init = None,
    seed: o.Seed = 0,
    alpha_w: o.AlphaW = 0.0,
    alpha_h: o.AlphaH = "same",
    l1_ratio: o.L1Ratio = 0.0,
    normalize: o.Normalize = None,
    max_iter: o.MaxIter = 200,
    tol: o.Tol = 1e-4,
    max_seconds: o.MaxSeconds = None,
    target_error: o.TargetError = None,
    key: o.Key = None,
    missing: o.Missing = "error",
    negative: o.Negative = "error",
    dtype: o.Dtype = None,
    algorithm: o.Algorithm = None,
    grid: o.Grid = None,
    latency: o.Latency = None,
    bandwidth: o.Bandwidth = None,
    deterministic: o.Deterministic = False,
    epsilon: p.Epsilon = None,
    delta: p.Delta = None,
    neighbours: p.Neighbours = "replace",
    records: p.Records = None,
    row_norm: p.RowNorm = "unit",
    density: p.Density = None,
    publish_error: p.PublishError = 0.0,
    ledger: p.LedgerPath = None,
    mechanism: p.Mechanism = "lattice",
    insecure_seed: p.InsecureSeed = None,
    threads: o.Threads = None,
    checkpoint_every: o.CheckpointEvery = None,
    resume: o.Resume = False,
    force: o.Force = False,
    json: o.Json = False,
    quiet: o.Quiet = False,
    debug: o.Debug = False,
) -> None:
    """Find the parts: W and H, nonnegative, with X ≈ W H.

    Makes a run directory with the model, the trace and a manifest. It is whole or absent: until the end it is called RUN.partial.
    Ctrl-C keeps a checkpoint, from which --resume goes on as if nothing had happened. Under mpiexec or srun, and with --algorithm, each
    process reads its part of X and finds its part of W and H: see docs/cluster.md.

    With --epsilon and --delta: parts that may be published, since no single record changes them noticeably. Then --solver is moments,
    residual, plain or ppnmf; the run holds H and a ledger, which partwise audit checks.
    """
    if p.asked(context):
        from partwise.cli import fitting_privately

        fitting_privately.fit(context.params)
        return
    from partwise.cli import fitting, results, wishes
    from partwise.estimators.settings import Settings

    settings = Settings(
        n_components=k, solver=solver, beta_loss=wishes.loss(loss), init=wishes.init(init), tol=tol, max_iter=max_iter,
        max_seconds=max_seconds, target_error=target_error, alpha_W=alpha_w, alpha_H=wishes.alpha_H(alpha_h),
        l1_ratio=l1_ratio, normalize=normalize, seed=seed, options=wishes.solver_options(solver_option),
    )  # fmt: skip
    wanted = fitting.Wanted(data, key, missing, negative, wishes.dtype(dtype))
    place = fitting.Place(output, wishes.pace(checkpoint_every), force, resume)
    if started().size > 1 or algorithm is not None:
        from partwise.cli import fitting_on_ranks

        network = wishes.network(latency, bandwidth)
        how = fitting_on_ranks.How(algorithm or "auto", wishes.grid(grid), deterministic, network)
        done = fitting_on_ranks.fit(wanted, settings, place, how, threads=threads, quiet=quiet)
    elif grid is not None or deterministic or latency is not None or bandwidth is not None:
        raise OptionError(
            "--grid, --deterministic, --latency and --bandwidth are for several ranks: start with mpiexec or `partwise run -n P`."
        )
    else:
        done = fitting.fit(wanted, settings, place, threads=threads, quiet=quiet)
    if json:
        results.tell_json(done)
    elif not quiet:
        results.tell(done)
