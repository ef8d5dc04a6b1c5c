"""`partwise apply`: W of new samples, for the parts of an earlier run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from partwise.cli import options as o

EXAMPLE = "Example:  partwise apply run new.npz -o W.npy"

Target = Annotated[
    Path,
    typer.Option("-o", "--output", metavar="FILE", help="Where W goes: .npy, .csv or .tsv.", rich_help_panel="Output"),
]
Taken = Annotated[
    str | None, typer.Option(metavar="error|nan|zero", help="Else as in the run.", rich_help_panel="Data")
]
Refused = Annotated[str | None, typer.Option(metavar="error|clip", help="Else as in the run.", rich_help_panel="Data")]


def apply(
    run: o.Run,
    data: o.Data,
    output: Target = Path("W.npy"),
    key: o.Key = None,
    missing: Taken = None,
    negative: Refused = None,
    threads: o.Threads = None,
    force: o.Force = False,
    json: o.Json = False,
    quiet: o.Quiet = False,
    debug: o.Debug = False,
) -> None:
    """Find W of new samples for the parts H of an earlier run, exactly.

    Features are matched by name where run and data both have names: their order may differ, and none may be missing.
    """
    from partwise.cli import applying

    wanted = applying.Wanted(data, key, missing, negative)
    done = applying.apply(run, wanted, output, force=force, threads=threads)
    if json:
        applying.tell_json(done)
    elif not quiet:
        applying.tell(done)
