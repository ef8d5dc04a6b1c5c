"""How far a run is: a bar on a terminal, a line now and then elsewhere, nothing if asked to be quiet."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol, final

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn

from partwise.currency import State
from partwise.drivers.trace import Trace
from partwise.reports.quantities import duration, ratio


class Watch(Protocol):
    """An observer that can also be told something."""

    def __call__(self, state: State, trace: Trace) -> None: ...

    def say(self, message: str) -> None:
        """May be called from a signal's handler."""
        ...


@contextmanager
def watching(console: Console, max_iter: int, *, quiet: bool) -> Iterator[Watch]:
    """The right one for where standard error goes."""
    if quiet:
        yield Silence()
    elif console.is_terminal:
        bar = Progress(
            SpinnerColumn(),
            BarColumn(12),
            TextColumn("{task.description}"),
            console=console,
            transient=True,
        )
        with bar:
            yield Bar(bar, max_iter)
    else:
        yield Lines(console, max_iter)


def error_of(trace: Trace) -> str:
    """The relative error, or the loss where errors are not relative; nothing where neither was measured."""
    if trace.scale > 0:
        return f", relative error {ratio(trace.relative_error())}"
    return "" if math.isnan(trace.last.loss) else f", loss {ratio(trace.last.loss)}"


@final
class Silence:
    """Says nothing."""

    def __call__(self, state: State, trace: Trace) -> None:
        """Nothing to show."""

    def say(self, message: str) -> None:
        """Nothing to say."""


@final
class Lines:
    """A line every two seconds, and every tenth of the way."""

    def __init__(self, console: Console, max_iter: int) -> None:
        self._console, self._max_iter = console, max_iter
        self._tenth = max(1, -(-max_iter // 10))
        self._last = time.monotonic()

    def __call__(self, state: State, trace: Trace) -> None:
        now = time.monotonic()
        if trace.last.t % self._tenth == 0 or now - self._last >= 2:
            self._last = now
            line = f"iteration {trace.last.t} of {self._max_iter}{error_of(trace)}, {duration(trace.last.seconds)}"
            print(line, file=self._console.file, flush=True)  # the console would take its time to lay it out

    def say(self, message: str) -> None:
        """Straight to the file: the console may be in the middle of a line."""
        os.write(2, f"{message}\n".encode())


@final
class Bar:
    """A bar with the iteration, the error, the pace and the time left until the last iteration allowed."""

    def __init__(self, progress: Progress, max_iter: int) -> None:
        self._progress, self._max_iter = progress, max_iter
        self._task = progress.add_task("starting", total=max_iter)
        self._first: tuple[int, float] | None = None
        self._last = 0.0

    def __call__(self, state: State, trace: Trace) -> None:
        now = time.monotonic()
        if self._first is None:
            self._first = (trace.last.t, now)
        if now - self._last < 0.1 and trace.last.t > self._first[0]:  # a bar that is drawn ten times a second is enough
            return
        self._last = now
        where = f"{trace.last.t}/{self._max_iter}{error_of(trace)}"  # short: all of it must fit 80 columns
        self._progress.update(self._task, completed=trace.last.t, description=where + self._pace(trace.last.t, now))

    def _pace(self, t: int, now: float) -> str:
        assert self._first is not None
        made, took = t - self._first[0], now - self._first[1]
        if made == 0 or took == 0:
            return ""
        each = took / made
        pace = f"{1 / each:.0f}/s" if each < 0.5 else f"{duration(each)} each"
        return f", {pace}, ≤ {duration(each * (self._max_iter - t))}"

    def say(self, message: str) -> None:
        """In the bar, which draws itself soon."""
        self._progress.update(self._task, description=message)
