"""`partwise reproduce`: the papers' figures and tables, and whether their claims hold here."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from partwise.cli import options as o

EXAMPLE = "Example:  partwise reproduce list   ·   then: partwise reproduce dsanls fig5 --quick -o reproduced"

Paper = Annotated[
    str,
    typer.Argument(help="dsanls, did, fnmf, fedmavg or ppnmf; `list` shows all that there is.", show_default=False),
]
Name = Annotated[
    str | None, typer.Argument(metavar="[FIGURE]", help="As in fig5 or table2; all of the paper if left out.")
]
Quick = Annotated[bool, typer.Option("--quick", help="Smaller data and fewer runs: two minutes each, at most.")]
Check = Annotated[
    bool, typer.Option("--check", help="Compare with stored results of this form; exit code 1 if they differ.")
]
Stored = Annotated[
    Path | None, typer.Option("--stored", metavar="DIR", help="Where these are; else those that come with partwise.")
]
Output = Annotated[
    Path,
    typer.Option("-o", "--output", metavar="DIR", help="Where to make a directory for each.", rich_help_panel="Output"),
]
Resume = Annotated[bool, typer.Option("--resume", help="Go on where a call was stopped.", rich_help_panel="Output")]
Force = Annotated[bool, typer.Option("--force", help="Replace earlier results.", rich_help_panel="Output")]


def reproduce(
    paper: Paper,
    name: Name = None,
    quick: Quick = False,
    check: Check = False,
    stored: Stored = None,
    output: Output = Path("reproduced"),
    resume: Resume = False,
    force: Force = False,
    json: o.Json = False,
    quiet: o.Quiet = False,
    debug: o.Debug = False,
) -> None:
    """Run a paper's experiment anew, and say whether its claim holds, holds in part, or does not hold here.

    Writes rows.csv, table.csv, a figure (SVG and PNG) and manifest.json for each. Runs are stored as they end: Ctrl-C, then --resume.
    """
    from partwise.cli import reproducing

    if paper == "list":
        reproducing.show_all(json=json)
        return
    place = reproducing.Place(output, stored, check, resume, force)
    reproducing.reproduce(paper, name, place, quick=quick, json=json, quiet=quiet)
