"""`partwise run`: a verb on several ranks of this machine or of an allocation."""

from __future__ import annotations

from typing import Annotated

import typer

EXAMPLE = "Example:  partwise run -n 4 fit shards -k 20 -o run"

PASSED_ON = {"ignore_unknown_options": True, "allow_interspersed_args": False}  # options after the verb are the verb's

Ranks = Annotated[
    int, typer.Option("-n", "--ranks", min=1, metavar="P", help="How many processes.", show_default=False)
]
Command = Annotated[
    list[str], typer.Argument(metavar="VERB ...", help="The command without `partwise`.", show_default=False)
]


def run(command: Command, ranks: Ranks) -> None:
    """Start a verb on P ranks, by the mpiexec that came with the extra [mpi].

    The same as `mpiexec -n P partwise VERB ...`, without looking for an mpiexec. What ends a rank from outside ends the job, and is said.
    """
    from partwise.cli import running

    raise typer.Exit(running.run(command, ranks))
