"""`partwise datasets`: the data sets that have a name."""

from __future__ import annotations

from typing import Annotated

import typer

from partwise.cli import options as o

app = typer.Typer(
    help="List the data sets that have a name, and get them.",
    no_args_is_help=False,
    epilog="Example:  partwise datasets get movielens_100k   ·   then: partwise fit movielens_100k -k 10",
)

Name = Annotated[str, typer.Argument(metavar="NAME", help="As `partwise datasets list` shows it.", show_default=False)]


@app.command("list", epilog="Example:  partwise datasets list")
def list_all(json: o.Json = False, debug: o.Debug = False) -> None:
    """Show what is known and what is here. Data sets under $PARTWISE_DATA are found first."""
    from rich.table import Table
    from rich.text import Text

    from partwise import datasets
    from partwise.cli import screen
    from partwise.reports.quantities import shape

    known = [(dataset, datasets.whereabouts(dataset.name)) for dataset in datasets.available()]
    if json:
        facts = [
            {"name": d.name, "shape": d.shape, "where": where, "title": d.title, "terms": d.terms} for d, where in known
        ]
        screen.show_json({"datasets": facts})
        return
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="bold")
    for name in ("name", "samples × features", "where", "what it is"):
        table.add_column(name, no_wrap=True)  # a terminal cuts titles short, a pipe gets them whole
    for dataset, where in known:
        table.add_row(
            Text(dataset.name), shape(dataset.shape) if dataset.shape else "from the text", where, Text(dataset.title)
        )
    screen.to_stdout(piped_width=200).print(table)


@app.command("get", epilog="Example:  partwise datasets get mnist")
def get(name: Name, json: o.Json = False, debug: o.Debug = False) -> None:
    """Fetch a data set unless it is here, by its checksum, and say where it lies."""
    from partwise import datasets
    from partwise.cli import screen

    dataset = datasets.describe(name)
    path = datasets.fetch(name)
    if json:
        screen.show_json({"name": name, "path": str(path), "shape": dataset.shape, "terms": dataset.terms})
        return
    rows = [("what", dataset.title), ("terms", dataset.terms), ("file", str(path))]
    screen.show(name, rows, [f"partwise fit {name} -k 10"])
