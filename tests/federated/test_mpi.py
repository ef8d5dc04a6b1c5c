"""Every party a rank, really at work at the same time: the same bits where methods wait for all, a fit where they don't."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from federated.parties import run, shards
from partwise.drivers.safety import Safety

MPIEXEC = Path(sys.executable).parent / "mpiexec"
TESTS = Path(__file__).resolve().parent.parent
ROUNDS = 6
WAITING = ("exact", "syn-ssd-uv", "fnmf", "fedmavg")  # for all parties in each round
FOLDING = ("asyn-sd", "asyn-ssd-v")
PROGRAM = """
import json, sys
import numpy as np
from federated.parties import shards
from partwise import federate_on_ranks
from partwise.comm.mpi import world

comm, folder, rounds = world(), sys.argv[1], int(sys.argv[2])
Xs = [None, *shards(rows=(9, 5, 12, 7)[: comm.size - 1])]
for name in sys.argv[3:]:
    secure, method = name.startswith("secure-"), name.removeprefix("secure-")
    seen = federate_on_ranks(Xs[comm.rank], 3, comm=comm, study="test", method=method, rounds=rounds, secure_sum=secure)
    W = np.zeros((0, 3)) if seen.W is None else seen.W
    error = 0.0 if seen.W is None else np.linalg.norm(Xs[comm.rank] - W @ seen.H) ** 2
    total = comm.sum(np.array([error]))
    if comm.rank > 0:
        continue
    np.save(f"{folder}/{name}.npy", seen.H)
    history, transcript, faults = seen.server.outcome.history, seen.server.transcript, seen.server.faults
    said = [entry.sender for entry in transcript.entries if entry.kind == "round" and entry.sender >= 0]
    facts = {"errors": [point.error for point in history], "said": said, "faults": [f.sentence for f in faults]}
    print(json.dumps({name: facts | {"sq_error": float(total[0])}}), flush=True)
"""

pytestmark = [
    pytest.mark.skipif(not MPIEXEC.exists(), reason="needs the extra [mpi]"),
    pytest.mark.timeout(240, method="thread"),
]


def job(folder, ranks, *names):
    """{method: facts} of studies on so many ranks, one of which is the server."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(TESTS), os.environ.get("PYTHONPATH", "")])}
    environment |= {"OMP_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1"}
    words = [str(MPIEXEC), "-n", str(ranks), sys.executable, "-c", PROGRAM, str(folder), str(ROUNDS), *names]
    done = subprocess.run(words, env=environment, capture_output=True, text=True, timeout=200, check=False)
    assert done.returncode == 0, done.stderr
    facts = {}
    for line in done.stdout.splitlines():
        facts |= json.loads(line)
    return facts


@pytest.fixture(scope="module")
def four(tmp_path_factory):
    """(folder, facts) of all studies on 1 + 3 ranks."""
    folder = tmp_path_factory.mktemp("four")
    return folder, job(folder, 4, *WAITING, *FOLDING, "secure-exact")


@pytest.mark.parametrize("name", WAITING)
def test_what_waits_for_all_has_the_bits_of_one_process(four, name):
    folder, facts = four
    here, *_ = run(name, shards(rows=(9, 5, 12)), rounds=ROUNDS)
    np.testing.assert_array_equal(np.load(folder / f"{name}.npy"), here.public["H"])
    assert facts[name]["faults"] == []
    whole = np.linalg.norm(np.concatenate(shards(rows=(9, 5, 12)))) ** 2
    assert facts[name]["sq_error"] / whole < 0.01, "and the W that each party has is the best for it"


@pytest.mark.parametrize("name", FOLDING)
def test_what_folds_as_it_comes_fits_whoever_comes_first(four, name):
    folder, facts = four
    H, said = np.load(folder / f"{name}.npy"), facts[name]["said"]
    assert np.isfinite(H).all()
    assert (H >= 0).all()
    assert facts[name]["errors"][-1] < facts[name]["errors"][0]
    assert set(said) == {0, 1, 2}, "everybody was heard"
    assert len(said) >= 3 * ROUNDS


def test_a_secure_sum_over_ranks(four):
    folder, _ = four
    here, *_ = run("exact", shards(rows=(9, 5, 12)), rounds=ROUNDS, secure=True, safety=Safety(3, only_sums=True))
    np.testing.assert_allclose(np.load(folder / "secure-exact.npy"), here.public["H"], atol=1e-9)


@pytest.mark.parametrize("ranks", [2, 3])
def test_fewer_ranks(tmp_path, ranks):
    """One party alone, and two."""
    job(tmp_path, ranks, "exact", "asyn-sd")
    here, *_ = run("exact", shards(rows=(9, 5, 12)[: ranks - 1]), rounds=ROUNDS)
    np.testing.assert_array_equal(np.load(tmp_path / "exact.npy"), here.public["H"])
