"""Randomized HALS: how well it compresses, when it goes over to X, how it ends."""

import numpy as np
import pytest
import scipy.sparse as sp

from partwise.algorithms.single.methods import Problem, method
from partwise.algorithms.single.randomized import Randomized, range_finder
from partwise.data import LowRank, as_matrix
from partwise.drivers.iterate import begin, iterate
from partwise.drivers.stopping import MaxIterations
from partwise.errors import OptionError
from partwise.randomness import Purpose
from partwise.sketches import sketch

SHAPE, K = (90, 70), 4


def problem(seed=0, noise=0.3):
    rng = np.random.default_rng(seed)
    X = rng.gamma(0.7, 1, (SHAPE[0], K)) @ rng.gamma(0.7, 1, (K, SHAPE[1])) + noise * rng.random(SHAPE)
    return X, rng.uniform(0.1, 1, (K, SHAPE[0])), rng.uniform(0.1, 1, (K, SHAPE[1]))


def run(solver, X, Wt, H, iterations, **options):
    held = as_matrix(X)
    step = method(solver, Problem(held.shape, held.nnz, len(H)), options)
    state, trace = begin(step, held, Wt, H, relative=True)
    return iterate(step, held, state, trace, [MaxIterations(iterations)])


@pytest.mark.parametrize("holding", [np.asarray, sp.csr_array, sp.csc_array])
def test_the_range_is_found_nearly_as_well_as_by_the_svd(holding):
    X = problem()[0]
    Q = range_finder(as_matrix(holding(X)), 8, 2, seed=0)
    np.testing.assert_allclose(Q.T @ Q, np.eye(8), atol=1e-12)
    best = np.sqrt(np.sum(np.linalg.svd(X, compute_uv=False)[8:] ** 2))
    assert np.linalg.norm(X - Q @ (Q.T @ X)) < 1.1 * best


@pytest.mark.parametrize("seed", range(3))
def test_it_ends_as_well_as_hals(seed):
    start = problem(seed)
    mine = run("randomized", *start, 400, oversampling=4)
    theirs = run("hals", *start, 400)
    assert mine.state.loss == pytest.approx(theirs.state.loss, rel=2e-3)


def test_it_goes_over_to_the_data_and_forgets_the_compressed_ones():
    X, Wt, H = problem()
    early, late = (run("randomized", X, Wt, H, t, oversampling=4) for t in (10, 300))
    assert early.state.memory["Q"].shape == (SHAPE[0], K + 4)
    assert early.state.memory["B"].shape == (K + 4, SHAPE[1])
    assert "Q" not in late.state.memory
    losses = {point.t: point.loss for point in late.trace.points}
    assert np.isnan(losses[2])  # X was not read
    for t in (1, 20, 299, 300):
        assert np.isfinite(losses[t])
    assert losses[300] == pytest.approx(0.5 * np.sum((X - late.state.Wt.T @ late.state.H) ** 2))


def test_fixed_components_penalties_and_constraints_are_those_of_hals():
    X, Wt, H = problem()
    held = as_matrix(X)
    step = method("randomized", Problem(held.shape, held.nnz, K, fixed=2, rows_sum_to_one=True), {"oversampling": 4})
    state = step.init(held, Wt / Wt.sum(axis=0), H)
    for t in range(1, 60):
        state = step.step(held, state, t)
        np.testing.assert_array_equal(state.H[:2], H[:2])
        np.testing.assert_allclose(state.Wt.sum(axis=0), 1, rtol=1e-9)


def test_where_nothing_can_be_compressed_it_is_hals():
    assert not isinstance(method("randomized", Problem((30, 20), 600, 5), {}), Randomized)
    assert isinstance(method("randomized", Problem((90, 70), 6300, 5), {}), Randomized)


@pytest.mark.parametrize("options", [{"oversampling": 0}, {"power_iterations": -1}, {"power_iterations": 1.5}])
def test_options_are_checked(options):
    with pytest.raises(OptionError, match="expected a"):
        method("randomized", Problem((900, 700), 630_000, 5), options)


def test_a_product_of_thin_arrays_is_a_matrix_like_any_other(monkeypatch):
    monkeypatch.setattr("partwise.data.dense.GRAIN", 8)
    monkeypatch.setattr("partwise.data.dense.BLOCK_BYTES", 1)
    rng = np.random.default_rng(0)
    left, right = rng.random((30, 3)), rng.random((3, 20))
    thin, dense = LowRank(left, right), as_matrix(left @ right)
    Wt, H = rng.random((4, 30)), rng.random((4, 20))
    assert thin.shape == dense.shape
    assert thin.sq_norm() == pytest.approx(dense.sq_norm())
    assert thin.mean() == pytest.approx(dense.mean())
    assert thin.has_zeros() == dense.has_zeros() is False
    for one, two in ((thin, dense), (thin.T, dense.T), (thin.rows([3, 5]), dense.rows([3, 5]))):
        np.testing.assert_allclose(one.row_sq_norms(), two.row_sq_norms())
        F = rng.random((4, one.shape[1]))
        np.testing.assert_allclose(one.times(F), two.times(F))
    for beta in (2, 1, 0, 1.5):
        assert thin.divergence(Wt, H, beta) == pytest.approx(dense.divergence(Wt, H, beta))
        for mine, theirs in zip(thin.ratio_eq(H, Wt, beta), dense.ratio_eq(H, Wt, beta), strict=True):
            np.testing.assert_allclose(np.broadcast_to(mine, theirs.shape), theirs)
    S = sketch("count", 20, 6, 0, 0, Purpose.SKETCH_W)
    np.testing.assert_allclose(thin.sketched(S), dense.sketched(S))
