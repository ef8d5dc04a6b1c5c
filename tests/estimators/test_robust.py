"""RobustNMF: what it must recover, what may not change it, what it refuses."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import minimize

from partwise import NMF, RobustNMF
from partwise.data import as_matrix
from partwise.data.outliers import outliers


def contaminated(seed=0, n=120, m=40, k=3, share=0.05):
    """(clean, X, where): a product of factors, and the same with a few wild entries."""
    rng = np.random.default_rng(seed)
    H = rng.random((k, m)) * (rng.random((k, m)) < 0.5)
    clean = rng.gamma(1, 1, (n, k)) @ H
    where = rng.random((n, m)) < share
    return clean, np.where(where, rng.uniform(3, 8, (n, m)), clean), where


def relative(A, B):
    return np.linalg.norm(A - B) / np.linalg.norm(B)


def test_recovers_what_wild_entries_hide_from_nmf():
    clean, X, where = contaminated()
    robust = RobustNMF(3, outlier_penalty=0.2, random_state=0, max_iter=500).fit(X)
    plain = NMF(3, random_state=0).fit(X)
    assert relative(robust.transform(X) @ robust.components_, clean) < 0.05
    assert relative(plain.transform(X) @ plain.components_, clean) > 0.2
    found = robust.outliers_.toarray() != 0
    assert found[where].mean() > 0.9
    assert found[~where].mean() < 0.02


@pytest.mark.parametrize("solver", ["hals", "pgd"])
def test_objective_never_rises_and_is_what_it_says(solver):
    _, X, _ = contaminated(1)
    model = RobustNMF(3, outlier_penalty=0.3, solver=solver, random_state=0, tol=0, max_iter=40)
    W = model.fit_transform(X)
    R = model.outliers_.toarray()
    value = 0.5 * np.sum((X - W @ model.components_ - R) ** 2) + 0.3 * np.abs(R).sum()
    assert model.objective_ == pytest.approx(value)
    assert model.reconstruction_err_ == pytest.approx(np.linalg.norm(X - W @ model.components_ - R))
    longer = RobustNMF(3, outlier_penalty=0.3, solver=solver, random_state=0, tol=0, max_iter=80).fit(X)
    assert longer.objective_ <= model.objective_
    assert (np.linalg.norm(model.components_, axis=1) <= 1 + 1e-12).all()


def test_w_of_a_row_is_the_optimum_that_scipy_finds():
    _, X, _ = contaminated(2)
    model = RobustNMF(3, outlier_penalty=0.3, outlier_bound=None, random_state=0).fit(X)
    H, W = model.components_, model.transform(X)

    def huber(w, x):
        d = np.abs(x - w @ H)
        return np.where(d <= 0.3, 0.5 * d**2, 0.3 * d - 0.045).sum()

    for x, w in zip(X[:5], W[:5], strict=True):
        best = minimize(huber, w + 0.1, args=(x,), bounds=[(0, None)] * 3, method="L-BFGS-B", options={"ftol": 1e-14})
        assert huber(w, x) <= best.fun * (1 + 1e-6)


def test_sparse_is_dense_and_rows_stand_alone():
    _, X, _ = contaminated(3)
    dense = RobustNMF(3, outlier_penalty=0.3, random_state=0).fit(X)
    for form in (sp.csr_array, sp.csc_array):
        held = RobustNMF(3, outlier_penalty=0.3, random_state=0).fit(form(X))
        np.testing.assert_allclose(held.components_, dense.components_, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(dense.transform(X)[:4], dense.transform(X[:4]), rtol=1e-7, atol=1e-12)


def test_an_endless_penalty_finds_no_outliers():
    _, X, _ = contaminated(4)
    model = RobustNMF(3, outlier_penalty=1e6, random_state=0).fit(X)
    assert model.outliers_.nnz == 0


def test_outliers_are_bounded_and_only_where_the_model_is_far():
    _, X, _ = contaminated(5)
    model = RobustNMF(3, outlier_penalty=0.3, outlier_bound=2.0, random_state=0).fit(X)
    W = model.transform(X)
    R = outliers(as_matrix(X), np.ascontiguousarray(W.T), model.components_, 0.3, 2.0)
    far = np.abs(X - W @ model.components_) > 0.3
    assert np.abs(R.matrix.data).max() == 2.0
    np.testing.assert_array_equal(R.matrix.toarray() != 0, far)


@pytest.mark.parametrize(
    ("wish", "sentence"),
    [
        ({"outlier_penalty": -1}, "outlier_penalty=-1; expected a number ≥ 0"),
        ({"outlier_bound": "big"}, "outlier_bound='big'; expected"),
        ({"solver": "mu"}, "solver='mu' is not known"),
        ({"init": "none"}, "init='none' does not exist"),
    ],
)
def test_refusals(wish, sentence):
    with pytest.raises(ValueError, match=sentence):
        RobustNMF(2, **wish).fit(np.ones((4, 3)))
