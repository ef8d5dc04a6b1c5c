"""`partwise compare`: methods side by side on one's own data."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from partwise.cli import options as o

EXAMPLE = "Example:  partwise compare digits -k 16 --methods auto,bpp,mu --peers sklearn --seeds 5 -o compared"

_RACE = "Race"
Methods = Annotated[
    str,
    typer.Option(
        "--methods",
        metavar="NAME,…",
        help="auto, hals, bpp, …; did, dsanls, … on simulated ranks; or a method that another package brings; with options as in "
        "hals:acceleration=1 or did:ranks=8.",
        rich_help_panel=_RACE,
    ),
]
Peers = Annotated[
    str,
    typer.Option(
        "--peers",
        metavar="NAME,…",
        help="Other libraries: sklearn, nmf-torch, torchnmf, nimfa, or one method, as in sklearn-cd.",
        rich_help_panel=_RACE,
    ),
]
Seeds = Annotated[int, typer.Option("--seeds", min=1, metavar="N", help="How many starts.", rich_help_panel=_RACE)]
Gap = Annotated[
    float,
    typer.Option(
        "--gap",
        min=0.0,
        metavar="SHARE",
        help="The target: this much above the least error that anybody reached from the same start.",
        rich_help_panel=_RACE,
    ),
]
Seconds = Annotated[
    float, typer.Option("--max-seconds", min=0.0, metavar="SECONDS", help="Of a run, at most.", rich_help_panel=_RACE)
]
Iterations = Annotated[
    int, typer.Option("--max-iter", min=1, metavar="N", help="Of a run, at most.", rich_help_panel=_RACE)
]
Output = Annotated[
    Path, typer.Option("-o", "--output", metavar="DIR", help="The directory to make.", rich_help_panel="Output")
]
Resume = Annotated[bool, typer.Option("--resume", help="Go on where a call was stopped.", rich_help_panel="Output")]
Force = Annotated[bool, typer.Option("--force", help="Replace earlier results of this name.", rich_help_panel="Output")]


def compare(
    data: o.Data,
    k: o.Components,
    methods: Methods = "auto,bpp,mu",
    peers: Peers = "",
    seeds: Seeds = 5,
    gap: Gap = 0.01,
    max_seconds: Seconds = 5.0,
    max_iter: Iterations = 1000,
    seed: o.Seed = 0,
    init: o.Init = None,
    key: o.Key = None,
    negative: o.Negative = "error",
    dtype: o.Dtype = None,
    threads: o.Threads = None,
    output: Output = Path("compared"),
    resume: Resume = False,
    force: Force = False,
    json: o.Json = False,
    quiet: o.Quiet = False,
    debug: o.Debug = False,
) -> None:
    """Run methods from the same starts, and say how long each takes to which error.

    Writes runs.csv, curves.csv, summary.csv, a figure (SVG and PNG) and manifest.json. A run ends when it has settled, or when its
    time or its iterations are used up. Ctrl-C keeps the runs that are done; --resume goes on.
    """
    from partwise.cli import comparing

    wanted = comparing.Wanted(
        data, key, negative, dtype, k, methods, peers, seeds, seed, init, gap, max_seconds, max_iter
    )
    comparing.compare(wanted, output, threads=threads, resume=resume, force=force, json=json, quiet=quiet)
