"""How far a run is: a bar on a terminal, a line now and then elsewhere, nothing if asked to be quiet."""

from __future__ import annotations

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

    def at(self, t: int, what: str, seconds: float) -> None:
        """After t iterations, or rounds, in so many seconds; `what` is said of where things stand."""
        ...

    def say(self, message: str) -> None:
        """May be called from a signal's handler."""
        ...


@contextmanager
def watching(
    console: Console, most: int, *, quiet: bool, step: str = "iteration", every: int | None = None
) -> Iterator[Watch]:
    """The right one for where standard error goes. `every`: steps between lines where it is piped; else a tenth of `most`."""
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
            yield Bar(bar, most)
    else:
        yield Lines(console, most, step, every or max(1, -(-most // 10)))


def error_of(trace: Trace) -> str:
    """The newest relative error, or the loss where errors are not relative; nothing where only the start's is known."""
    known = trace.measured()
    if not known or (known[-1].t == 0 and trace.last.t > 0):
        return ""
    return f", relative error {ratio(trace.relative_error())}" if trace.scale > 0 else f", loss {ratio(known[-1].loss)}"


@final
class Silence:
    """Says nothing."""

    def __call__(self, state: State, trace: Trace) -> None:
        """Nothing to show."""

    def at(self, t: int, what: str, seconds: float) -> None:
        """Nothing to show."""

    def say(self, message: str) -> None:
        """Nothing to say."""


@final
class Lines:
    """A line every two seconds, and every so many steps."""

    def __init__(self, console: Console, most: int, step: str, every: int) -> None:
        self._console, self._most, self._step, self._every = console, most, step, every
        self._last = time.monotonic()

    def __call__(self, state: State, trace: Trace) -> None:
        self.at(trace.last.t, error_of(trace), trace.last.seconds)

    def at(self, t: int, what: str, seconds: float) -> None:
        """A line, if it is time for one."""
        now = time.monotonic()
        if t % self._every == 0 or now - self._last >= 2:
            self._last = now
            line = f"{self._step} {t} of {self._most}{what}, {duration(seconds)}"
            print(line, file=self._console.file, flush=True)  # the console would take its time to lay it out

    def say(self, message: str) -> None:
        """Straight to the file: the console may be in the middle of a line."""
        os.write(2, f"{message}\n".encode())


@final
class Bar:
    """A bar with the iteration, the error, the pace and the time left until the last iteration allowed."""

    def __init__(self, progress: Progress, most: int) -> None:
        self._progress, self._most = progress, most
        self._task = progress.add_task("starting", total=most)
        self._first: tuple[int, float] | None = None
        self._last = 0.0

    def __call__(self, state: State, trace: Trace) -> None:
        self.at(trace.last.t, error_of(trace), trace.last.seconds)

    def at(self, t: int, what: str, seconds: float) -> None:
        """Draw it, if it is time to."""
        now = time.monotonic()
        if self._first is None:
            self._first = (t, now)
        if now - self._last < 0.1 and t > self._first[0]:  # a bar that is drawn ten times a second is enough
            return
        self._last = now
        where = f"{t}/{self._most}{what}"  # short: all of it must fit 80 columns
        self._progress.update(self._task, completed=t, description=where + self._pace(t, now))

    def _pace(self, t: int, now: float) -> str:
        assert self._first is not None
        made, took = t - self._first[0], now - self._first[1]
        if made == 0 or took == 0:
            return ""
        each = took / made
        pace = f"{1 / each:.0f}/s" if each < 0.5 else f"{duration(each)} each"
        return f", {pace}, ≤ {duration(each * (self._most - t))}"

    def say(self, message: str) -> None:
        """In the bar, which draws itself soon."""
        self._progress.update(self._task, description=message)
