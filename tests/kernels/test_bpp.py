"""Exact nonnegative least squares: against SciPy's, by its optimality conditions, and where matrices and scales are hostile."""

import numpy as np
import pytest
import scipy.optimize
from hypothesis import given, settings
from hypothesis import strategies as st

from partwise.kernels import bpp as module
from partwise.kernels import factor
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


def test_coordinate_descent_ends_a_search_that_does_not_settle(monkeypatch):
    """With no pivots allowed, the last resort alone must be right."""
    A, B, gram, cross = problem(8, 10, correlation=0.5)
    F = np.random.default_rng(3).standard_normal(cross.shape)
    for c in range(10):
        size = np.sqrt(np.diagonal(gram))
        x = F[:, c].copy()
        module._descend(gram / np.outer(size, size), cross[:, c] / size, x)
        exact = scipy.optimize.nnls(A, B[:, c])[0]
        np.testing.assert_allclose(x / size, exact, rtol=1e-8, atol=1e-9 * exact.max())


def test_single_exchanges_end_a_cycle_of_full_ones(monkeypatch):
    """Full exchanges alone go round for ever here."""
    gram = np.array(
        [[1, -0.72, -0.624, 0.187], [-0.72, 1, 0.92, 0.132], [-0.624, 0.92, 1, -0.205], [0.187, 0.132, -0.205, 1]]
    )
    slopes = np.array([-1.0, 0.527, 0.058, 0.438])

    def solve():
        x = np.zeros(4)
        module._solve.py_func(gram, module._widened(gram), slopes, x)
        return x

    def gave_up(*_):
        raise TimeoutError

    monkeypatch.setattr(module, "_descend", gave_up)
    assert_optimal(solve()[:, None], gram, slopes[:, None], 1e-12)
    monkeypatch.setattr(module, "_PATIENCE", 10**9)
    with pytest.raises(TimeoutError):
        solve()


def test_inputs_may_be_read_only_and_are_not_written_to():
    _, _, gram, cross = problem(9, 20)
    arrays = (np.ones_like(cross), gram, cross)
    before = [a.copy() for a in arrays]
    for a in arrays:
        a.flags.writeable = False
    bpp(*arrays)
    assert all(np.array_equal(a, b) for a, b in zip(arrays, before, strict=True))


@settings(max_examples=60, deadline=None)
@given(
    st.integers(1, 12), st.integers(1, 20), st.integers(0, 10**6), st.floats(-30, 30), st.sampled_from([0.0, 0.5, 0.9])
)
def test_whatever_comes_the_answer_is_optimal(k, samples, seed, exponent, zeros):
    """Singular or not, sparse or not, at any scale, with components that repeat and others that are all zeros."""
    rng = np.random.default_rng(seed)
    A = rng.random((samples, k)) * (rng.random((samples, k)) >= zeros) * 10.0**exponent
    A[:, rng.integers(k)] = A[:, rng.integers(k)]
    B = rng.random((samples, 6)) * (rng.random((samples, 6)) >= zeros)
    gram, cross = A.T @ A, A.T @ B
    assert_optimal(bpp(rng.random((k, 6)), gram, cross), gram, cross, 1e-5)


def test_factor_drops_dependent_rows():
    basis = np.array([[1.0, 0, 0], [0.6, 0.8, 0], [1.0, 0, 0], [0, 0.6, 0.8]])
    upper, inverses = np.zeros((4, factor.BLOCK)), np.zeros(4)
    upper[:, :4], upper[:, 4] = np.triu(basis @ basis.T), basis @ np.array([1.0, 2.0, 3.0])
    flat = upper.reshape(-1)
    factor.eliminate(flat, factor.BLOCK, inverses)
    values = factor.back_substitute(flat, factor.BLOCK, inverses)
    assert inverses[2] == values[2] == 0
    np.testing.assert_allclose(values @ basis, [1, 2, 3], rtol=1e-14)


def test_factor_drops_what_depends_on_earlier_rows_but_for_rounding():
    rng = np.random.default_rng(0)
    A = rng.random((20, 9))
    A = np.c_[A, A @ rng.random((9, 3))]
    matrix = A.T @ A / np.outer(np.linalg.norm(A, axis=0), np.linalg.norm(A, axis=0))
    width = -(-13 // factor.BLOCK) * factor.BLOCK
    upper, inverses = np.zeros((12, width)), np.zeros(12)
    upper[:, :12], upper[:, 12] = np.triu(matrix), matrix.sum(axis=1)
    flat = upper.reshape(-1)
    factor.eliminate(flat, width, inverses)
    values = factor.back_substitute(flat, width, inverses)
    assert np.flatnonzero(inverses == 0).tolist() == [9, 10, 11]
    np.testing.assert_allclose(matrix @ values, matrix.sum(axis=1), rtol=1e-11)
