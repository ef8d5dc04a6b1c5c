"""Fits beside SciPy and plain sums."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import nnls

from partwise.metrics import objective, rmse


def given(seed=0):
    rng = np.random.default_rng(seed)
    X = rng.random((20, 9)) * (rng.random((20, 9)) < 0.6)
    return X, rng.random((20, 3)), rng.random((3, 9))


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_the_objective_is_that_of_the_best_W(form):
    X, _, H = given()
    expected = sum(nnls(H.T, x)[1] ** 2 for x in X) / (2 * len(X))
    assert objective(H, form(X)) == pytest.approx(expected, rel=1e-9)


def test_rmse_counts_what_was_observed():
    X, W, H = given()
    D = (X - W @ H)[X > 0]
    seen = np.where(X > 0, X, np.nan)
    for observed in (sp.csr_array(X), seen):
        assert rmse(observed, W, H) == pytest.approx(np.sqrt(np.mean(D**2)))
        assert rmse(observed, W, H, over="all") == pytest.approx(np.sqrt(np.sum(D**2) / X.size))
    assert rmse(X, W, H) == pytest.approx(np.sqrt(np.mean((X - W @ H) ** 2)))


def test_refusals_are_sentences():
    X, W, H = given()
    for ask, sentence in (
        (lambda: objective(H[:, 1:], X), "the same number of columns"),
        (lambda: rmse(X, W[1:], H), r"expected \(20, k\)"),
        (lambda: rmse(X, W, H, over="some"), "'observed' or 'all'"),
        (lambda: rmse(sp.csr_array(X.shape), W, H), "Nothing of X was observed"),
    ):
        with pytest.raises(ValueError, match=sentence):
            ask()
