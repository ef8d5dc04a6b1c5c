"""Everything in `ranks/`, on 2, 3 and 4 ranks: a pytest on each of them, whose tests are collective."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from mpi import fits
from mpi.conftest import HERE, SECONDS, mpiexec

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("ranks", [2, 3, 4])
def test_on(ranks, start, folder, monkeypatch):
    mpiexec()
    fits.keep(folder, ranks)
    monkeypatch.setenv("PARTWISE_MPI_FOLDER", str(folder))
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    words = ("-m", "pytest", "-q", "-x", HERE / "ranks", "-c", ROOT / "pyproject.toml", "-o", "python_files=check_*.py",
             "--timeout", 60, "--timeout-method=thread", "-p", "no:cacheprovider")  # fmt: skip
    job = start(mpiexec(), "-n", ranks, sys.executable, *words)
    said, told = job.communicate(timeout=SECONDS)
    assert job.returncode == 0, said + told
    assert said.count(" passed") == 1, said  # rank 0 alone reports
    assert os.linesep + "ERROR" not in said
