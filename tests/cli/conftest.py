"""Calls of the command line: in this process, and as a process of its own where signals, pipes or exit codes matter."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import numpy as np
import pytest
from typer.testing import CliRunner

from partwise.cli import app

ENTRY = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); from partwise.cli import main; main()"


@pytest.fixture(scope="session")
def cache(tmp_path_factory):
    """One cache of data sets for all tests, and not the user's."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def here(tmp_path, monkeypatch, cache):
    """An empty folder, with a small matrix X.npy in it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PARTWISE_DATA", raising=False)
    monkeypatch.setenv("PARTWISE_CACHE", str(cache))
    monkeypatch.setenv("COLUMNS", "80")
    rng = np.random.default_rng(0)
    np.save(tmp_path / "X.npy", rng.random((60, 4)) @ rng.random((4, 30)) + 0.1 * rng.random((60, 30)))
    return tmp_path


@pytest.fixture
def call(here, monkeypatch):
    """Call partwise in this process."""

    def calling(*words):
        words = [str(word) for word in words]
        monkeypatch.setattr(sys, "argv", ["partwise", *words])
        return CliRunner().invoke(app, words, prog_name="partwise")

    return calling


@pytest.fixture
def start(here):
    """Start partwise as a process; its output is piped."""
    started = []

    def starting(*words, shell: str | None = None):
        command = [sys.executable, "-c", ENTRY, *map(str, words)]
        if shell is not None:
            command = ["sh", "-c", f'{shell}; exec "$0" "$@"', *command]
        environment = os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)
        started.append(process)
        return process

    yield starting
    for process in started:
        if process.poll() is None:
            process.send_signal(signal.SIGKILL)
        process.communicate()
