"""Ctrl-C and SIGTERM: finish the iteration, keep a checkpoint, leave. A second one leaves at once."""

from __future__ import annotations

import signal
from collections.abc import Callable
from types import FrameType
from typing import Any, Self, final

from partwise.cli.failures import Stopped
from partwise.currency import State
from partwise.drivers.trace import Trace

SIGNALS = (signal.SIGINT, signal.SIGTERM)


@final
class Interrupts:
    """Within the block, a signal asks the run to stop; what the run was told to ignore stays ignored."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self.asked = False
        self._saved = False
        self._say = say
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
        self._saved = self.asked
        return self._saved

    def __call__(self, state: State, trace: Trace) -> None:
        """An observer that ends the run, if this iteration was saved: a signal may have come since, and waits for the next."""
        if self._saved:
            raise Stopped
