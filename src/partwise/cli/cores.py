"""Whether there are cores for all the ranks of a machine and their threads."""

from __future__ import annotations

import os
import platform
import zlib

import numpy as np

from partwise.protocols import Comm
from partwise.reports.quantities import counted


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
