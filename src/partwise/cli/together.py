"""The command line of one of several ranks: rank 0 tells the results, and whoever fails ends the job for all."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

from partwise.cli.failures import sentence, tell
from partwise.comm import job, one_fate
from partwise.errors import PartwiseError


def main(verbs: Callable[[], None]) -> None:
    """Call the verbs, which leave with an exit code, having said why."""
    try:
        comm = job()
    except PartwiseError as error:
        tell(sentence(error))
        sys.exit(1)
    with Path(os.devnull).open("w", encoding="utf-8") as nowhere, one_fate(comm, _bug):
        if comm.rank != 0:
            sys.stdout = nowhere  # results are told once
        verbs()


def _bug(error: BaseException) -> int:
    """What the verbs themselves did not turn into a sentence."""
    tell(sentence(error if isinstance(error, Exception) else RuntimeError(repr(error))))
    return 1
