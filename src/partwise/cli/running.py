"""What `partwise run` does: finds mpiexec, starts the ranks, hands on signals, and says what ended them."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from types import FrameType

from partwise.cli.failures import tell
from partwise.errors import MissingExtraError, OptionError
from partwise.launch import ON_RANKS, RUN_BY, started

ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")  # pools that nobody uses are not even made


def run(command: Sequence[str], ranks: int) -> int:
    """The exit code of the job."""
    if started().size > 1:
        raise OptionError("`partwise run` starts the ranks itself: leave mpiexec or srun out, or leave `run -n P` out.")
    if command[0] not in ON_RANKS:
        raise OptionError(
            f"{command[0]} runs in one process; on ranks run: {', '.join(ON_RANKS)}. Leave `run -n {ranks}` out."
        )
    words = [str(_mpiexec()), "-n", str(ranks), sys.executable, "-m", "partwise", *command]
    environment = dict.fromkeys(ONE_THREAD, "1") | dict(os.environ) | {RUN_BY: f"partwise run -n {ranks}"}
    job = subprocess.Popen(
        words, env=environment, start_new_session=True
    )  # Ctrl-C comes to us alone, and is handed on once
    for number in (signal.SIGINT, signal.SIGTERM, *_more_signals()):
        signal.signal(number, _handing_on(job))
    code = job.wait()
    return _explained(code if code >= 0 else 128 - code, ranks)


def _more_signals() -> list[signal.Signals]:
    return [signal.SIGUSR1] if hasattr(signal, "SIGUSR1") else []


def _handing_on(job: subprocess.Popen):
    def hand_on(number: int, frame: FrameType | None) -> None:
        job.send_signal(number)

    return hand_on


def _mpiexec() -> Path:
    """Beside this Python, where the package mpich puts it; else the system's."""
    beside = Path(sys.executable).parent / ("mpiexec.exe" if sys.platform == "win32" else "mpiexec")
    if beside.exists():
        return beside
    found = shutil.which("mpiexec")
    if found is None:
        raise MissingExtraError("A run on several ranks", "mpiexec", "mpi")
    return Path(found)


def _explained(code: int, ranks: int) -> int:
    """0, 1 and 2 were explained by a rank; of anything else we say what it was, as no rank could."""
    if code in (0, 1, 2):
        return code
    what = f"signal {code - 128 if code > 128 else code}"
    if code in (9, 137):
        what += ", by the system for want of memory, perhaps: `partwise plan --ranks` says what a rank needs"
    tell(f"One of the {ranks} ranks was ended from outside ({what}), and so the job. If the run kept a checkpoint, the same command "
         "with --resume goes on from it.")  # fmt: skip
    return 1
