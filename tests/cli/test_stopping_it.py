"""Ctrl-C, SIGTERM, SIGKILL and a full disk: what is left can go on, and ends where an undisturbed run ends."""

from __future__ import annotations

import signal
import sys

import pytest

from partwise.cli.failures import Stopped
from partwise.cli.interrupts import Interrupts

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals are POSIX")
ITERATIONS = 4_000
SELDOM = (
    "fit",
    "X.npy",
    "-k",
    6,
    "--tol",
    0,
    "--max-iter",
    ITERATIONS,
    "--threads",
    1,
)  # checkpoints: every half minute
CALL = (*SELDOM, "--checkpoint-every", 100)


def bytes_of(run):
    """The model, to the last bit."""
    return (run / "model.safetensors").read_bytes()


_MODELS: list[bytes] = []


@pytest.fixture
def undisturbed(call, here):
    """The model of a run that nobody stopped."""
    if not _MODELS:
        assert call(*CALL, "-o", "whole", "--quiet").exit_code == 0
        _MODELS.append(bytes_of(here / "whole"))
    return _MODELS[0]


def stop(process, number, times=1):
    """Send a signal once the run is under way; its exit code and what it said."""
    process.stderr.readline()  # the data
    assert "iteration" in process.stderr.readline()
    for _ in range(times):
        process.send_signal(number)
    _, said = process.communicate(timeout=60)
    return process.returncode, said


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_keeps_a_checkpoint_and_says_how_to_go_on(start, call, here, undisturbed, number):
    code, said = stop(start(*SELDOM), number)
    assert code == 1
    assert "Traceback" not in said
    assert not (here / "run").exists()
    (command,) = [line.split("Go on with:  ")[1] for line in said.splitlines() if "Go on with" in line]
    assert call(*command.split()[1:]).exit_code == 0
    assert bytes_of(here / "run") == undisturbed


def test_a_second_signal_ends_at_once_and_leaves_a_checkpoint(start, call, here, undisturbed):
    code, said = stop(start(*CALL), signal.SIGINT, times=5)
    assert code == 1
    assert "Traceback" not in said
    assert call(*CALL, "--resume", "--quiet").exit_code == 0
    assert bytes_of(here / "run") == undisturbed


def test_a_killed_run_goes_on_from_its_last_checkpoint(start, call, here, undisturbed):
    code, _ = stop(start(*CALL), signal.SIGKILL)
    assert code == -signal.SIGKILL
    assert not (here / "run").exists()
    assert call(*CALL, "--resume", "--quiet").exit_code == 0
    assert bytes_of(here / "run") == undisturbed


def test_a_file_that_cannot_grow_further(start, here):
    """As a full disk, by the system's own limit: no file may be longer than a few kB."""
    process = start(*CALL, shell="ulimit -f 8")
    _, said = process.communicate(timeout=60)
    assert process.returncode == 1
    assert "could not be written" in said
    assert "Traceback" not in said
    assert sorted(path.name for path in here.iterdir()) == ["X.npy"], "nothing half-written is left"


def test_a_reader_that_leaves_early_is_no_error_message(start):
    process = start("datasets", "list")
    process.stdout.close()
    process.wait(timeout=60)
    assert "Traceback" not in process.stderr.read()


@pytest.fixture
def heard():
    """Ctrl-C as on a terminal; a suite that runs in the background may have been started deaf to it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_the_first_signal_asks_and_the_second_insists(heard):
    said = []
    with Interrupts(said.append) as stop:
        signal.raise_signal(signal.SIGINT)
        assert stop.urgent()
        assert len(said) == 1
        with pytest.raises(Stopped):
            stop(None, None)  # type: ignore[arg-type]
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGTERM)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_signal_between_the_checkpoint_and_the_end_waits_for_the_next_iteration(heard):
    with Interrupts(print) as stop:
        assert not stop.urgent()
        signal.raise_signal(signal.SIGINT)
        stop(None, None)  # type: ignore[arg-type]
        assert stop.urgent()
        with pytest.raises(Stopped):
            stop(None, None)  # type: ignore[arg-type]


def test_what_was_ignored_stays_ignored():
    before = signal.signal(signal.SIGTERM, signal.SIG_IGN)
    try:
        with Interrupts(print) as stop:
            signal.raise_signal(signal.SIGTERM)
            assert not stop.asked
    finally:
        signal.signal(signal.SIGTERM, before)
