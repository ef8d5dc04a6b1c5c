"""`partwise federate`: studies between organisations that keep their data."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from partwise.cli import options as o

app = typer.Typer(
    help="Find common parts between organisations that keep their data: only what is of the size of H leaves them.",
    no_args_is_help=False,
    epilog="Example:  partwise federate simulate study.toml -o run",
)

EXAMPLE = "Example:  partwise federate simulate study.toml -o run   ·   then: partwise apply run new.npz"

Study = Annotated[
    Path,
    typer.Argument(metavar="STUDY", help="The file study.toml; docs/federated.md has all of it.", show_default=False),
]
Pooled = Annotated[
    bool,
    typer.Option("--pooled", help="Also fit the data in one place, which only a simulation can, and tell the gap."),
]


@app.command("simulate", epilog=EXAMPLE)
def simulate(
    study: Study,
    output: o.Output = Path("run"),
    pooled: Pooled = False,
    threads: o.Threads = None,
    resume: o.Resume = False,
    force: o.Force = False,
    json: o.Json = False,
    quiet: o.Quiet = False,
    debug: o.Debug = False,
) -> None:
    """Rehearse a study in this process: its parties, server, and every message between them.

    Makes a run directory with the model, every party's W, the trace by rounds, and a transcript of all that went. It is whole or absent:
    until the end it is called RUN.partial. Ctrl-C keeps what the round at hand has reached; --resume goes on, also with more rounds.

    \b
    A study.toml that deals out one matrix:
        study = "digits"
        n_components = 16
        method = "exact"          # fnmf, fedavg, fedprox, syn-sd, asyn-sd, …
        rounds = 15
        \\[simulate]
        data = "digits"           # a file beside it, or a data set's name
        parties = 20
        partition = "label"       # iid, label, dirichlet:0.3, skewed:0.5
        speeds = "uniform:1..10"  # how fast parties are; or equal
        dropout = 0.05            # how often one is missing

    \b
    Instead of data in \\[simulate], each party with data of its own:
        [\\[party]]
        name = "north"
        data = "north.csv"
    """
    from partwise.cli import federating

    done = federating.simulate(
        study, federating.Place(output, force, resume), threads=threads, pooled=pooled, quiet=quiet
    )
    if json:
        federating.tell_json(done)
    elif not quiet:
        federating.tell(done)
