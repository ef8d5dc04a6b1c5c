"""Sparse products against SciPy's, at the border and in the middle."""

import numpy as np
import pytest
import scipy.sparse as sps

from partwise.kernels import sparse
from partwise.kernels.threads import threads

SHAPES = [(0, 5, 3), (5, 0, 3), (7, 5, 0), (1, 1, 1), (150, 40, 7), (150, 40, 8), (70, 300, 33), (333, 9, 70)]


def problem(n, m, k, dtype=np.float64, index=np.int32, density=0.2):
    rng = np.random.default_rng(n + 10 * m + 100 * k)
    X = sps.random(n, m, density, format="csr", dtype=dtype, rng=rng)
    csr = (X.indptr.astype(index), X.indices.astype(index), X.data)
    return X, csr, rng.random((k, n)).astype(dtype), rng.random((k, m)).astype(dtype)


def close(ours, exact, dtype):
    assert ours.dtype == dtype
    assert ours.flags.c_contiguous
    np.testing.assert_allclose(ours, exact, rtol=100 * np.finfo(dtype).eps, atol=0)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape", SHAPES)
def test_products_are_scipys(shape, dtype):
    X, csr, Wt, H = problem(*shape, dtype=dtype)
    exact = X.astype(np.float64)
    close(sparse.gather(*csr, H), (exact @ H.T.astype(np.float64)).T, dtype)
    close(sparse.scatter(*csr, Wt, X.shape[1]), (exact.T @ Wt.T.astype(np.float64)).T, dtype)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape", SHAPES)
def test_sampled_product_is_the_dense_one_at_the_entries(shape, dtype):
    X, (indptr, indices, _), Wt, H = problem(*shape, dtype=dtype)
    rows = np.repeat(np.arange(X.shape[0]), np.diff(indptr))
    dense = Wt.T.astype(np.float64) @ H.astype(np.float64)
    close(sparse.sampled_product(indptr, indices, Wt, H), dense[rows, indices], dtype)


@pytest.mark.parametrize("shape", SHAPES)
def test_entries_are_rounded_to_the_factors_when_read(shape):
    X, (indptr, indices, data), Wt, H = problem(*shape)
    Wt, H, rounded = (array.astype(np.float32) for array in (Wt, H, data))
    for mine, theirs in (
        (sparse.gather(indptr, indices, data, H), sparse.gather(indptr, indices, rounded, H)),
        (sparse.scatter(indptr, indices, data, Wt, X.shape[1]), sparse.scatter(indptr, indices, rounded, Wt, X.shape[1])),
    ):  # fmt: skip
        assert mine.dtype == np.float32
        np.testing.assert_array_equal(mine, theirs)


def test_index_type_does_not_matter():
    X, short, Wt, H = problem(60, 50, 9)
    _, long, _, _ = problem(60, 50, 9, index=np.int64)
    assert np.array_equal(sparse.gather(*short, H), sparse.gather(*long, H))
    assert np.array_equal(sparse.scatter(*short, Wt, X.shape[1]), sparse.scatter(*long, Wt, X.shape[1]))
    assert np.array_equal(sparse.sampled_product(*short[:2], Wt, H), sparse.sampled_product(*long[:2], Wt, H))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_bits_do_not_depend_on_the_threads(dtype):
    X, csr, Wt, H = problem(1000, 300, 50, dtype=dtype)
    results = []
    for number in (1, 2, 3):
        with threads(number):
            products = sparse.gather(*csr, H), sparse.scatter(*csr, Wt, X.shape[1])
            results.append((*products, sparse.sampled_product(*csr[:2], Wt, H)))
    for other in results[1:]:
        assert all(np.array_equal(a, b) for a, b in zip(results[0], other, strict=True))


def test_entries_stored_twice_are_added_and_order_is_free():
    indptr, indices, data = np.array([0, 3]), np.array([2, 0, 2]), np.array([1.0, 2.0, 4.0])
    assert sparse.gather(indptr, indices, data, np.array([[1.0, 10.0, 100.0]])).tolist() == [[502.0]]
    assert sparse.scatter(indptr, indices, data, np.array([[1.0]]), 3).tolist() == [[2.0, 0.0, 5.0]]


def test_inputs_may_be_read_only_and_are_not_written_to():
    X, csr, Wt, H = problem(80, 30, 5)
    arrays = (*csr, Wt, H)
    before = [a.copy() for a in arrays]
    for a in arrays:
        a.flags.writeable = False
    sparse.gather(*csr, H)
    sparse.scatter(*csr, Wt, X.shape[1])
    sparse.sampled_product(*csr[:2], Wt, H)
    assert all(np.array_equal(a, b) for a, b in zip(arrays, before, strict=True))
