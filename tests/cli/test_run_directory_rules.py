"""A run directory is whole or absent, and nothing is destroyed without being asked for."""

from __future__ import annotations

import json
import os

import numpy as np
import pytest

from partwise.drivers import checkpoint


def bytes_of(run):
    """The model, to the last bit."""
    return (run / "model.safetensors").read_bytes()


@pytest.fixture
def limited(call):
    """A run that used up its ten iterations."""
    assert call("fit", "X.npy", "-k", 4, "--max-iter", 10, "--tol", 0).exit_code == 0


def test_an_earlier_run_stays(call, here, limited):
    before = bytes_of(here / "run")
    result = call("fit", "X.npy", "-k", 3)
    assert result.exit_code == 2
    assert "--force" in result.stderr
    assert bytes_of(here / "run") == before


def test_force_replaces_a_run(call, here, limited):
    assert call("fit", "X.npy", "-k", 3, "--force").exit_code == 0
    assert json.loads((here / "run/manifest.json").read_text())["settings"]["n_components"] == 3
    assert sorted(path.name for path in here.iterdir()) == ["X.npy", "run"]


def test_force_keeps_the_old_run_until_the_new_one_is_whole(call, here, limited):
    before = bytes_of(here / "run")
    assert call("fit", "X.npy", "-k", 3, "--force", "--solver", "foo").exit_code == 2
    assert call("fit", "absent.npy", "-k", 3, "--force").exit_code == 1
    assert bytes_of(here / "run") == before


def test_force_does_not_replace_what_is_no_run(call, here):
    (here / "thesis").mkdir()
    (here / "thesis/chapter.txt").write_text("years of work")
    result = call("fit", "X.npy", "-k", 3, "--force", "-o", "thesis")
    assert result.exit_code == 2
    assert (here / "thesis/chapter.txt").read_text() == "years of work"
    assert call("fit", "X.npy", "-k", 3, "--force", "-o", "X.npy").exit_code == 2


def test_an_empty_directory_may_be_filled(call, here):
    (here / "run").mkdir()
    assert call("fit", "X.npy", "-k", 3).exit_code == 0


def test_parents_are_made(call, here):
    assert call("fit", "X.npy", "-k", 3, "-o", "a/b/run").exit_code == 0
    assert (here / "a/b/run/manifest.json").exists()


def test_a_run_goes_on_as_if_it_had_not_been_stopped(call, here, limited):
    result = call("fit", "X.npy", "-k", 4, "--max-iter", 25, "--tol", 0, "--resume")
    assert result.exit_code == 0, result.output
    call("fit", "X.npy", "-k", 4, "--max-iter", 25, "--tol", 0, "-o", "whole")
    assert bytes_of(here / "run") == bytes_of(here / "whole")
    assert len((here / "run/trace.jsonl").read_text().splitlines()) == 26


@pytest.mark.parametrize("solver", ["bpp", "admm", "ipalm", "nesterov", "mu", "pgd"])
def test_every_solver_goes_on_so(call, here, solver):
    shared = ("fit", "X.npy", "-k", 4, "--tol", 0, "--solver", solver, "--quiet")
    call(*shared, "--max-iter", 7)
    assert call(*shared, "--max-iter", 16, "--resume").exit_code == 0
    call(*shared, "--max-iter", 16, "-o", "whole")
    assert bytes_of(here / "run") == bytes_of(here / "whole")


def test_what_is_suggested_next_can_be_typed(call, here, limited):
    result = call("fit", "X.npy", "-k", 4, "--max-iter", 10, "--tol", 0, "--force")
    (suggested,) = [
        line.split(maxsplit=1)[1] for line in result.stdout.splitlines() if "--resume" in line and "next" in line
    ] or [line.strip() for line in result.stdout.splitlines() if "--resume" in line]
    assert suggested == "partwise fit X.npy -k 4 --tol 0 --resume --max-iter 20"
    assert call(*suggested.split()[1:]).exit_code == 0
    assert json.loads((here / "run/manifest.json").read_text())["iterations"] == 20


def test_resuming_other_data_names_the_difference(call, here, limited):
    before = bytes_of(here / "run")
    X = np.load("X.npy")
    np.save("X.npy", X[::-1])  # the same numbers in another order
    result = call("fit", "X.npy", "-k", 4, "--max-iter", 20, "--tol", 0, "--resume")
    assert result.exit_code == 1
    assert "data.sha256 was" in result.stderr
    assert bytes_of(here / "run") == before


