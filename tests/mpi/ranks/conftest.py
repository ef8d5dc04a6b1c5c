"""A pytest on each rank: what fails on one fails on all, and rank 0 reports."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from partwise.comm import job
from partwise.drivers.agreement import all_or_none


@pytest.hookimpl(trylast=True)
def pytest_configure(config):
    if job().rank != 0:
        config.get_terminal_writer()._file = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115


@pytest.fixture(scope="session")
def comm():
    """All ranks."""
    return job()


@pytest.fixture(scope="session")
def folder() -> Path:
    return Path(os.environ["PARTWISE_MPI_FOLDER"])


@pytest.fixture(scope="session")
def shared(folder, comm) -> Path:
    """A place for what ranks write together."""
    place = folder / f"by-{comm.size}"
    place.mkdir(exist_ok=True)
    return place


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem):
    """Nobody goes on to the next test before all are through this one."""
    with all_or_none(job()):
        return (yield)


def pytest_unconfigure():
    """Nobody leaves, which would end the job, before rank 0 has reported."""
    sys.stdout.flush()
    job().barrier()
