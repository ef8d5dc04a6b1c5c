"""How many processes were started together, by whom, and who of them speaks: by the launchers' environment, before anything is imported.

A run on a laptop never imports mpi4py; `comm.job` does for a run on ranks.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from typing import NamedTuple

# (launcher, its number of processes, this one's number); the first pair that is there speaks, but see `started`
LAUNCHERS = (
    ("mpiexec", "PMI_SIZE", "PMI_RANK"),  # MPICH, Intel MPI, MVAPICH
    ("mpirun", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"),  # Open MPI
    ("srun", "SLURM_STEP_NUM_TASKS", "SLURM_PROCID"),  # any; set inside of a step only
)

ON_RANKS = ("fit",)  # the verbs that know what to do on several ranks
RUN_BY = "PARTWISE_RUN_BY"  # where `partwise run` tells its ranks how they were started
GRACE = (
    0.5  # seconds in which rank 0 may speak for all, before another rank does; a tenth of it lies between any other two
)
MOST_APART = 20


class Started(NamedTuple):
    """What a launcher says: how many, which one, and its own name."""

    size: int
    rank: int
    by: str | None


ALONE = Started(1, 0, None)


def started(environment: Mapping[str, str] | None = None) -> Started:
    """Whether this process is one of several, by the environment alone."""
    seen = os.environ if environment is None else environment
    told: list[Started] = []
    for launcher, size, rank in LAUNCHERS:
        if launcher == "srun" and "SLURM_STEP_ID" not in seen:
            continue  # a batch script's own process, not one of srun's
        if seen.get(size, "").isdigit() and seen.get(rank, "").isdigit():
            told.append(Started(int(seen[size]), int(seen[rank]), launcher))
    if not told:
        return ALONE
    first, last = told[0], told[-1]
    # srun --mpi=pmi2 sets the numbers of mpiexec too, to the same; an mpiexec inside of a step counts its own
    return last if last.by == "srun" and last[:2] == first[:2] else first


def let_rank_0_speak() -> None:
    """Where all ranks fail alike, its word is enough: it ends the job while the others wait here, before words of their own."""
    rank = started().rank
    if rank:
        time.sleep(GRACE + min(rank, MOST_APART) * GRACE / 10)
