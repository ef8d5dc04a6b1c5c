"""What all ranks must see alike, lest one goes on while another stops."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np

from partwise.comm import sum_numbers
from partwise.drivers.trace import Point
from partwise.errors import DataError, OptionError, PartwiseError, RunError
from partwise.protocols import Comm

KINDS = (DataError, OptionError, RunError)  # what an error of another rank can be here


def agreed(comm: Comm, point: Point) -> Point:
    """Rank 0's word on where the run stands, its clock among it: four numbers from one rank to all."""
    if comm.size == 1:
        return point
    loss, penalty, violation, seconds = comm.broadcast(np.array(point[1:], np.float64))
    return Point(point.t, float(loss), float(penalty), float(violation), float(seconds))


def anyone(comm: Comm, says_so: bool) -> bool:
    """Whether any rank says so: a signal, say, that reached only one of them. A collective call."""
    return sum_numbers(comm, float(says_so))[0] > 0


@contextmanager
def all_or_none(comm: Comm) -> Iterator[None]:
    """What fails within the block on one rank fails on all of them, with the first such rank's sentence. A collective call in the end.

    For what every rank does by itself, such as reading its part: within the block nobody may wait for another.
    """
    failure: Exception | None = None
    try:
        yield
    except Exception as error:
        if comm.size == 1:
            raise
        failure = error
    kinds = comm.gather(np.array([_kind(failure)], np.int64), [1] * comm.size)
    if not kinds.any():
        return
    first = int(np.flatnonzero(kinds)[0])
    said = text_of(comm, "" if failure is None else _words(failure), first)
    shared = KINDS[int(kinds[first]) - 1](f"rank {first} of {comm.size}: {said}")
    shared.on_all_ranks = True
    raise shared from failure


def text_of(comm: Comm, text: str, root: int = 0) -> str:
    """One rank's text, on every rank."""
    mine = np.frombuffer(text.encode(), np.uint8)
    length = int(comm.broadcast(np.array([len(mine)], np.int64), root)[0])
    return comm.broadcast(mine if comm.rank == root else np.zeros(length, np.uint8), root).tobytes().decode()


def agree(comm: Comm, facts: Mapping[str, Any]) -> None:
    """All ranks must say the same; one that differs from rank 0 ends the run with what differs."""
    mine = json.loads(json.dumps(facts, sort_keys=True, default=str))
    theirs = json.loads(text_of(comm, json.dumps(mine, sort_keys=True)))
    differing = [name for name in sorted({*mine, *theirs}) if mine.get(name) != theirs.get(name)]
    with all_or_none(comm):
        if differing:
            said = "; ".join(
                f"{name} is {mine.get(name)!r} here and {theirs.get(name)!r} on rank 0" for name in differing
            )
            raise RunError(
                f"The ranks do not agree: {said}. Start all of them with the same version, command and data."
            )


def _kind(failure: Exception | None) -> int:
    """0: none; else which of `KINDS` it is, what is none of them being a failed run."""
    if failure is None:
        return 0
    return next((at for at, kind in enumerate(KINDS, start=1) if isinstance(failure, kind)), len(KINDS))


def _words(failure: Exception) -> str:
    return str(failure) if isinstance(failure, PartwiseError) else f"{type(failure).__name__}: {failure}"
