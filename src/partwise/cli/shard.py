"""`partwise shard`: a directory of which each rank of a cluster reads its own part alone."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from partwise.cli import options as o

EXAMPLE = "Example:  partwise shard counts.npz -o shards   ·   then: mpiexec -n 4 partwise fit shards -k 20"

Sources = Annotated[
    list[str],
    typer.Argument(
        metavar="DATA",
        help="A file or the name of a data set; several are stacked by rows. With --verify: directories of shards.",
        show_default=False,
    ),
]
Target = Annotated[
    Path, typer.Option("-o", "--output", metavar="DIR", help="The directory to make.", rich_help_panel="Output")
]
Kept = Annotated[
    str | None,
    typer.Option(
        "--dtype", metavar="float32|float64", help="Store as this; else as the data is.", rich_help_panel="Data"
    ),
]
Memory = Annotated[
    int, typer.Option("--memory", min=1, metavar="MB", help="Megabytes of X at a time.", rich_help_panel="Output")
]
Verify = Annotated[
    bool, typer.Option("--verify", help="Make nothing: read shards and compare their digests.", rich_help_panel="Data")
]


def shard(
    data: Sources,
    output: Target = Path("shards"),
    key: o.Key = None,
    dtype: Kept = None,
    memory: Memory = 256,
    verify: Verify = False,
    force: o.Force = False,
    json: o.Json = False,
    quiet: o.Quiet = False,
    debug: o.Debug = False,
) -> None:
    """Write X by rows and by columns, so that a rank of a cluster reads its part and no more.

    The directory is whole or absent. It is also data like any other: `partwise fit DIR` reads it on a laptop.
    """
    from partwise.cli import sharding, wishes

    if verify:
        sharding.verify([Path(folder) for folder in data], json=json, quiet=quiet)
        return
    made = sharding.shard(data, key, wishes.dtype(dtype), output, memory=memory * 1_000_000, force=force, quiet=quiet)
    if json:
        sharding.tell_json(made)
    elif not quiet:
        sharding.tell(made)
