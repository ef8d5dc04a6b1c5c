"""Where a verb writes: results to standard output, everything else to standard error."""

from __future__ import annotations

import json
import logging
import os
import shlex
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from textwrap import wrap
from typing import Any

import typer
from rich.console import Console
from rich.text import Text

from partwise.launch import RUN_BY, started
from partwise.reports.run_directory import strict

Row = tuple[str, str]


def to_stderr() -> Console:
    """A console for progress and notes."""
    return Console(stderr=True, highlight=False)


def to_stdout(*, piped_width: int | None = None) -> Console:
    """A console for results."""
    return Console(highlight=False, width=None if sys.stdout.isatty() else piped_width)


def show(title: str, rows: Sequence[Row], after: Sequence[str] = ()) -> None:
    """A title, facts below it, and the commands that may come next, which are never broken."""
    out = to_stdout()
    names = max(len(name) for name, _ in rows) + 3
    out.print(Text(title, style="bold"), "", sep="\n")
    for name, value in rows:
        for number, line in enumerate(wrap(value, max(out.width - names - 2, 20), break_on_hyphens=False)):
            _row(out, "" if number else name, names, Text(line))
    for number, command in enumerate(after):
        _row(out, "" if number else "next", names, Text(command, style="cyan"))


def _row(out: Console, name: str, width: int, value: Text) -> None:
    out.print(Text.assemble((f"  {name:{width}}", "dim"), value), soft_wrap=True)


def show_json(content: Mapping[str, Any]) -> None:
    """One object on one line: the last on standard output."""
    typer.echo(json.dumps(strict(content), allow_nan=False))


def quoted(path: Path | str) -> str:
    """As one would type it in a shell."""
    return shlex.quote(str(path))


def typed(*also: str) -> str:
    """The command that was called, as typed in a shell; with more flags, in place of their like and of --force."""
    words, instead = list(sys.argv[1:]), [word for word in also if word.startswith("-")]
    kept: list[str] = []
    while words:
        word = words.pop(0)
        if word.partition("=")[0] in (*instead, "--force"):
            if words and "=" not in word and word not in ("--resume", "--force"):
                words.pop(0)  # its value
        else:
            kept.append(word)
    return shlex.join([*_start(), *kept, *also])


def _start() -> list[str]:
    """How `partwise` is started: as it was."""
    launched = started()
    flags = [f"--mpi={os.environ.get('SLURM_MPI_TYPE', 'pmi2')}", "--kill-on-bad-exit"] if launched.by == "srun" else []
    by = os.environ.get(RUN_BY, "").split() or [f"{launched.by}", *flags, "-n", f"{launched.size}", "partwise"]
    return ["partwise"] if launched.size == 1 else by


class Notes(logging.Handler):
    """What the library has to say on the way (that kernels are compiled, for one), each sentence once."""

    def __init__(self, console: Console) -> None:
        super().__init__(logging.WARNING)
        self._console, self._said = console, set[str]()

    def emit(self, record: logging.LogRecord) -> None:
        """Above the bar, where there is one."""
        message = record.getMessage()
        if message not in self._said:
            self._said.add(message)
            self._console.print(Text(message, style="yellow"), soft_wrap=True)

    def __enter__(self) -> None:
        logger = logging.getLogger("partwise")
        self._propagated, logger.propagate = logger.propagate, False
        logger.addHandler(self)

    def __exit__(self, *failure: object) -> None:
        logger = logging.getLogger("partwise")
        logger.removeHandler(self)
        logger.propagate = self._propagated
