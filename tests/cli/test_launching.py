"""Who was started by whom, and what may be typed about ranks."""

from __future__ import annotations

import pytest

from partwise.cli import screen, wishes
from partwise.errors import OptionError
from partwise.launch import ALONE, started

STEP = {"SLURM_STEP_NUM_TASKS": "4", "SLURM_PROCID": "3"}


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({}, ALONE),
        ({"PMI_SIZE": "2", "PMI_RANK": "1"}, (2, 1, "mpiexec")),
        ({"OMPI_COMM_WORLD_SIZE": "8", "OMPI_COMM_WORLD_RANK": "0"}, (8, 0, "mpirun")),
        ({"SLURM_STEP_ID": "0", **STEP}, (4, 3, "srun")),
        ({"PMI_SIZE": "4", "PMI_RANK": "3", "SLURM_STEP_ID": "0", **STEP}, (4, 3, "srun")),  # srun --mpi=pmi2
        (STEP, ALONE),  # a batch script's own process
        (
            {"PMI_SIZE": "2", "PMI_RANK": "1", "SLURM_STEP_ID": "0", **STEP},
            (2, 1, "mpiexec"),
        ),  # mpiexec inside of a step
        ({"PMI_SIZE": "many", "PMI_RANK": "1"}, ALONE),
    ],
)
def test_launchers_are_told_by_their_environment(environment, expected):
    assert started(environment) == expected


def test_what_is_to_be_typed_under_srun_is_srun(monkeypatch):
    told = {"PMI_SIZE": "4", "PMI_RANK": "3", "SLURM_STEP_ID": "0", "SLURM_MPI_TYPE": "pmix", **STEP}
    for name, value in told.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("sys.argv", ["partwise", "fit", "shards", "-k", "3"])
    assert screen.typed("--resume") == "srun --mpi=pmix --kill-on-bad-exit -n 4 partwise fit shards -k 3 --resume"


@pytest.mark.parametrize(
    ("text", "expected"),
    [(None, (None, None)), ("50", (50, None)), ("90s", (None, 90)), ("10min", (None, 600)), ("1.5 h", (None, 5400)), ("2m", (None, 120))],
)  # fmt: skip
def test_how_often_a_checkpoint_is_kept(text, expected):
    assert wishes.pace(text) == expected


@pytest.mark.parametrize("text", ["", "0", "-3", "1.5", "soon", "0s", "3 days", "1.2.3s", "min"])
def test_how_often_it_cannot_be_kept(text):
    with pytest.raises(OptionError, match="expected iterations such as 50, or a time such as 90s"):
        wishes.pace(text)


def test_grids():
    assert wishes.grid(None) is None
    assert wishes.grid("4x2") == wishes.grid("4X2") == wishes.grid("4×2") == (4, 2)
    for text in ("4", "0x2", "4x", "4x2x1", "fourxtwo"):
        with pytest.raises(OptionError, match="ROWSxCOLUMNS"):
            wishes.grid(text)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--grid", "2x1"), "for several ranks"),
        (("--deterministic",), "for several ranks"),
        (("--algorithm", "did", "--solver", "hals"), "--solver hals is for one process"),
        (("--algorithm", "did", "--loss", "kullback-leibler"), "Frobenius loss only"),
        (("--algorithm", "nix"), "algorithm='nix' is not known"),
    ],
)
def test_what_cannot_be_had_together(call, here, words, said):
    result = call("fit", "X.npy", "-k", 3, *words)
    assert result.exit_code == 2, result.output
    assert said in result.stderr
    assert not list(here.glob("run*"))


def test_an_algorithm_for_ranks_runs_in_one_process_too(call, here):
    assert call("fit", "X.npy", "-k", 3, "--algorithm", "d-hals", "-q").exit_code == 0
    assert call("apply", "run", "X.npy", "-q").exit_code == 0
    assert call("fit", "X.npy", "-k", 3, "--missing", "nan", "--algorithm", "did", "--force").exit_code == 2
