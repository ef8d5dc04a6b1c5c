"""HALS in float32 while that suffices: when it begins, when it ends, and that nothing else is told of it."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from partwise.algorithms.single.halved import GAIN
from partwise.algorithms.single.methods import Problem, method
from partwise.data import as_matrix
from partwise.drivers import checkpoint
from partwise.drivers.iterate import begin, iterate
from partwise.drivers.stopping import MaxIterations
from partwise.errors import OptionError
from partwise.estimators.factorize import factorize
from partwise.kernels.threads import threads

N, M, K = 300, 120, 6


def problem(seed=0, noise=0.5):
    rng = np.random.default_rng(seed)
    X = rng.gamma(0.3, 1, (N, K)) @ rng.gamma(0.3, 1, (K, M)) * rng.gamma(1 / max(noise, 1e-9), noise, (N, M))
    X[rng.random((N, M)) < 0.6] = 0
    return sp.csr_array(X), rng.uniform(0.1, 1, (K, N)), rng.uniform(0.1, 1, (K, M))


def ready(X, **wishes):
    held = as_matrix(X)
    return held, method("hals", Problem(held.shape, held.nnz, K, sparse=True), wishes)


def run(X, Wt, H, iterations, **wishes):
    held, step = ready(X, **wishes)
    states, (state, trace) = [], begin(step, held, Wt, H, relative=True)
    outcome = iterate(
        step, held, state, trace, [MaxIterations(iterations)], [lambda state, trace: states.append(state)]
    )
    return outcome, [state, *states]


@pytest.mark.parametrize("container", [sp.csr_array, sp.csc_array])
def test_single_precision_comes_first_and_lasts_while_it_gains(container):
    X, Wt, H = problem()
    outcome, states = run(container(X), Wt, H, 150)
    single = [state.H.dtype == np.float32 for state in states]
    last = single.index(False)
    assert 5 < last < 140
    assert all(single[:last])
    assert not any(single[last:])
    objectives = [state.objective for state in states]
    gains = -np.diff(objectives) / objectives[1:]
    assert all(gain == 0 or gain >= GAIN for gain in gains[: last - 1])
    assert 0 < gains[last - 1] < GAIN
    for state in states:
        assert state.Wt.dtype == state.H.dtype
        assert all(kept.dtype == state.H.dtype for kept in state.memory.values() if isinstance(kept, np.ndarray))
    assert outcome.state.H.dtype == np.float64


def test_it_ends_where_double_precision_ends():
    X, Wt, H = problem()
    mine, theirs = run(X, Wt, H, 601)[0], run(X, Wt, H, 601, halve=False)[0]
    assert mine.state.loss == pytest.approx(theirs.state.loss, rel=1e-5)
    assert mine.trace.last.violation < 1e-5 * mine.trace.points[1].violation


@pytest.mark.parametrize("options", [{}, {"extrapolate": False}, {"acceleration": 1}])
def test_the_objective_never_rises_and_the_trace_tells_the_truth(options):
    X, Wt, H = problem(1)
    outcome, states = run(X, Wt, H, 80, **options)
    values = np.array([point.objective for point in outcome.trace.points])
    assert (np.diff(values) <= 1e-7 * values[0]).all()
    assert values[-1] < 0.1 * values[0]
    for state in states:
        model = state.Wt.astype(float).T @ state.H.astype(float)
        assert state.loss == pytest.approx(0.5 * np.sum((X.toarray() - model) ** 2), rel=1e-6)


@pytest.mark.parametrize("at", [3, 60])
def test_stop_and_resume_in_either_phase(at, tmp_path):
    X, Wt, H = problem()
    whole, states = run(X, Wt, H, 70)
    assert states[3].H.dtype == np.float32 != states[60].H.dtype
    held, step = ready(X)
    half = run(X, Wt, H, at)[0]
    checkpoint.save(tmp_path, half.state, half.trace, {})
    back = checkpoint.load(tmp_path, {})
    resumed = iterate(step, held, back.state, back.trace, [MaxIterations(70)])
    np.testing.assert_array_equal(resumed.state.Wt, whole.state.Wt)
    np.testing.assert_array_equal(resumed.state.H, whole.state.H)


@pytest.mark.parametrize("iterations", [2, 150])
def test_results_are_in_the_precision_of_the_data(iterations):
    X = problem()[0]
    found = factorize(X, K, max_iter=iterations, tol=0, seed=1)
    assert found.W.dtype == found.H.dtype == np.float64
    exact = np.linalg.norm(X.toarray() - found.W @ found.H) / sp.linalg.norm(X)
    assert found.relative_error == pytest.approx(exact, rel=1e-12)
    single = factorize(X.astype(np.float32), K, max_iter=iterations, tol=0, seed=1)
    assert single.W.dtype == single.H.dtype == np.float32


def test_data_in_single_precision_stay_so():
    X, Wt, H = (array.astype(np.float32) for array in problem())
    assert all(state.H.dtype == np.float32 for state in run(X, Wt, H, 100)[1])


def test_nearly_exact_data_are_in_double_precision_before_digits_are_missed():
    rng = np.random.default_rng(3)
    parts = sp.random(N, K, 0.3, rng=rng), sp.random(K, M, 0.3, rng=rng)
    X, (_, Wt, H) = sp.csr_array(parts[0] @ parts[1]), problem()
    outcome, states = run(X, Wt, H, 400)
    assert all(2 * state.loss > 1e-4 * outcome.trace.scale for state in states if state.H.dtype == np.float32)
    assert outcome.trace.relative_error() < 1e-5


def test_a_first_iteration_that_solves_it_tells_the_loss_with_all_digits():
    rng = np.random.default_rng(4)
    X = sp.csr_array(np.outer(rng.random(N), rng.random(M) * (rng.random(M) < 0.5)))
    held = as_matrix(X)
    step = method("hals", Problem(held.shape, held.nnz, 1, sparse=True), {"extrapolate": False})
    start = step.init(held, rng.random((1, N)), rng.random((1, M)))
    state = step.step(held, start, 1)
    assert start.H.dtype == np.float32 != state.H.dtype
    assert state.loss == pytest.approx(0.5 * np.sum((X.toarray() - state.Wt.T @ state.H) ** 2), rel=1e-3)


@pytest.mark.parametrize("scale", [1e-15, 1e-6, 1e6, 1e15])
def test_the_scale_of_the_data_does_not_matter(scale):
    X, Wt, H = problem()
    plain = run(X, Wt, H, 40, halve=False)[0].trace.relative_error()
    root = scale**0.5
    outcome, states = run(X * scale, Wt * root, H * root, 40)
    assert outcome.trace.relative_error() == pytest.approx(plain, rel=1e-3)
    assert (states[0].H.dtype == np.float32) == (1e-7 < scale < 1e7)


def test_a_step_out_of_range_is_taken_again_in_double_precision():
    X, Wt, H = problem()
    big = 1e25  # a gram of W is no float32
    outcome, states = run(X, Wt * big, H / big, 40)
    assert states[0].H.dtype == np.float32 != states[1].H.dtype
    assert np.isfinite([state.objective for state in states]).all()
    assert outcome.trace.relative_error() == pytest.approx(run(X, Wt, H, 40)[0].trace.relative_error(), rel=0.02)


def test_threads_do_not_change_it():
    X, Wt, H = problem()
    with threads(1):
        one = run(X, Wt, H, 60)[0]
    with threads(2):
        two = run(X, Wt, H, 60)[0]
    np.testing.assert_allclose(two.state.Wt.T @ two.state.H, one.state.Wt.T @ one.state.H, rtol=1e-5, atol=1e-6)


def test_it_is_refused_where_it_cannot_be():
    some = Problem((N, M), N * M // 5, K, sparse=True)
    for bare in (replace(some, sparse=False), replace(some, complete=False), replace(some, fixed=1)):
        with pytest.raises(OptionError, match="halve=True"):
            method("hals", bare, {"halve": True})
        method("hals", bare, {})
    with pytest.raises(OptionError, match="halve='yes'"):
        method("hals", Problem((N, M), N * M, K), {"halve": "yes"})
