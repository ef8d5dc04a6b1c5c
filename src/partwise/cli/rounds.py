"""How far a call of many runs is: a bar on a terminal, a line for each run elsewhere, nothing if asked to be quiet."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

Tell = Callable[[int, str], None]  # (how many are done, what was the last one)


@contextmanager
def telling(console: Console, total: int, *, quiet: bool) -> Iterator[Tell]:
    """The right way for where standard error goes."""
    if quiet:
        yield lambda number, what: None
    elif console.is_terminal:
        columns = (
            SpinnerColumn(),
            BarColumn(12),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("{task.description}"),
        )
        with Progress(*columns, console=console, transient=True) as bar:
            task = bar.add_task("starting", total=total)
            yield lambda number, what: bar.update(task, completed=number, description=what)
    else:
        yield lambda number, what: print(f"{number} of {total}: {what}", file=console.file, flush=True)
