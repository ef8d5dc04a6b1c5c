"""The model of what an iteration costs: its messages are those that travel, its crossovers those that are known, and auto follows it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from distributed.runs import problem as made
from distributed.runs import run, wished
from partwise.algorithms.distributed.auto import PACE, choose
from partwise.algorithms.distributed.methods import METHODS
from partwise.algorithms.distributed.model import CYCLE, LATER, WORK, Speed, estimate, estimates
from partwise.algorithms.single.problem import Problem
from partwise.comm import Network
from partwise.comm.metered import Count
from partwise.data import as_matrix

FAST = Network()


def wish(n, m, k, density=1.0, **wishes):
    return Problem((n, m), int(n * m * density), k, sparse=density < 1, **wishes)


def test_every_method_has_its_work_and_auto_picks_among_them():
    assert set(WORK) == set(METHODS)
    assert set(PACE) <= set(METHODS)


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize(("shape", "ranks"), [((90, 23), 4), ((23, 90), 3)])
def test_what_travels_is_what_the_model_says(name, shape, ranks):
    X = made(shape=shape)
    model = estimate(name, wished(as_matrix(X)), ranks, 8, FAST)
    sent = run(name, X, ranks, LATER + CYCLE).sent[0][LATER:]
    total = Count()
    for said in sent:
        for count in said.values():
            total = total.plus(count)
    assert total.calls / CYCLE == pytest.approx(model.collectives)
    for seen, said in zip((total.messages, total.wire, total.seconds), model.talking, strict=True):
        assert seen / CYCLE == pytest.approx(said)


# milliseconds of messages by closed forms: 10⁷ × 10⁷ and 10⁸ × 10⁴ in float32, 256 ranks, 100 Gbit/s, 2 µs
KNOWN = [
    ("dsanls", wish(10**7, 10**7, 50, 1e-5), 6.4), ("hpc-anls-hals", wish(10**7, 10**7, 50, 1e-5), 37.6),
    ("did", wish(10**7, 10**7, 50, 1e-5), 319), ("dsanls", wish(10**8, 10**4, 20, 1e-3), 12.8),
    ("hpc-anls-hals", wish(10**8, 10**4, 20, 1e-3), 0.19), ("did", wish(10**8, 10**4, 20, 1e-3), 0.16),
    ("hpc-anls-hals", wish(10**4, 10**8, 20, 1e-3), 0.19), ("dsanls", wish(10**4, 10**8, 20, 1e-3), 12.8),
    ("did", wish(10**4, 10**8, 20, 1e-3), 0.16),
]  # fmt: skip


@pytest.mark.parametrize(("name", "problem", "milliseconds"), KNOWN)
def test_the_crossovers_are_those_that_are_known(name, problem, milliseconds):
    assert 1e3 * estimate(name, problem, 256, 4, FAST).talking.seconds == pytest.approx(milliseconds, rel=0.04)


def test_where_did_cannot_be_turned_it_would_send_the_long_side():
    wide = wish(10**4, 10**8, 20, 1e-3, fixed=2)
    assert estimate("did", wide, 256, 4, FAST).talking.seconds > 1
    assert choose(wide, 256, 4).algorithm == "hpc-anls-hals"
    assert choose(replace(wide, fixed=0), 256, 4).algorithm == choose(wide.T, 256, 4).algorithm == "did"


CHOICES = [
    (wish(10**7, 10**7, 50, 1e-5), 256, FAST, "hpc-anls-hals"),
    (wish(70_000, 784, 20), 4, FAST, "sketched"),
    (wish(784, 70_000, 20), 4, FAST, "sketched"),
    (wish(70_000, 784, 20), 512, Network(5e-3, 1e8), "did"),  # messages rule: a sample would need as many
    (wish(9_394, 36_771, 20, 0.004), 1, FAST, "did"),
    (wish(10**5, 10**5, 50), 4, Network(2e-6, 1e5), "dsanls"),
]  # fmt: skip


@pytest.mark.parametrize(("problem", "ranks", "network", "algorithm"), CHOICES)
def test_auto_picks_by_the_model_and_says_why(problem, ranks, network, algorithm):
    made = choose(problem, ranks, 4, network)
    assert made.algorithm == algorithm
    assert f"for k = {problem.k} on {ranks:,} rank" in made.why
    assert " an iteration, " in made.why


def test_auto_takes_no_samples_where_they_cannot_be_had():
    assert choose(wish(70_000, 784, 20, fixed=2), 4, 4).algorithm == "did"
    assert choose(wish(70_000, 784, 20), 4, 4, among=("did", "hpc-anls-hals")).algorithm == "did"


def test_slower_networks_cost_more_and_more_ranks_hold_less():
    problem = wish(100_000, 2_000, 20)
    for few, many, slow in zip(
        estimates(problem, 2, 4, FAST), estimates(problem, 16, 4, FAST), estimates(problem, 2, 4, Network(1e-3, 1e8)), strict=True
    ):  # fmt: skip
        assert slow.talking.seconds > 100 * few.talking.seconds
        assert slow.computing == few.computing
        if few.layout.kind != "whole":
            assert pytest.approx(few.memory.X / 8) == many.memory.X
            assert many.computing < few.computing
        assert few.memory.total == sum(few.memory)


def test_memory_of_a_share_of_X():
    dense, sparse = wish(1000, 400, 5), wish(1000, 400, 5, 0.01)
    held = {line.name: line.memory.X for line in estimates(dense, 4, 8, FAST)}
    assert held["did"] == held["hpc-anls-bpp"] == 1000 * 400 * 8 / 4
    assert held["dsanls"] == 2 * held["did"]
    assert held["maxios"] == 4 * held["did"]
    assert estimate("did", sparse, 4, 8, FAST).memory.X == 1000 * 400 * 0.01 * 12 / 4


def test_speed_is_that_of_the_machine():
    problem = wish(100_000, 2_000, 20)
    slow, fast = (estimate("did", problem, 2, 4, FAST, Speed(rate, rate)) for rate in (1e9, 2e9))
    assert slow.computing == pytest.approx(2 * fast.computing)


def test_methods_that_cannot_do_it_are_left_out():
    names = {line.name for line in estimates(replace(wish(1000, 400, 5), rows_sum_to_one=True), 4, 8, FAST)}
    assert "did" in names
    assert "maxios" not in names
    assert "dsanls" not in names
