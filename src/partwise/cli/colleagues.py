"""What the ranks of a run check of one another before they begin: same version, same wishes, same data; cores for all."""

from __future__ import annotations

import json
import os
import platform
import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np

from partwise.errors import RunError
from partwise.protocols import Comm
from partwise.reports.quantities import counted


def agree(comm: Comm, facts: Mapping[str, Any]) -> None:
    """All ranks must say the same; one that differs from rank 0 ends the run with what differs."""
    mine = json.loads(json.dumps(facts, sort_keys=True, default=str))
    theirs = json.loads(_text_of_first(comm, json.dumps(mine, sort_keys=True)))
    differing = [name for name in sorted({*mine, *theirs}) if mine.get(name) != theirs.get(name)]
    if differing:
        said = "; ".join(f"{name} is {mine.get(name)!r} here and {theirs.get(name)!r} on rank 0" for name in differing)
        raise RunError(f"The ranks do not agree: {said}. Start all of them with the same version, command and data.")
    comm.barrier()


def _text_of_first(comm: Comm, text: str) -> str:
    """Rank 0's text, on every rank."""
    mine = np.frombuffer(text.encode(), np.uint8)
    length = int(comm.broadcast(np.array([len(mine)], np.int64))[0])
    return comm.broadcast(mine if comm.rank == 0 else np.zeros(length, np.uint8)).tobytes().decode()


def crowded(comm: Comm, threads: int) -> str | None:
    """A sentence, where the ranks of this machine and their threads are more than the cores that they may use together."""
    ranks, cores = _on_this_machine(comm)
    if comm.size == 1 or ranks * threads <= cores:
        return None
    return (
        f"{counted(ranks, 'rank')} with {counted(threads, 'thread')} each share {counted(cores, 'core')} of this machine: "
        "they will wait for one another. Start fewer, or say --threads 1."
    )


def _on_this_machine(comm: Comm) -> tuple[int, int]:
    """(ranks, cores that these may use): by the names of machines, and by which cores each rank is bound to."""
    most = 8192  # cores of a machine, at most
    bound = np.zeros(most, np.uint8)
    allowed = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else range(os.cpu_count() or 1)
    bound[[core for core in allowed if core < most]] = 1
    name = np.frombuffer(zlib.crc32(platform.node().encode()).to_bytes(4, "little"), np.uint8)
    told = comm.gather(np.concatenate([name, np.packbits(bound)])[:, None], [1] * comm.size)
    here = (told[:4] == name[:, None]).all(axis=0)
    together = np.bitwise_or.reduce(told[4:, here], axis=1)
    return int(here.sum()), int(np.unpackbits(together).sum())
