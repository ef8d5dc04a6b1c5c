"""Whole methods against scikit-learn's: the same iterates from the same start."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.decomposition import non_negative_factorization
from sklearn.exceptions import ConvergenceWarning

from partwise.algorithms.single.alternating import Penalty
from partwise.algorithms.single.methods import Problem, method
from partwise.data import as_matrix

SHAPE, K = (31, 24), 5


def problem(seed=0, zeros=0.0):
    rng = np.random.default_rng(seed)
    X = rng.gamma(0.7, 1, (SHAPE[0], K)) @ rng.gamma(0.7, 1, (K, SHAPE[1])) + 0.1 * rng.random(SHAPE) + 0.01
    X[rng.random(SHAPE) < zeros] = 0
    return X, rng.uniform(0.1, 1, (SHAPE[0], K)), rng.uniform(0.1, 1, (K, SHAPE[1]))


def ours(solver, X, W, H, iterations, beta=2.0, penalty=None, **options):
    held = as_matrix(X)
    step = method(solver, Problem(held.shape, held.nnz, K, beta=beta, penalty=penalty or Penalty()), options)
    state = step.init(held, np.ascontiguousarray(W.T), H)
    for t in range(1, iterations + 1):
        state = step.step(held, state, t)
    return state.Wt.T, state.H


def theirs(X, W, H, iterations, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        W, H, done = non_negative_factorization(
            X, n_components=K, init="custom", W=W.copy(), H=H.copy(), tol=0, max_iter=iterations, **options
        )
    assert done == iterations
    return W, H


def same(mine, reference, rtol):
    for F, G in zip(mine, reference, strict=True):
        np.testing.assert_allclose(F, G, rtol=rtol, atol=1e-10)


@pytest.mark.parametrize("hold", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("iterations", [1, 20])
def test_hals_is_scikit_learns_coordinate_descent(iterations, hold):
    X, W, H = problem(zeros=0.3)
    X = hold(X)
    mine = ours("hals", X, W, H, iterations, acceleration=1, extrapolate=False)
    same(mine, theirs(X, W, H, iterations, solver="cd", shuffle=False), rtol=1e-8)


@pytest.mark.parametrize("l1_ratio", [0.0, 0.4, 1.0])
def test_penalties_are_scikit_learns(l1_ratio):
    X, W, H = problem()
    on_W, on_H, l2_ratio = 0.02 * SHAPE[1], 0.03 * SHAPE[0], 1 - l1_ratio
    penalty = Penalty(on_W * l1_ratio, on_W * l2_ratio, on_H * l1_ratio, on_H * l2_ratio)
    mine = ours("hals", X, W, H, 20, penalty=penalty, acceleration=1, extrapolate=False)
    wished = {"alpha_W": 0.02, "alpha_H": 0.03, "l1_ratio": l1_ratio}
    same(mine, theirs(X, W, H, 20, solver="cd", shuffle=False, **wished), rtol=1e-7)
    same(ours("mu", X, W, H, 20, penalty=penalty), theirs(X, W, H, 20, solver="mu", **wished), rtol=1e-7)


@pytest.mark.parametrize("hold", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("beta", [0.0, 0.5, 1.0, 1.5, 2.0, 3.0])
def test_mu_is_scikit_learns(beta, hold):
    X, W, H = problem(zeros=0.3 if beta > 0 else 0.0)
    X = hold(X)
    mine = ours("mu", X, W, H, 20, beta=beta)
    same(mine, theirs(X, W, H, 20, solver="mu", beta_loss=beta), rtol=1e-6)
