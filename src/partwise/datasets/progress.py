"""How far a download is, on a terminal."""

from __future__ import annotations

from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn, TransferSpeedColumn


class Bar:
    """A bar on standard error in the form that pooch drives; it appears with the first bytes."""

    def __init__(self, title: str) -> None:
        self.total = 0  # set by pooch
        self._title = title
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            DownloadColumn(),
            TransferSpeedColumn(),
            TimeRemainingColumn(),
            console=Console(stderr=True),
        )

    def update(self, count: int) -> None:
        """`count` more bytes have come."""
        if not self._bar.tasks:
            self._bar.start()
            self._bar.add_task(self._title, total=self.total or None)
        self._bar.advance(self._bar.task_ids[0], count)

    def reset(self) -> None:
        """Back to nothing: pooch then counts the whole file once more."""
        if self._bar.tasks:
            self._bar.reset(self._bar.task_ids[0])

    def close(self) -> None:
        """Leaves the terminal as it is."""
        self._bar.stop()
