"""One process for one partial run: a second one that would go on with it, or start it over, is refused."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from partwise.errors import RunError

try:
    import fcntl
except ImportError:  # Windows: there a file that is in use cannot be removed, which has the same effect
    fcntl = None

LOCK = ".lock"


def refuse_if_busy(partial: Path) -> None:
    """Unless nobody works there now."""
    if (partial / LOCK).exists():
        with alone(partial):
            pass


@contextmanager
def alone(partial: Path) -> Iterator[None]:
    """Hold the directory; the system lets go of it when the process ends, however it ends."""
    with (partial / LOCK).open("wb") as file:
        try:
            if fcntl is not None:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise RunError(
                f"Another process is working in {partial}: wait for it or stop it, or use another -o."
            ) from None
        except OSError:  # a file system without locks: go on unprotected
            pass
        yield
