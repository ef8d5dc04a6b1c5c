"""`partwise run -n P fit`: its run directory, and what is left of it when a rank dies, when it is stopped, and when the call is bad."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from mpi.conftest import mpiexec, wait_for
from partwise.reports.run_contents import read_run

pytestmark = pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="ranks are found in /proc")
ITERATIONS = 150
FIT = ("-k", 4, "--tol", 0, "--max-iter", ITERATIONS, "--algorithm", "did", "--init", "random")
FAILING = """
import sys
from partwise import factorize_on_ranks
from partwise.comm import job

def observe(state, trace):
    if job().rank == 1 and trace.last.t == 3:
        raise ArithmeticError("three is enough")

factorize_on_ranks(sys.argv[1], 3, tol=0, max_iter=10_000_000, observers=[observe])
"""


def pid_of(rank: int, where: Path) -> int | None:
    """The process of a rank, by where it runs and what its launcher told it."""
    for process in Path("/proc").glob("[0-9]*"):
        try:
            here = (process / "cwd").resolve() == where.resolve()
            if here and f"PMI_RANK={rank}".encode() in (process / "environ").read_bytes().split(b"\0"):
                return int(process.name)
        except OSError:
            continue
    return None


@pytest.fixture(scope="module")
def undisturbed(folder, tmp_path_factory):
    """What a run that nobody stops makes, once."""
    mpiexec()
    place = tmp_path_factory.mktemp("undisturbed")
    words = [
        sys.executable,
        "-m",
        "partwise",
        "run",
        "-n",
        2,
        "fit",
        folder / "long",
        *FIT,
        "-o",
        place / "run",
        "--json",
    ]
    done = subprocess.run([*map(str, words)], capture_output=True, text=True, timeout=120, check=False, cwd=place)
    assert done.returncode == 0, done.stderr
    return place / "run", done


def bytes_of(run: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in run.glob("*.safetensors")}


def test_a_run_directory_of_shards_is_read_as_one(undisturbed, folder):
    run, done = undisturbed
    told = json.loads(done.stdout)  # one line, of rank 0
    assert (told["ranks"], told["algorithm"], told["iterations"]) == (2, "did", ITERATIONS)
    assert done.stderr.count(f"iteration {ITERATIONS} of {ITERATIONS}") == 1
    whole = read_run(run)
    assert whole.W.shape == (12_000, 4)
    assert whole.H.shape == (4, 250)
    X = np.load(folder / "long.npy").astype(np.float64)
    error = np.linalg.norm(X - whole.W.astype(np.float64) @ whole.H) / np.linalg.norm(X)
    np.testing.assert_allclose(error, told["relative_error"], rtol=1e-5)
    assert len((run / "trace.jsonl").read_text().splitlines()) == ITERATIONS + 1
    assert set(bytes_of(run)) == {"W.0-of-2.safetensors", "W.1-of-2.safetensors", "H.0-of-2.safetensors"}


def test_kill_9_of_a_rank_ends_the_job_and_it_is_resumed_to_the_bit(undisturbed, folder, start, partwise, tmp_path):
    words = ("fit", folder / "long", *FIT, "-o", "run", "--checkpoint-every", 10)
    job = start(sys.executable, "-m", "partwise", "run", "-n", 2, *words)
    wait_for((tmp_path / "run.partial/checkpoint/checkpoint.json").exists)
    pid = pid_of(1, tmp_path)
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    killed = time.monotonic()
    _, told = job.communicate(timeout=30)
    assert time.monotonic() - killed < 20, "seconds, and this machine may be busy"
    assert job.returncode == 1
    assert "One of the 2 ranks was ended from outside (signal 9" in told
    assert "--resume" in told
    assert not (tmp_path / "run").exists()
    code, _, told = partwise(2, *words, "--resume", "-q")
    assert code == 0, told
    assert bytes_of(tmp_path / "run") == bytes_of(undisturbed[0])
    assert not (tmp_path / "run.partial").exists()


def test_sigterm_keeps_a_checkpoint_from_which_three_ranks_go_on(undisturbed, folder, start, partwise, tmp_path):
    words = ("fit", folder / "long", *FIT, "-o", "run")
    job = start(sys.executable, "-m", "partwise", "run", "-n", 2, *words)
    for line in job.stderr:
        if line.startswith("iteration"):
            break
    job.send_signal(signal.SIGTERM)
    told = job.communicate(timeout=60)[1]
    assert job.returncode == 1, told
    assert "is kept. Go on with:  partwise run -n 2 fit" in told
    assert told.count("is kept") == 1
    code, said, told = partwise(3, *words, "--resume", "-q", "--json")
    assert code == 0, told
    assert json.loads(said)["ranks"] == 3
    went_on, whole = read_run(tmp_path / "run"), read_run(undisturbed[0])
    np.testing.assert_allclose(went_on.W @ went_on.H, whole.W @ whole.H, rtol=1e-3, atol=1e-3)


def test_what_fails_on_one_rank_ends_the_job_without_m_mpi4py(folder, start):
    job = start(mpiexec(), "-n", 2, sys.executable, "-c", FAILING, folder / "dense")
    _, told = job.communicate(timeout=60)
    assert job.returncode == 1
    assert "ArithmeticError: three is enough" in told


def test_a_bad_call_is_said_once_and_leaves_nothing(folder, partwise, tmp_path):
    code, said, told = partwise(2, "fit", folder / "dense", "-k", 3, "--solver", "hals", "--threads", 64)
    assert code == 2
    assert said == ""
    assert told == "error: --solver hals is for one process; on ranks say --algorithm NAME.\n"
    code, _, told = partwise(
        2, "fit", folder / "dense", "-k", 3, "--algorithm", "d-hals", "--grid", "3x1", "--threads", 64
    )
    assert code == 2
    assert told.count("error:") == 1
    assert "3 places, but there are 2 ranks" in told
    assert "2 ranks with 64 threads each share" in told or "64" not in told
    assert list(tmp_path.iterdir()) == []


def test_a_verb_for_one_process(partwise):
    code, _, told = partwise(2, "version")
    assert code == 2
    assert "version runs in one process; on ranks run: fit." in told
