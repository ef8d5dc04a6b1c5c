"""Ctrl-C, SIGTERM and SIGUSR1, by which queues warn: finish the iteration, keep a checkpoint, leave. A second one leaves at once."""

from __future__ import annotations

import signal
from collections.abc import Callable
from types import FrameType
from typing import Any, Self, final

from partwise.cli.failures import Stopped
from partwise.currency import State
from partwise.drivers.trace import Trace

SIGNALS = [signal.SIGINT, signal.SIGTERM, *([signal.SIGUSR1] if hasattr(signal, "SIGUSR1") else [])]


@final
class Interrupts:
    """Within the block, a signal asks the run to stop; what the run was told to ignore stays ignored.

    `agree` makes one answer of what all ranks were asked: a signal may reach only one of them.
    """

    def __init__(self, say: Callable[[str], None], agree: Callable[[bool], bool] = bool) -> None:
        self.asked = False
        self._saved = False
        self._say, self._agree = say, agree
        self._before: dict[signal.Signals, Any] = {}

    def __enter__(self) -> Self:
        for number in SIGNALS:
            if signal.getsignal(number) is not signal.SIG_IGN:
                self._before[number] = signal.signal(number, self._handle)
        return self

    def __exit__(self, *failure: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _handle(self, number: int, frame: FrameType | None) -> None:
        if self.asked:
            raise KeyboardInterrupt
        self.asked = True
        self._say("stopping after this iteration (again: at once)")

    def urgent(self) -> bool:
        """Whether the run shall be saved now; asked by the keeper of checkpoints before the call below."""
        self._saved = self._agree(self.asked)
        return self._saved

    def __call__(self, state: State, trace: Trace) -> None:
        """An observer that ends the run, if this iteration was saved: a signal may have come since, and waits for the next."""
        if self._saved:
            raise Stopped
