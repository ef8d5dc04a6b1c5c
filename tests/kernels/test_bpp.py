"""Exact nonnegative least squares: against SciPy's, by its optimality conditions, and where matrices and scales are hostile."""

import numpy as np
import pytest
import scipy.optimize

from partwise.kernels import bpp as module
from partwise.kernels import passive_sets
from partwise.kernels.bpp import bpp
from partwise.kernels.threads import threads


def problem(k, r, seed=0, samples=None, correlation=0.0):
    """A (samples, k) and B (samples, r), and their pair: a third of the solution is 0 or so."""
    rng = np.random.default_rng(seed)
    A = rng.random((samples or 3 * k, k)) + correlation * rng.random((samples or 3 * k, 1))
    B = A @ (rng.gamma(1, 1, (k, r)) * (rng.random((k, r)) < 0.4)) + rng.standard_normal((len(A), r))
    return A, B, A.T @ A, A.T @ B


def assert_optimal(F, gram, cross, tolerance):
    """Nonnegative, slopes uphill, and slopes 0 where F > 0, each relative to the size of the terms."""
    F, gram, cross = (a.astype(np.float64) for a in (F, gram, cross))
    assert np.isfinite(F).all()
    assert (F >= 0).all()
    uphill = gram @ F - cross
    size = np.abs(gram) @ F + np.abs(cross).max(axis=0, initial=0)
    assert (uphill >= -tolerance * size).all()
    assert (np.abs(uphill) <= tolerance * size)[F > 0].all()


@pytest.mark.parametrize("k", [1, 2, 3, 4, 7, 8, 9, 20, 33, 70])
@pytest.mark.parametrize("correlation", [0.0, 30.0])
def test_solution_is_scipys(k, correlation):
    A, B, gram, cross = problem(k, 40, correlation=correlation)
    exact = np.array([scipy.optimize.nnls(A, b)[0] for b in B.T]).T
    F = bpp(np.zeros_like(cross), gram, cross)
    condition = np.linalg.cond(gram)  # which is what the normal equations lose, whoever solves them
    np.testing.assert_allclose(F, exact, rtol=0, atol=1e-10 * exact.max() * max(1.0, condition * 1e-6))
    assert 0 < np.count_nonzero(F) < F.size or k < 3
    assert_optimal(F, gram, cross, 1e-11)


@pytest.mark.parametrize("sweeps", [0, 15])
def test_pivots_alone_find_it_too(sweeps, monkeypatch):
    _, _, gram, cross = problem(30, 60, correlation=3.0)
    expected = bpp(np.zeros_like(cross), gram, cross)
    monkeypatch.setattr(module, "_SWEEPS", sweeps)
    np.testing.assert_allclose(bpp(np.zeros_like(cross), gram, cross), expected, rtol=1e-9, atol=1e-12)


def test_where_the_search_starts_does_not_matter():
    _, _, gram, cross = problem(25, 80, correlation=5.0)
    rng = np.random.default_rng(1)
    cold = bpp(np.zeros_like(cross), gram, cross)
    for start in (cold, rng.random(cross.shape), 1e200 * rng.random(cross.shape)):
        np.testing.assert_allclose(bpp(start, gram, cross), cold, rtol=1e-9, atol=1e-12)


def test_float32_is_solved_in_float64():
    _, _, gram, cross = (a.astype(np.float32) for a in problem(20, 50, correlation=5.0))
    F = bpp(np.zeros_like(cross), gram, cross)
    assert F.dtype == np.float32
    exact = bpp(*(a.astype(np.float64) for a in (np.zeros_like(cross), gram, cross)))
    assert np.array_equal(F, exact.astype(np.float32))


def test_columns_are_solved_each_on_its_own():
    _, _, gram, cross = problem(23, 301)
    start = np.random.default_rng(2).random(cross.shape)
    whole = bpp(start, gram, cross)
    pieces = [slice(0, 1), slice(1, 70), slice(70, 301)]
    parts = [bpp(np.ascontiguousarray(start[:, p]), gram, np.ascontiguousarray(cross[:, p])) for p in pieces]
    assert np.array_equal(whole, np.concatenate(parts, axis=1))
    for number in (1, 2, 3):
        with threads(number):
            assert np.array_equal(whole, bpp(start, gram, cross))


@pytest.mark.parametrize("samples", [1, 5, 11])
def test_singular_gram(samples):
    _, _, gram, cross = problem(12, 50, samples=samples)
    assert_optimal(bpp(np.zeros_like(cross), gram, cross), gram, cross, 1e-6)


def test_repeated_components_share_one_answer():
    A, B, _, _ = problem(6, 20)
    A = A[:, [0, 1, 2, 3, 4, 5, 0, 3]]
    gram, cross = A.T @ A, A.T @ B
    F = bpp(np.zeros_like(cross), gram, cross)
    assert_optimal(F, gram, cross, 1e-9)
    best = [scipy.optimize.nnls(A, b)[1] for b in B.T]
    np.testing.assert_allclose(np.linalg.norm(B - A @ F, axis=0), best, rtol=1e-10)


