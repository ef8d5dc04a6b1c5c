"""Jobs that really run: `mpiexec -n P`, and `partwise run -n P`. Skipped where there is no MPI."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from partwise.data.readers import read
from partwise.data.shards import write_shards

HERE = Path(__file__).parent
SHAPE = (61, 37)
SECONDS = 120  # that a job may take


def mpiexec() -> str:
    pytest.importorskip("mpi4py", reason="needs the extra [mpi]")
    beside = Path(sys.executable).parent / "mpiexec"
    if not beside.exists():
        pytest.skip("needs the mpiexec of the extra [mpi]")
    return str(beside)


@pytest.fixture(scope="session")
def folder(tmp_path_factory) -> Path:
    """One X in many forms: shards dense and sparse, and files that are read in place."""
    import h5py
    import zarr

    folder = tmp_path_factory.mktemp("mpi")
    rng = np.random.default_rng(0)
    n, m = SHAPE
    X = rng.random((n, 5)) @ rng.random((5, m)) + 0.05 * rng.random((n, m))
    np.save(folder / "dense.npy", X)
    sp.save_npz(folder / "sparse.npz", sp.csr_array(X * (rng.random((n, m)) < 0.4)))
    with h5py.File(folder / "X.h5", "w") as file:
        file.create_dataset("X", data=X, chunks=(8, 8))
    zarr.create_array(str(folder / "X.zarr"), data=X, chunks=(8, 8))
    for kind, suffix in (("dense", "npy"), ("sparse", "npz")):
        (folder / kind).mkdir()
        write_shards(folder / kind, [read(folder / f"{kind}.{suffix}")], memory=1 << 20)
    long = (rng.random((12_000, 6)) @ rng.random((6, 250))).astype(np.float32)
    np.save(folder / "long.npy", long)
    (folder / "long").mkdir()
    write_shards(folder / "long", [read(folder / "long.npy")], memory=1 << 22)
    return folder


@pytest.fixture
def start(folder, tmp_path):
    """Start a program on ranks; it is ended with the test."""
    started: list[subprocess.Popen[str]] = []

    def starting(*words: object) -> subprocess.Popen[str]:
        environment = os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "COLUMNS": "120"}
        job = subprocess.Popen([*map(str, words)], cwd=tmp_path, env=environment, text=True, stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)  # fmt: skip
        started.append(job)
        return job

    yield starting
    for job in started:
        if job.poll() is None:
            os.killpg(job.pid, signal.SIGKILL)
        job.communicate()


@pytest.fixture
def partwise(start):
    """`partwise run -n P ...` to its end: (exit code, standard output, standard error)."""

    def running(ranks: int, *words: object) -> tuple[int, str, str]:
        mpiexec()
        job = start(sys.executable, "-m", "partwise", "run", "-n", ranks, *words)
        said, told = job.communicate(timeout=SECONDS)
        return job.returncode, said, told

    return running


def wait_for(condition, seconds: float = 60.0) -> None:
    """Until something is the case."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it never came"
        time.sleep(0.02)
