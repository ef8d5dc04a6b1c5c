"""All ranks of the job that this process was started in, and one fate for them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from partwise.comm.metered import Metered
from partwise.comm.own import OWN
from partwise.comm.simulated import Simulated
from partwise.errors import MissingExtraError, RunError
from partwise.launch import started
from partwise.protocols import Comm


def job(*, deterministic: bool = False) -> Comm:
    """All ranks of the job; one process alone if no launcher started more."""
    launched = started()
    if launched.by is None or launched.size == 1:
        return OWN
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


def as_comm(comm: Any) -> Comm:
    """One of ours, or an mpi4py communicator; None: all ranks of the job."""
    if comm is None:
        return job()
    if not hasattr(comm, "Allreduce"):
        return comm
    from partwise.comm import mpi

    return mpi.Mpi(comm)


@contextmanager
def one_fate(comm: Comm, tell: Callable[[BaseException], int]) -> Iterator[None]:
    """What fails within the block on one rank ends the job on all of them, instead of leaving the others to wait for ever.

    `tell(error)` says so to the user and gives the exit code; a process that leaves with an exit code has said why. One process alone
    fails as ever, and so do simulated ranks, and all ranks where all raise the same.
    """
    try:
        yield
    except BaseException as error:
        leaving = isinstance(error, SystemExit)
        nobody_waits = getattr(error, "on_all_ranks", False) or (leaving and not error.code)
        if comm.size == 1 or nobody_waits or not _are_processes(comm):
            raise
        from partwise.comm import mpi

        mpi.abort((error.code if isinstance(error.code, int) else 1) if leaving else tell(error))


def _are_processes(comm: Any) -> bool:
    while isinstance(comm, Metered):
        comm = comm.inner
    return not isinstance(comm, Simulated)


def _advice(launcher: str) -> str:
    if launcher == "srun":
        return "Say `srun --mpi=pmi2` (or pmix), or start with mpiexec inside of the allocation."
    return "Use the mpiexec of the MPI that mpi4py was built for: `partwise run -n P` finds it."