def test_dead_components_are_zero():
    _, _, gram, cross = problem(9, 30)
    dead = [0, 5]
    gram[dead], gram[:, dead], cross[dead] = 0, 0, 0
    F = bpp(np.ones_like(cross), gram, cross)
    assert (F[dead] == 0).all()
    alive = np.delete(np.arange(9), dead)
    expected = bpp(np.zeros_like(cross[alive]), gram[np.ix_(alive, alive)], cross[alive])
    np.testing.assert_allclose(F[alive], expected, rtol=1e-10, atol=1e-12)


def test_nothing_to_find():
    _, _, gram, cross = problem(7, 5)
    assert (bpp(np.ones((7, 5)), gram, np.zeros((7, 5))) == 0).all()
    assert (bpp(np.ones((7, 5)), np.zeros((7, 7)), np.zeros((7, 5))) == 0).all()
    assert (bpp(np.ones((7, 5)), gram, -np.abs(cross)) == 0).all()
    assert bpp(np.zeros((7, 0)), gram, np.zeros((7, 0))).shape == (7, 0)
    assert bpp(np.zeros((0, 5)), np.zeros((0, 0)), np.zeros((0, 5))).shape == (0, 5)


@pytest.mark.parametrize("size", [1e-300, 1e-150, 1e-30, 1e30, 1e150, 1e300])
def test_scale_of_the_data_does_not_matter(size):
    _, _, gram, cross = problem(15, 40)
    expected = bpp(np.zeros_like(cross), gram, cross)
    both = bpp(np.zeros_like(cross), gram * size, cross * size)
    np.testing.assert_allclose(both, expected, rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(bpp(expected, gram, cross * size), expected * size, rtol=1e-9, atol=1e-11 * size)


def test_components_of_very_different_size():
    A, B, _, _ = problem(10, 40)
    sizes = np.logspace(-100, 100, 10)
    gram, cross = (A * sizes).T @ (A * sizes), (A * sizes).T @ B
    F = bpp(np.zeros_like(cross), gram, cross)
    np.testing.assert_allclose(F * sizes[:, None], bpp(np.zeros_like(cross), A.T @ A, A.T @ B), rtol=1e-8, atol=1e-10)


def test_what_overflows_is_the_largest_number():
    F = bpp(np.zeros((1, 2)), np.array([[1e-300]]), np.array([[1e300, 1.0]]))
    assert F[0, 0] == np.finfo(np.float64).max
    np.testing.assert_allclose(F[0, 1], 1e300)


def nearly_dependent(kind, k, seed=0):
    """Components (k, m) whose gram is singular to within rounding, or nearly; and rows made of few of them."""
    rng = np.random.default_rng(seed)
    m = 2 * k
    if kind == "smooth":
        axis = np.linspace(0, 1, m)
        H = np.exp(-((axis - np.linspace(0, 1, k)[:, None]) ** 2) / (2 * 0.08**2))
    elif kind == "low rank":
        H = rng.random((k, k // 3)) @ rng.random((k // 3, m)) + 1e-9 * rng.random((k, m))
    else:
        H = rng.random((k // 4, m))[np.arange(k) % (k // 4)] * (1 + 1e-7 * rng.random((k, m)))
    W = rng.random((60, k)) * (rng.random((60, k)) < 0.3)
    return H, W @ H + 0.1 * rng.random((60, m))


@pytest.mark.parametrize("kind", ["smooth", "low rank", "alike"])
@pytest.mark.parametrize("k", [12, 40, 100])
def test_nearly_dependent_components_are_solved_as_well_as_by_scipy(kind, k):
    H, X = nearly_dependent(kind, k)
    F = bpp(np.zeros((k, len(X))), H @ H.T, H @ X.T)
    assert (F >= 0).all()
    best = np.array([scipy.optimize.nnls(H.T, x)[1] for x in X])
    np.testing.assert_allclose(
        np.linalg.norm(X - F.T @ H, axis=1), best, rtol=3e-6
    )  # squares of 1e-8 are lost in a gram


@pytest.mark.parametrize("correlation", [0.0, 3.0])
def test_one_by_one_finds_it_too(correlation):
    A, B, gram, cross = problem(20, 40, correlation=correlation)
    size = np.sqrt(np.diagonal(gram))
    unit = gram / np.outer(size, size)
    for c in range(cross.shape[1]):
        x, slopes = np.full(20, 7.0), cross[:, c] / size
        largest = np.abs(slopes).max()
        passive_sets.enter_one_by_one(unit, module._widened(unit), slopes / largest, x)
        exact = scipy.optimize.nnls(A, B[:, c])[0]
        np.testing.assert_allclose(x * largest / size, exact, rtol=1e-8, atol=1e-9 * exact.max())
