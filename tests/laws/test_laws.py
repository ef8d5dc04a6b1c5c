"""What holds for every method."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import nnls

from laws.cases import ALGORITHMS, common_start
from partwise.data import Streamed, as_matrix
from partwise.data.dense import Dense
from partwise.kernels.threads import threads

K, SHAPE = 4, (37, 23)
every = pytest.mark.parametrize("case", ALGORITHMS, ids=str)
claims_descent = pytest.mark.parametrize("case", [c for c in ALGORITHMS if c.descends], ids=str)
claims_stationarity = pytest.mark.parametrize("case", [c for c in ALGORITHMS if c.stationary], ids=str)


def problem(seed=0, dtype=np.float64, zeros=0.0):
    """(37, 23), nearly of rank 4; positive unless zeros are asked for."""
    rng = np.random.default_rng(seed)
    X = rng.gamma(0.7, 1, (SHAPE[0], K)) @ rng.gamma(0.7, 1, (K, SHAPE[1])) + 0.05 * rng.random(SHAPE) + 0.01
    X[rng.random(SHAPE) < zeros] = 0
    return X.astype(dtype)


def product(outcome):
    return outcome.state.Wt.T @ outcome.state.H


@every
def test_factors_are_nonnegative_finite_and_have_their_shapes(case):
    Wt, H = case.run(problem(), K, 20).state[:2]
    assert Wt.shape == (K, SHAPE[0])
    assert H.shape == (K, SHAPE[1])
    for F in (Wt, H):
        assert np.isfinite(F).all()
        assert (F >= 0).all()
        assert F.flags.c_contiguous


@claims_descent
@pytest.mark.parametrize("seed", range(3))
def test_the_objective_never_rises(case, seed):
    points = case.run(problem(seed), K, 60).trace.measured()
    values = np.array([point.objective for point in points])
    assert len(values) >= 5
    assert (np.diff(values) <= 1e-12 * values[0]).all()
    assert values[-1] < 0.7 * values[0]


@every
def test_the_trace_tells_the_truth(case):
    X = problem()
    outcome = case.run(X, K, 20)
    held = as_matrix(X)
    told = outcome.trace.measured()[-1]
    assert told.t == 20
    assert told.loss == pytest.approx(held.divergence(outcome.state.Wt, outcome.state.H, case.beta), rel=1e-9)
    if case.beta == 2:
        assert told.loss == pytest.approx(0.5 * np.sum((X - product(outcome)) ** 2), rel=1e-9)


@claims_stationarity
def test_the_kkt_residual_is_small_at_convergence(case):
    X = problem()
    Wt, H = case.run(X, K, case.stationary).state[:2]
    R = Wt.T @ H - X
    for F, gradient in ((Wt, H @ R.T), (H, Wt @ R)):
        projected = np.where(F > 0, gradient, np.minimum(gradient, 0))
        scale = np.abs(gradient).max() + np.abs(H @ X.T).max()
        assert np.abs(projected * np.minimum(1, F + (gradient < 0))).max() < 2e-3 * scale


@pytest.mark.parametrize("case", [c for c in ALGORITHMS if c.exact], ids=str)
def test_an_exact_method_solves_for_each_factor_to_the_end(case):
    X, (Wt, H) = problem(zeros=0.3), common_start(SHAPE, 15)
    H += 3  # components that overlap so much that a few sweeps do not find which of them are zero
    moved = case.run(X, 15, 1, start=(Wt, H)).state
    for i in range(SHAPE[0]):
        np.testing.assert_allclose(moved.Wt[:, i], nnls(H.T, X[i])[0], rtol=1e-6, atol=1e-8)
    for j in range(SHAPE[1]):
        np.testing.assert_allclose(moved.H[:, j], nnls(moved.Wt.T, X[:, j])[0], rtol=1e-6, atol=1e-8)


@every
def test_permuting_rows_columns_and_components_permutes_the_factors(case):
    if case.sketched or case.wishes.get("fixed"):
        pytest.skip("its random numbers, or its fixed components, are tied to places")
    X = problem()
    rng = np.random.default_rng(5)
    rows, columns = rng.permutation(SHAPE[0]), rng.permutation(SHAPE[1])
    Wt, H = common_start(SHAPE, K)
    plain = case.run(X, K, 10, start=(Wt, H)).state
    there = case.run(
        X[rows][:, columns], K, 10, start=(np.ascontiguousarray(Wt[:, rows]), np.ascontiguousarray(H[:, columns]))
    ).state
    np.testing.assert_allclose(there.Wt, plain.Wt[:, rows], rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(there.H, plain.H[:, columns], rtol=1e-7, atol=1e-9)


@every
def test_scaling_the_data_scales_the_factors(case):
    if case.wishes:
        pytest.skip("penalties and fixed components have a scale of their own")
    X, scale = problem(), 256.0  # a power of four: its root is exact
    Wt, H = common_start(SHAPE, K)
    plain = case.run(X, K, 10, start=(Wt, H)).state
    there = case.run(scale * X, K, 10, start=(16 * Wt, 16 * H)).state
    np.testing.assert_allclose(there.Wt, 16 * plain.Wt, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(there.H, 16 * plain.H, rtol=1e-6, atol=1e-8)


class Rows:
    """A source that gives blocks of rows, as HDF5 does, and nothing else."""

    def __init__(self, array):
        self.array, self.shape, self.dtype = array, array.shape, array.dtype

    def __getitem__(self, rows):
        return self.array[rows]


def memory_mapped(X, folder):
    np.save(folder / "X.npy", X)
    return np.load(folder / "X.npy", mmap_mode="r")


HOLDINGS = {
    "Fortran": lambda X, folder: np.asfortranarray(X),
    "CSR": lambda X, folder: sp.csr_array(X),
    "CSC": lambda X, folder: sp.csc_array(X),
    "COO": lambda X, folder: sp.coo_array(X),
    "memory map": memory_mapped,
    "streamed": lambda X, folder: Rows(X),
    "strided": lambda X, folder: np.repeat(X, 2, axis=1)[:, ::2],
}


@every
@pytest.mark.parametrize("holding", HOLDINGS)
def test_however_x_is_held_the_result_is_the_same(case, holding, tmp_path):
    X = problem(zeros=0.0 if case.beta <= 0 else 0.4)
    plain = case.run(X, K, 10)
    there = case.run(HOLDINGS[holding](X, tmp_path), K, 10)
    np.testing.assert_allclose(product(there), product(plain), rtol=1e-7, atol=1e-9)
    assert there.trace.last.objective == pytest.approx(plain.trace.last.objective, rel=1e-9, nan_ok=True)


@every
def test_blocks_of_rows_do_not_matter(case, monkeypatch):
    X = problem()
    plain = case.run(X, K, 10)
    monkeypatch.setattr("partwise.data.dense.GRAIN", 8)
    monkeypatch.setattr("partwise.data.dense.BLOCK_BYTES", 1)
    assert len(list(Dense(X).blocks())) == 5
    there = case.run(X, K, 10)
    np.testing.assert_allclose(product(there), product(plain), rtol=1e-8, atol=1e-10)
    streamed = case.run(Rows(X), K, 10)
    np.testing.assert_allclose(product(streamed), product(plain), rtol=1e-8, atol=1e-10)


@every
def test_masks_and_weights_that_say_nothing_change_nothing(case):
    if case.sketched:
        pytest.skip("refuses masks and weights (tests/algorithms/test_sanls.py, test_randomized.py)")
    X = problem()
    plain = product(case.run(X, K, 10))
    everything = np.ones(SHAPE, bool)
    np.testing.assert_allclose(product(case.run(X, K, 10, mask=everything)), plain, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(product(case.run(X, K, 10, sample_weight=np.ones(SHAPE[0]))), plain, rtol=1e-9)


@every
def test_what_is_missing_is_never_looked_at(case):
    if case.sketched:
        pytest.skip("sketches take what is missing as zero")
    X = problem()
    observed = np.random.default_rng(2).random(SHAPE) < 0.8
    X1, X2, X3 = (np.where(observed, X, other) for other in (7.0, 3e5, np.nan))
    one = case.run(X1, K, 15, mask=observed)
    two = case.run(X2, K, 15, mask=observed)
    three = case.run(X3, K, 15, missing="nan")
    for F, G, J in zip(one.state[:2], two.state[:2], three.state[:2], strict=True):
        np.testing.assert_array_equal(F, G)
        np.testing.assert_array_equal(F, J)
    stored = sp.csr_array(np.where(observed, X, 0))
    if case.beta > 0:
        four = case.run(stored, K, 15, missing="zero")
        np.testing.assert_allclose(product(four), product(one), rtol=1e-6, atol=1e-8)
    told = one.trace.measured()[-1].loss
    if case.beta == 2 and one.trace.last.t == one.trace.measured()[-1].t:
        assert told == pytest.approx(0.5 * np.sum((X - product(one))[observed] ** 2), rel=1e-9)


@every
def test_a_row_of_weight_two_is_that_row_twice(case):
    if case.sketched:
        pytest.skip("a sketch of more rows is another sketch")
    X = problem()
    weights = np.ones(SHAPE[0])
    weights[:5] = 2
    Wt, H = common_start(SHAPE, K)
    weighted = case.run(X, K, 10, start=(Wt, H), sample_weight=weights)
    twice = np.concatenate([X, X[:5]])
    doubled = case.run(twice, K, 10, start=(np.concatenate([Wt, Wt[:, :5]], axis=1), H))
    np.testing.assert_allclose(weighted.state.H, doubled.state.H, rtol=1e-6, atol=1e-8)
    assert weighted.trace.last.loss == pytest.approx(doubled.trace.last.loss, rel=1e-8)


@every
def test_stop_and_resume_is_never_stopped(case, tmp_path):
    from partwise.algorithms.single.methods import Problem, method
    from partwise.drivers import checkpoint
    from partwise.drivers.iterate import begin, iterate
    from partwise.drivers.stopping import MaxIterations

    X = as_matrix(problem())
    step = method(case.solver, Problem(X.shape, X.nnz, K, beta=case.beta, seed=3, **case.wishes), case.options)
    state, trace = begin(step, X, *common_start(SHAPE, K), relative=case.beta == 2)
    whole = iterate(step, X, state, trace, [MaxIterations(23)])
    state, trace = begin(step, X, *common_start(SHAPE, K), relative=case.beta == 2)
    half = iterate(step, X, state, trace, [MaxIterations(11)])
    checkpoint.save(tmp_path, half.state, half.trace, {"run": 1})
    back = checkpoint.load(tmp_path, {"run": 1})
    resumed = iterate(step, X, back.state, back.trace, [MaxIterations(23)])
    np.testing.assert_array_equal(resumed.state.Wt, whole.state.Wt)
    np.testing.assert_array_equal(resumed.state.H, whole.state.H)
    for mine, theirs in zip(resumed.trace.points, whole.trace.points, strict=True):
        np.testing.assert_equal(mine[:4], theirs[:4])


@every
def test_single_precision_is_kept_and_agrees(case):
    single = case.run(problem(dtype=np.float32), K, 10)
    double = case.run(problem(), K, 10)
    assert single.state.Wt.dtype == single.state.H.dtype == np.float32
    assert double.state.Wt.dtype == double.state.H.dtype == np.float64
    np.testing.assert_allclose(product(single), product(double), rtol=0.02, atol=0.02)


@every
def test_threads_do_not_change_the_result(case):
    X = problem()
    with threads(1):
        one = case.run(X, K, 10)
    with threads(2):
        two = case.run(X, K, 10)
    np.testing.assert_allclose(product(two), product(one), rtol=1e-9, atol=1e-11)


@every
def test_inputs_are_not_written_to(case):
    X, (Wt, H) = problem(), common_start(SHAPE, K)
    before = X.copy(), Wt.copy(), H.copy()
    for array in (X, Wt, H):
        array.flags.writeable = False
    case.run(X, K, 6, start=(Wt, H))
    for array, kept in zip((X, Wt, H), before, strict=True):
        np.testing.assert_array_equal(array, kept)


@every
@pytest.mark.parametrize("k", [1, 30])
def test_one_component_and_more_components_than_columns(case, k):
    Wt, H = case.run(problem(), k, 8).state[:2]
    assert np.isfinite(Wt).all()
    assert np.isfinite(H).all()


@every
@pytest.mark.parametrize("shape", [(1, 1), (1, 9), (9, 1)])
def test_one_row_one_column(case, shape):
    X = np.random.default_rng(0).uniform(0.5, 2, shape)
    Wt, H = case.run(X, 2, 8).state[:2]
    assert np.isfinite(Wt.T @ H).all()


@pytest.mark.parametrize("case", [c for c in ALGORITHMS if c.beta > 0], ids=str)
def test_rows_and_columns_of_zeros(case):
    X = problem()
    X[3], X[:, 5] = 0, 0
    Wt, H = case.run(X, K, 10).state[:2]
    assert np.isfinite(Wt).all()
    assert np.isfinite(H).all()
    zeros = case.run(np.zeros((6, 5)), 2, 6)
    assert np.isfinite(zeros.state.Wt).all()
    assert zeros.trace.relative_error() == 0


@every
def test_dead_components_stay_harmless(case):
    Wt, H = common_start(SHAPE, K)
    Wt[1], H[1] = 0, 0
    outcome = case.run(problem(), K, 8, start=(Wt, H))
    assert np.isfinite(product(outcome)).all()


def test_streamed_is_chosen_for_integers_on_disk(tmp_path):
    X = np.random.default_rng(0).integers(0, 9, SHAPE).astype(np.uint8)
    assert isinstance(as_matrix(memory_mapped(X, tmp_path)), Streamed)


def test_every_solver_is_in_the_list():
    from partwise.algorithms.single.methods import SOLVERS

    assert {case.solver for case in ALGORITHMS} == set(SOLVERS)
