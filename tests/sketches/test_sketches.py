"""The four sketches: E[SSᵀ] = I, shards make the whole, sparse = dense, and numbers that depend on their names only."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.linalg import hadamard

from partwise.data import as_matrix
from partwise.errors import OptionError
from partwise.randomness import Purpose
from partwise.sketches import KINDS, sketch
from partwise.sketches.srht import transform

W = Purpose.SKETCH_W


def matrix(kind: str, m: int, d: int, seed: int = 0, t: int = 0, purpose: Purpose = W) -> np.ndarray:
    """(m, d): S itself."""
    return np.asarray(sketch(kind, m, d, seed, t, purpose).apply(np.eye(m)))


def data(rows: int, width: int, dtype: type = np.float64) -> np.ndarray:
    rng = np.random.default_rng(5)
    return (rng.random((rows, width)) * (rng.random((rows, width)) < 0.3)).astype(dtype)


# How S_i. · S_j. spreads around I: variance of a diagonal entry (0 where it is constant) and of one off the diagonal.
VARIANCES = {
    "gaussian": lambda m, d: (2 / d, 1 / d),
    "subsample": lambda m, d: (m / d - 1, 0.0),
    "count": lambda m, d: (0.0, 1 / d),
    "srht": lambda m, d: (0.0, (1 / d) * (m - d) / (m - 1)),  # columns without replacement, m a power of two
}


@pytest.mark.parametrize("kind", KINDS)
def test_mean_of_SSt_is_the_identity_and_its_spread_what_theory_says(kind):
    m, d, draws = 16, 5, 3000
    products = np.array([S @ S.T for S in (matrix(kind, m, d, t=t) for t in range(draws))])
    error, spread = products.mean(axis=0) - np.eye(m), products.var(axis=0)
    for place, variance in zip((np.eye(m, dtype=bool), ~np.eye(m, dtype=bool)), VARIANCES[kind](m, d), strict=True):
        assert np.abs(error[place]).max() <= 4.5 * np.sqrt(variance / draws) + 1e-6  # 256 entries: P(fail) < 0.2 %
        assert np.abs(error[place].mean()) <= 4.5 * np.sqrt(variance / draws / np.sqrt(place.sum())) + 1e-6
        assert spread[place].mean() == pytest.approx(variance, rel=0.1, abs=1e-9)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("width", [1500, 2500])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_shards_make_the_whole(kind, width, dtype):
    A = data(7, width, dtype)
    S = sketch(kind, width, 60, 3, 2, W)
    whole = S.apply(A)
    cuts = [0, 0, 1, 300, 1024, 1025, 1400, width]
    shards = sum(S.apply(A[:, low:high], low) for low, high in pairwise(cuts))
    assert shards.dtype == whole.dtype == dtype
    np.testing.assert_allclose(shards, whole, rtol=0, atol=50 * np.finfo(dtype).eps * np.abs(whole).max())


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape", [(300, 700), (5, 1), (1, 33)])
def test_every_way_of_holding_A_gives_the_same(kind, dtype, shape):
    A = data(*shape, dtype)
    S = sketch(kind, shape[1], 40, 1, 9, W)
    expected = A @ np.asarray(S.apply(np.eye(shape[1], dtype=dtype)))
    strided = np.zeros((shape[0], 2 * shape[1]), dtype)[:, ::2]
    strided[...] = A
    frozen = A.copy()
    frozen.flags.writeable = False
    held = [
        A,
        np.asfortranarray(A),
        strided,
        frozen,
        sp.csr_array(A),
        sp.csc_array(A),
        sp.csr_matrix(A),
        sp.csc_matrix(A),
    ]
    for B in held:
        got = S.apply(B)
        assert got.dtype == dtype
        assert got.shape == (shape[0], S.shape[1])
        np.testing.assert_allclose(
            got, expected, rtol=0, atol=50 * np.finfo(dtype).eps * max(np.abs(expected).max(), 1)
        )
    assert np.array_equal(strided, A)
    assert np.array_equal(held[4].toarray(), A)


@pytest.mark.parametrize("kind", KINDS)
def test_both_precisions_meet_the_same_S(kind):
    A = np.eye(1100)
    S = sketch(kind, 1100, 20, 1, 9, W)
    np.testing.assert_allclose(S.apply(A.astype(np.float32)), S.apply(A), rtol=1e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_numbers_depend_on_their_names_only(kind):
    first = matrix(kind, 50, 10, seed=1, t=2)
    assert np.array_equal(first, matrix(kind, 50, 10, seed=1, t=2))
    for other in ({"seed": 2, "t": 2}, {"seed": 1, "t": 3}, {"seed": 1, "t": 2, "purpose": Purpose.SKETCH_H}):
        assert not np.array_equal(first, matrix(kind, 50, 10, **other))


@pytest.mark.parametrize("kind", ["gaussian", "count", "srht"])
def test_blocks_of_rows_have_numbers_of_their_own(kind):
    S = matrix(kind, 2048, 64)
    assert not np.array_equal(S[:1024], S[1024:])
    if kind == "count":  # the signs and the buckets
        buckets, signs = np.abs(S), S.sum(axis=1)
        assert not np.array_equal(buckets[:1024], buckets[1024:])
        assert not np.array_equal(signs[:1024], signs[1024:])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("held", [np.asarray, sp.csr_array])
def test_empty_shards_are_zero(kind, held):
    S = sketch(kind, 50, 6, 0, 0, W)
    assert np.array_equal(S.apply(held(np.zeros((3, 0))), 20), np.zeros((3, 6)))
    assert S.apply(held(np.zeros((0, 50)))).shape == (0, 6)


def test_subsample_of_all_columns_is_exactly_the_identity():
    assert np.array_equal(matrix("subsample", 37, 37), np.eye(37))


def test_subsample_takes_each_column_once_and_scales_it():
    S = matrix("subsample", 40, 10)
    assert np.array_equal(np.flatnonzero(S.any(axis=1)), np.sort(np.nonzero(S)[0]))
    assert np.unique(S[S != 0]) == pytest.approx([2.0])
    assert (np.diff(np.argmax(S, axis=0)) > 0).all()


def test_srht_of_all_columns_is_orthogonal():
    S = matrix("srht", 64, 64)
    np.testing.assert_allclose(S @ S.T, np.eye(64), atol=1e-12)


@pytest.mark.parametrize("q", range(12))
def test_transform_is_the_hadamard_matrix(q):
    np.testing.assert_array_equal(transform(np.eye(2**q)), hadamard(2**q) if q else [[1.0]])


def test_count_sketch_has_one_sign_a_row():
    S = matrix("count", 90, 7)
    assert ((S != 0).sum(axis=1) == 1).all()
    assert set(S[S != 0]) == {-1.0, 1.0}


@pytest.mark.parametrize("kind", KINDS)
def test_size_is_clipped(kind):
    assert sketch(kind, 9, 0, 0, 0, W).shape == (9, 1)
    assert sketch(kind, 9, 100, 0, 0, W).shape == (9, 9)


def test_an_unknown_kind_is_a_sentence():
    with pytest.raises(
        OptionError, match="sketch='fourier' does not exist; choose one of subsample, gaussian, count, srht"
    ):
        sketch("fourier", 9, 3, 0, 0, W)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("start", [0, 300])
def test_lifting_is_the_product_with_the_transpose(kind, start):
    S, m, width = sketch(kind, 1500, 60, 3, 2, W), 1500, 400
    F = np.random.default_rng(1).random((4, 60))
    whole = F @ matrix(kind, m, 60, 3, 2).T
    lifted = S.lift(F, start, width, 5000)
    assert (lifted is None) == (kind in ("gaussian", "srht"))
    if lifted is not None:
        index, part = lifted
        made = np.zeros((4, width))
        made[:, slice(None) if index is None else index] = part
        np.testing.assert_allclose(made, whole[:, start : start + width], atol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("flipped", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("rows", [50, 500])
def test_products_with_a_sketched_sparse_X_are_those_with_a_dense_one(kind, flipped, dtype, rows):
    """A few rows are sketched, and many are multiplied with what is brought back from the sketch."""
    A = data(rows, 400, dtype)
    F = np.random.default_rng(1).random((4, 60)).astype(dtype)
    S = sketch(kind, 1500, 60, 3, 2, W)
    assert (S.lift(F, 300, 400, rows) is not None) == (kind == "subsample" or (kind == "count" and rows == 500))
    X = as_matrix(sp.csr_array(A.T)).T if flipped else as_matrix(sp.csr_array(A))
    expected = F @ S.apply(A, 300).T
    made = X.times_sketched(F, S, 300)
    assert made.dtype == dtype
    np.testing.assert_allclose(made, expected, rtol=0, atol=100 * np.finfo(dtype).eps * np.abs(expected).max())
