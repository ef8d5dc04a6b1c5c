"""What MPI's ranks say to one another is what simulated ranks would."""

from __future__ import annotations

import numpy as np
import pytest

from partwise.comm import Grid, as_comm, grids, job, simulate
from partwise.errors import RunError


def talk(comm):
    """Every word of the protocol, with odd numbers."""
    rng = np.random.default_rng(comm.rank)
    A = rng.standard_normal((3, 10))
    widths = [p * 2 % 3 for p in range(comm.size)]
    said = [comm.sum(A), comm.gather(A[:, : widths[comm.rank]], widths), comm.broadcast(A, comm.size - 1)]
    wide = rng.standard_normal((2, sum(widths)))
    said.append(comm.sum_scatter(wide, widths))
    comm.barrier()
    comm.send(A.astype(np.float32), (comm.rank + 1) % comm.size, tag=7)
    came = comm.receive((comm.rank - 1) % comm.size, tag=7)
    said.append(came.array)
    for shape in grids(comm.size):
        grid = Grid.of(comm, shape)
        said += [grid.row.sum(A), grid.column.gather(A, [10] * grid.column.size)]
    return said


@pytest.mark.parametrize("deterministic", [True, False])
def test_every_word(comm, deterministic):
    mine = talk(job(deterministic=deterministic))
    simulated = simulate(talk, comm.size).results[comm.rank]
    for real, expected in zip(mine, simulated, strict=True):
        assert real.dtype == expected.dtype
        if deterministic or comm.size == 2:
            assert np.array_equal(real, expected)
        else:
            np.testing.assert_allclose(real, expected, rtol=1e-12, atol=1e-12)


def test_a_communicator_of_mpi4py_will_do(comm):
    from mpi4py import MPI

    assert as_comm(MPI.COMM_WORLD).size == as_comm(None).size == comm.size
    assert as_comm(comm) is comm


def test_widths_that_do_not_fit_are_refused_before_anyone_waits(comm):
    with pytest.raises(RunError, match=f"Rank {comm.rank} of {comm.size} gathers"):
        comm.gather(np.ones((2, 3)), [1] * comm.size)
