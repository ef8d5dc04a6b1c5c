"""DSANLS beside SANLS on one machine, beside HALS where nothing is sketched, and held to what it says it sends."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from distributed.runs import SHAPE, K, common_start, one_machine, problem, run
from partwise.data import layout
from partwise.errors import OptionError
from partwise.sketches import KINDS

N, M = SHAPE
HALF = {"sketch_size": 0.5}


def same(many, one, rtol=1e-8):
    """The same factors and the same measured losses, to rounding."""
    np.testing.assert_allclose(many.Wt, one.state.Wt, rtol=rtol, atol=1e-10)
    np.testing.assert_allclose(many.H, one.state.H, rtol=rtol, atol=1e-10)
    for mine, theirs in zip(many.trace.points, one.trace.points, strict=True):
        np.testing.assert_allclose(mine[:3], theirs[:3], rtol=rtol)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("inner", ["pcd", "pgd"])
@pytest.mark.parametrize("held", [np.asarray, sp.csr_array, sp.csc_array])
def test_on_any_number_of_ranks_it_is_sanls(kind, inner, held):
    X, options = problem(zeros=0.5), {"sketch": kind, "inner": inner, **HALF}
    one = one_machine("sanls", X, 20, options=options, seed=5)
    for ranks in (1, 3, 7):
        same(run("dsanls", held(X), ranks, 20, options=options, seed=5), one)


@pytest.mark.parametrize("ranks", [2, 4, 5, 6, 40])
def test_more_ranks_and_empty_parts(ranks):
    X = problem()
    same(run("dsanls", X, ranks, 12, options=HALF), one_machine("sanls", X, 12, options=HALF))


def test_uneven_parts():
    X = problem()
    cut = layout("both", SHAPE, 4, row_cuts=(0, 1, 1, 30, N), column_cuts=(0, 10, 11, 11, M))
    same(run("dsanls", X, 4, 12, options=HALF, cut=cut), one_machine("sanls", X, 12, options=HALF))


@pytest.mark.parametrize("sketch", KINDS)
def test_without_sketches_and_damping_it_is_hals(sketch):
    X = problem()
    one = one_machine("hals", X, 20, options={"acceleration": 1, "extrapolate": False})
    many = run("dsanls", X, 3, 20, options={"sketch": sketch, "sketch_size": 1.0, "damping": (0, 0)})
    np.testing.assert_allclose(many.Wt, one.state.Wt, rtol=1e-8, atol=1e-11)
    np.testing.assert_allclose(many.H, one.state.H, rtol=1e-8, atol=1e-11)


def test_one_rank_is_one_machine_to_the_bit():
    X = problem(dtype=np.float32)
    one, many = one_machine("sanls", X, 12, options=HALF), run("dsanls", X, 1, 12, options=HALF)
    assert np.array_equal(many.Wt, one.state.Wt)
    assert np.array_equal(many.H, one.state.H)


def test_the_bound_and_the_wishes_of_one_machine_hold():
    X = problem()
    for wishes, options in (({"fixed": 2}, HALF), ({}, {**HALF, "bounded": True, "damping": (0, 0)})):
        same(run("dsanls", X, 3, 10, options=options, **wishes), one_machine("sanls", X, 10, options=options, **wishes))


def test_penalties_are_those_of_all_of_W_and_H():
    from partwise.algorithms.single.alternating import Penalty

    penalty = Penalty(l1_W=0.1, l2_H=0.2)
    X = problem()
    many, one = (
        f(name, X, *ranks, 10, options=HALF, penalty=penalty)
        for f, name, ranks in ((run, "dsanls", (3,)), (one_machine, "sanls", ()))
    )
    same(many, one)
    assert set(many.sent[0][0]) == {"sum"}
    assert many.sent[0][0]["sum"].numbers == K * (12 + 18) + 1


@pytest.mark.parametrize(("size", "shape"), [(0.5, SHAPE), (1.0, SHAPE), ("auto", (90, 9)), (0.1, (40, 4000))])
def test_it_sends_what_it_declares(size, shape):
    from distributed.runs import wished
    from partwise.algorithms.distributed.methods import layout_for, method
    from partwise.data import as_matrix

    X = problem(shape=shape)
    wish, options = wished(as_matrix(X)), {"sketch_size": size}
    step = method("dsanls", wish, layout_for("dsanls", wish, 3), options)
    found = run("dsanls", X, 3, 12, options=options)
    for t, said in enumerate(found.sent[1], start=1):
        declared = step.messages(t, 1)
        for kind in ("sum", "gather"):
            mine = [message for message in declared if message.kind == kind]
            calls, numbers = (said[kind].calls, said[kind].numbers) if kind in said else (0, 0)
            assert (calls, numbers) == (len(mine), sum(message.numbers for message in mine))


def test_all_that_it_says_is_two_sums_of_k_d_numbers():
    d, d_ = round(0.5 * M), round(0.5 * N)
    for said in run("dsanls", problem(), 3, 9, options=HALF).sent[0]:
        assert {kind: (count.calls, count.numbers) for kind, count in said.items()} == {"sum": (2, K * (d + d_))}


def test_a_nearly_exact_fit_is_measured_by_its_residual():
    rng = np.random.default_rng(0)
    W, H = rng.random((30, 2)), rng.random((2, 20))
    options = {"sketch_size": 0.9, "damping": (0, 0)}
    found = run("dsanls", (W @ H).astype(np.float32), 3, 200, options=options, k=2,
                start=common_start((30, 20), 2, np.float32))  # fmt: skip
    error = np.linalg.norm(W @ H - found.product) / np.linalg.norm(W @ H)
    assert error < 3e-3  # where the trace trick has no digits left in float32
    assert found.trace.relative_error() == pytest.approx(error, rel=0.05)


def test_missing_entries_are_refused_before_anything_is_sent():
    with pytest.raises(OptionError, match="takes neither missing entries"):
        run("dsanls", problem(), 2, 1, complete=False)
