"""DID beside HALS on one machine."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from distributed.runs import SHAPE, K, common_start, one_machine, problem, run
from partwise.data import layout

N, M = SHAPE
PLAIN = {"acceleration": 1, "extrapolate": False}


@pytest.mark.parametrize("options", [PLAIN, {"acceleration": 3, "extrapolate": True}], ids=["plain", "extrapolated"])
@pytest.mark.parametrize("ranks", [1, 2, 3, 7, 40])
def test_it_is_hals(ranks, options):
    X = problem()
    one, many = one_machine("hals", X, 30, options=options), run("did", X, ranks, 30, options=options)
    np.testing.assert_allclose(many.Wt, one.state.Wt, rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(many.H, one.state.H, rtol=1e-9, atol=1e-11)
    for mine, theirs in zip(many.trace.points, one.trace.points, strict=True):
        np.testing.assert_allclose(mine[:4], theirs[:4], rtol=1e-9)
    if ranks == 1:  # the same code: the same bits
        np.testing.assert_array_equal(many.H, one.state.H)


def test_uneven_and_empty_shards_of_sparse_data():
    X = problem(zeros=0.6)
    one = one_machine("hals", X, 20, options=PLAIN)
    many = run("did", sp.csr_array(X), 4, 20, cut=layout("rows", SHAPE, 4, row_cuts=(0, 1, 1, 30, N)))
    np.testing.assert_allclose(many.product, one.state.Wt.T @ one.state.H, rtol=1e-8, atol=1e-10)


def test_all_that_it_says_is_one_sum_of_m_plus_k_times_k_numbers():
    for t, said in enumerate(run("did", problem(), 3, 12).sent[0], start=1):
        measured = int(t % 5 == 1)  # W's share of the KKT residual is in the same message
        assert {kind: (count.calls, count.numbers) for kind, count in said.items()} == {
            "sum": (1, (M + K) * K + measured)
        }


@pytest.mark.parametrize("ranks", [1, 3])
def test_wide_data_are_cut_by_columns_and_it_is_hals_of_the_transpose(ranks):
    X = problem().T
    Wt, H = common_start(X.shape)
    options = {"acceleration": 2, "extrapolate": True}
    one = one_machine("hals", X.T, 20, options=options, start=(H, Wt))
    many = run("did", X, ranks, 20, options=options, start=(Wt, H))
    assert many.cut.kind == "columns"
    np.testing.assert_allclose(many.Wt, one.state.H, rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(many.H, one.state.Wt, rtol=1e-9, atol=1e-11)


def test_rows_that_lie_as_they_do_stay_and_wishes_that_cannot_be_turned_are_kept():
    X = problem().T
    by_rows = layout("rows", X.shape, 3)
    assert run("did", X, 3, 2, cut=by_rows).cut is by_rows
    assert run("did", X, 3, 2, fixed=1).cut.kind == "rows"
    assert run("did", X, 3, 2, options={}, rows_sum_to_one=True).cut.kind == "rows"
