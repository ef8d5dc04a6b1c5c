"""Sketched HALS over ranks: that of one machine, on any number of ranks, for tall and wide X."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from distributed.runs import one_machine, problem, run, wished
from partwise.algorithms.distributed.methods import layout_for, method
from partwise.algorithms.single.sketched import MOST
from partwise.data import as_matrix, layout

TALL, WIDE = (300, 23), (23, 300)
OPTIONS = {"sample": (2, 128), "acceleration": 2}
T = 12


@pytest.mark.parametrize("shape", [TALL, WIDE], ids=["tall", "wide"])
@pytest.mark.parametrize("ranks", [1, 2, 3, 7])
@pytest.mark.parametrize("held", [np.asarray, sp.csr_array])
def test_it_is_that_of_one_machine(shape, ranks, held):
    X = problem(shape=shape, zeros=0.3)
    options = OPTIONS if shape == TALL else {**OPTIONS, "extrapolate": False}
    steps = T if shape == TALL else 3  # after the samples one machine goes on with W first, whatever the shape
    one, many = (
        one_machine("sketched", X, steps, options=options),
        run("sketched", held(X), ranks, steps, options=options),
    )
    np.testing.assert_allclose(many.Wt, one.state.Wt, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(many.H, one.state.H, rtol=1e-7, atol=1e-9)
    for mine, theirs in zip(many.trace.points, one.trace.points, strict=True):
        np.testing.assert_allclose(mine[:3], theirs[:3], rtol=1e-8)


def test_uneven_and_empty_shards():
    X = problem(shape=TALL)
    cut = layout("rows", TALL, 4, row_cuts=(0, 1, 1, 250, 300))
    many, one = run("sketched", X, 4, T, options=OPTIONS, cut=cut), one_machine("sketched", X, T, options=OPTIONS)
    np.testing.assert_allclose(many.product, one.state.Wt.T @ one.state.H, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("shape", [TALL, WIDE], ids=["tall", "wide"])
def test_wide_ends_as_well_as_hals(shape):
    X = problem(shape=shape)
    many, one = run("sketched", X, 3, 150), one_machine("hals", X, 150)
    assert many.trace.last.loss == pytest.approx(one.trace.last.loss, rel=1e-2)
    assert many.cut.kind == ("rows" if shape == TALL else "columns")


@pytest.mark.parametrize("shape", [TALL, WIDE], ids=["tall", "wide"])
def test_it_sends_what_it_declares_and_in_a_sample_no_more(shape):
    X = problem(shape=shape)
    wish = wished(as_matrix(X))
    step = method("sketched", wish, layout_for("sketched", wish, 3), OPTIONS)
    samples = next(t for t in range(1, 99) if len(step.messages(t)) == 1) - 1
    assert samples == 2
    for t, said in enumerate(run("sketched", X, 3, T, options=OPTIONS).sent[1], start=1):
        declared = step.messages(t)
        calls, numbers = len(declared), sum(message.numbers for message in declared)
        made = sum(count.calls for count in said.values()), sum(count.numbers for count in said.values())
        if t > samples:
            assert made == (calls, numbers)
        else:
            assert 4 < made[0] <= calls <= MOST + 5
            assert made[1] <= numbers


def test_a_sample_holds_no_more_than_a_share_of_the_rows():
    X = problem(shape=(4000, 23))
    many = run("sketched", X, 4, 1)
    moved = [(state.Wt != start).any(axis=0).sum() for state, start in _with_starts(many)]
    assert sum(moved) < 600
    assert all(0 < rows < 200 for rows in moved)


def _with_starts(many):
    from distributed.runs import common_start

    Wt, _ = common_start((4000, 23))
    return [(state, Wt[:, many.cut.part_W(rank)]) for rank, state in enumerate(many.states)]