def test_resuming_with_other_options_names_them(call, limited):
    result = call("fit", "X.npy", "-k", 4, "--max-iter", 20, "--tol", 0, "--resume", "--seed", 7, "--alpha-w", 0.1)
    assert result.exit_code == 1
    assert "seed was 0 and is now 7" in result.stderr
    assert "alpha_W was 0.0 and is now 0.1" in result.stderr


def test_nothing_to_resume(call, here):
    result = call("fit", "X.npy", "-k", 4, "--resume")
    assert result.exit_code == 1
    assert "nothing to resume" in result.stderr
    assert sorted(path.name for path in here.iterdir()) == ["X.npy"]
    assert call("fit", "X.npy", "-k", 4, "--tol", 0.5).exit_code == 0
    assert "had converged" in call("fit", "X.npy", "-k", 4, "--tol", 0.5, "--resume").stderr


def test_a_full_disk_keeps_the_checkpoint_before_it(call, here, monkeypatch):
    save_file, calls = checkpoint.save_file, []

    def full(arrays, path):
        calls.append(path)
        if len(calls) == 3:
            path.write_bytes(b"half")
            raise checkpoint.SafetensorError("I/O error: No space left on device (os error 28)")
        save_file(arrays, path)

    monkeypatch.setattr(checkpoint, "save_file", full)
    shared = ("fit", "X.npy", "-k", 4, "--tol", 0, "--checkpoint-every", 5)
    result = call(*shared, "--max-iter", 30)
    assert result.exit_code == 1
    assert "No space left" in result.stderr
    assert not (here / "run").exists()
    assert sorted(p.name for p in (here / "run.partial/checkpoint").iterdir()) == [
        "checkpoint.json",
        "state-000010.safetensors",
    ]
    monkeypatch.undo()
    monkeypatch.chdir(here)
    assert call(*shared, "--max-iter", 30, "--resume").exit_code == 0
    call(*shared, "--max-iter", 30, "-o", "whole")
    assert bytes_of(here / "run") == bytes_of(here / "whole")


def test_a_disk_that_is_full_at_the_very_end(call, here, monkeypatch):
    from partwise.reports import run_contents

    def full(path, content):
        raise OSError(28, "No space left on device", str(path))

    monkeypatch.setattr(run_contents, "write_json", full)
    result = call("fit", "X.npy", "-k", 4, "--max-iter", 5)
    assert result.exit_code == 1
    assert "No space left on device" in result.stderr
    assert not (here / "run").exists()
    monkeypatch.undo()
    monkeypatch.chdir(here)
    assert call("fit", "X.npy", "-k", 4, "--max-iter", 5, "--resume").exit_code == 0


def test_a_folder_that_cannot_be_written(call, here, monkeypatch):
    (here / "file").write_text("")
    result = call("fit", "X.npy", "-k", 4, "-o", "file/run")  # no directory: refused to root as well
    assert result.exit_code == 1
    assert "could not be written" in result.stderr


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write everywhere")
def test_a_read_only_folder(call, here):
    (here / "closed").mkdir(mode=0o500)
    result = call("fit", "X.npy", "-k", 4, "-o", "closed/run")
    assert result.exit_code == 1
    assert "Permission denied" in result.stderr


def test_an_interrupted_run_is_not_started_over_by_accident(call, here, limited):
    (here / "run").rename(here / "run.partial")
    result = call("fit", "X.npy", "-k", 4)
    assert result.exit_code == 2
    assert "--resume" in result.stderr
    assert call("fit", "X.npy", "-k", 4, "--force").exit_code == 0


def test_two_processes_do_not_work_in_one_place(call, here):
    fcntl = pytest.importorskip("fcntl")
    (here / "run.partial").mkdir()
    with (here / "run.partial/.lock").open("wb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        for more in ([], ["--force"], ["--resume"]):
            result = call("fit", "X.npy", "-k", 4, *more)
            assert result.exit_code == 1
            assert "Another process" in result.stderr
    assert (here / "run.partial").exists()
    assert call("fit", "X.npy", "-k", 4).exit_code == 0


def test_a_damaged_checkpoint_is_refused(call, here, limited):
    (state,) = (here / "run/checkpoint").glob("state-*")
    state.write_bytes(state.read_bytes()[:-8])
    result = call("fit", "X.npy", "-k", 4, "--max-iter", 25, "--tol", 0, "--resume")
    assert result.exit_code == 1
    assert "damaged" in result.stderr
