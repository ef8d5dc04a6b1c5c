"""auto on ranks: what it takes is what runs, the user's options win, and a run that goes on keeps it."""

from __future__ import annotations

import json

import numpy as np
import pytest

from partwise.algorithms.distributed.auto import OPTIONS
from partwise.comm import Network, simulate
from partwise.errors import OptionError
from partwise.estimators import preparing
from partwise.estimators.own_rows import own_rows
from partwise.estimators.settings import Settings

X = np.random.default_rng(0).random((60, 30))


def prepared(algorithm="auto", network=None, grid=None, rows=X, **wishes):
    """As all ranks prepare it, each with its own rows."""

    def program(comm):
        part = own_rows(rows[comm.rank :: 3], comm)
        return preparing.prepare(part, Settings(n_components=4, **wishes), algorithm, grid, comm, network)

    return simulate(program, 3).results


def test_what_is_taken_is_what_runs():
    for made in prepared():
        assert made.choice.solver == "did"
        assert made.choice.why.startswith("for k = 4 on 3 ranks the model gives it ")
        assert made.settings.options == OPTIONS["did"]
        assert made.method.layout.kind == "rows"


def test_the_users_options_win():
    assert prepared(options={"acceleration": 2})[0].settings.options == {"acceleration": 2, "extrapolate": "auto"}


def test_a_grid_that_is_asked_for_is_had():
    made = prepared(grid=(3, 1))[0]
    assert made.choice.solver in ("hpc-anls-hals", "d-hals")
    assert made.method.layout.grid == (3, 1)


def test_a_network_without_a_choice_is_refused():
    with pytest.raises(OptionError, match="for auto's choice"):
        prepared("did", Network(1e-3, 1e6))


def test_a_run_that_goes_on_keeps_its_algorithm(call, monkeypatch):
    words = ("fit", "X.npy", "-k", 4, "--algorithm", "auto", "-o", "r", "--tol", 0, "--json")
    first = json.loads(call(*words, "--max-iter", 3).stdout.splitlines()[-1])
    monkeypatch.setattr(preparing, "choose", None)  # it is not asked again
    then = json.loads(call(*words, "--resume", "--max-iter", 8).stdout.splitlines()[-1])
    assert (first["algorithm"], first["iterations"]) == (then["algorithm"], then["iterations"] - 5) == ("did", 3)
