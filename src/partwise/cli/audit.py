"""`partwise audit`: whether a private run kept its promise, checked without the data."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from partwise.cli import options as o

EXAMPLE = "Example:  partwise audit run"

Audited = Annotated[
    Path,
    typer.Argument(
        metavar="RUN", help="The directory of a private or federated run, or a ledger.jsonl.", show_default=False
    ),
]
Head = Annotated[
    str | None,
    typer.Option(
        "--head",
        metavar="DIGEST",
        help="The last digest of the ledger, where somebody wrote it down: then a new ledger in place of the old is noticed, too.",
    ),
]


def audit(run: Audited, head: Head = None, json: o.Json = False, debug: o.Debug = False) -> None:
    """Check the privacy ledger of a run: that it is as it was written, that it adds up, and that the budget was kept.

    The total ε is computed anew from the releases, by an independent library. Says who is protected against whom, how far, and what left
    for whom. Needs no data. The exit code is 1 if anything is wrong.
    """
    from partwise.cli import auditing

    found = auditing.audit(run, head)
    if json:
        auditing.tell_json(found)
    else:
        auditing.tell(found)
    if not found.sound:
        raise typer.Exit(1)
