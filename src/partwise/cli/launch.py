"""How many processes were started together, and by whom: told by the launchers' environment, before anything of MPI is imported.

A run on a laptop never imports mpi4py.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import NamedTuple

from partwise.comm import OWN
from partwise.errors import MissingExtraError, RunError
from partwise.protocols import Comm

# (launcher, its number of processes, this one's number); the first pair that is there speaks
LAUNCHERS = (
    ("mpiexec", "PMI_SIZE", "PMI_RANK"),  # MPICH, Intel MPI, MVAPICH; srun --mpi=pmi2
    ("mpirun", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"),  # Open MPI
    ("srun", "SLURM_STEP_NUM_TASKS", "SLURM_PROCID"),  # any; set inside of a step only
)


class Started(NamedTuple):
    """What a launcher says: how many, which one, and its own name."""

    size: int
    rank: int
    by: str | None


ALONE = Started(1, 0, None)


def started(environment: Mapping[str, str] | None = None) -> Started:
    """Whether this process is one of several, by the environment alone."""
    seen = os.environ if environment is None else environment
    for launcher, size, rank in LAUNCHERS:
        if launcher == "srun" and "SLURM_STEP_ID" not in seen:
            continue  # a batch script's own process, not one of srun's
        if seen.get(size, "").isdigit() and seen.get(rank, "").isdigit():
            return Started(int(seen[size]), int(seen[rank]), launcher)
    return ALONE


def world(*, deterministic: bool = False) -> Comm:
    """All ranks of the job; one process alone if no launcher started more."""
    launched = started()
    if launched.by is None or launched.size == 1:
        return OWN
    # MPICH's own line for a job that was ended would stand below our sentence
    os.environ.setdefault("MPIR_CVAR_SUPPRESS_ABORT_MESSAGE", "1")
    try:
        from partwise.comm import mpi
    except MissingExtraError:
        raise
    except (ImportError, RuntimeError) as error:  # mpi4py finds no MPI library, or one that does not start
        raise RunError(f"{launched.by} started {launched.size} processes, but MPI does not load ({error}). Install the extra: "
                       "pip install 'partwise[mpi]', or build mpi4py for the cluster's MPI.") from None  # fmt: skip
    comm = mpi.world(deterministic)
    if comm.size != launched.size:
        raise RunError(
            f"{launched.by} started {launched.size} processes, but MPI sees {comm.size}: each would make the whole run for "
            f"itself. {_advice(launched.by)}"
        )
    return comm


def _advice(launcher: str) -> str:
    if launcher == "srun":
        return "Say `srun --mpi=pmi2` (or pmix), or start with mpiexec inside of the allocation."
    return "Use the mpiexec of the MPI that mpi4py was built for: `partwise run -n P` finds it."
