"""Simulated problems: what they were made of is what they say."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from partwise.data.simulate import planted, ratings, spectra, topics
from partwise.errors import OptionError

KINDS = {
    "planted": planted,
    "planted sparse": lambda *a, **b: planted(*a, sparse=True, density=0.2, noise=0.1, **b),
    "spectra": spectra,
    "topics": topics,
    "ratings": ratings,
    "ratings sparse": lambda *a, **b: ratings(*a, sparse=True, **b),
}


def dense(X):
    return X.toarray() if sp.issparse(X) else X


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shape", [(30, 20, 3), (1500, 12, 4), (1, 1, 1), (3, 2000, 2), (5, 4, 7)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_every_problem_is_whole(kind, shape, dtype):
    n, m, k = shape
    X, W, H = KINDS[kind](n, m, k, seed=1, dtype=dtype)
    assert (X.shape, W.shape, H.shape) == ((n, m), (n, k), (k, m))
    assert X.dtype == W.dtype == H.dtype == dtype
    assert W.T.flags.c_contiguous
    assert H.flags.c_contiguous
    assert (W >= 0).all()
    assert (H >= 0).all()
    known = dense(X)[~np.isnan(dense(X))]
    assert np.isfinite(known).all()
    assert (known >= 0).all()
    if sp.issparse(X):
        assert X.format == "csr"
        assert X.has_canonical_format
        assert (X.data > 0).all()


@pytest.mark.parametrize("kind", KINDS)
def test_a_problem_depends_on_its_seed_only(kind):
    first, again, other = (KINDS[kind](40, 30, 3, seed=seed) for seed in (1, 1, 2))
    for A, B, C in zip(first, again, other, strict=True):
        assert np.array_equal(dense(A), dense(B), equal_nan=True)
        assert not np.array_equal(dense(A), dense(C), equal_nan=True)


@pytest.mark.parametrize("sparse", [False, True])
def test_planted_without_noise_is_the_product(sparse):
    X, W, H = planted(1100, 40, 5, seed=0, density=0.3, sparse=sparse)
    np.testing.assert_allclose(dense(X), W @ H, rtol=1e-12)
    assert np.linalg.matrix_rank(dense(X)) == 5
    for F in (W, H):
        assert (F > 0).mean() == pytest.approx(0.3 + 0.7 / 5, abs=0.1)  # one of each row is never zero
    assert (W.max(axis=1) > 0).all()
    assert (H.max(axis=0) > 0).all()


def test_planted_noise_has_the_size_asked_for():
    X, W, H = planted(1500, 80, 10, seed=0, noise=0.05)
    level = 0.05 * np.sqrt(((W @ H) ** 2).mean())
    model = W @ H
    assert np.std((X - model)[model > 5 * level]) == pytest.approx(level, rel=0.02)


def test_sparse_planted_stays_sparse():
    X, W, H = planted(500, 400, 30, seed=0, density=0.02, noise=0.2, sparse=True)
    assert X.nnz < 0.2 * 500 * 400
    assert not dense(X)[W @ H == 0].any()


def test_spectra_overlap_and_their_noise_is_multiplicative():
    X, W, H = spectra(2000, 200, 6, seed=0, noise=0.1)
    ratio = X / (W @ H)
    assert ratio.mean() == pytest.approx(1, abs=0.002)
    assert ratio.std() == pytest.approx(0.1, rel=0.02)
    unit = H / np.linalg.norm(H, axis=1, keepdims=True)
    assert (unit @ unit.T)[~np.eye(6, dtype=bool)].mean() > 0.3
    assert np.abs(np.diff(H, axis=1)).max() < 0.2 * H.max()


def test_topics_are_counts_with_the_declared_mean():
    X, W, H = topics(3000, 400, 5, seed=0, length=60)
    assert np.array_equal(X.data, np.round(X.data))
    np.testing.assert_allclose(H.sum(axis=1), 1)
    assert W.sum(axis=1).mean() == pytest.approx(60, rel=0.05)
    expected, seen = W.sum(axis=0) @ H, X.sum(axis=0)
    common = expected > 30
    z = (seen - expected)[common] / np.sqrt(expected[common])
    assert common.sum() > 50
    assert np.abs(z).max() < 4.5
    assert np.mean(z**2) == pytest.approx(1, abs=0.5)
    assert X.nnz < 0.2 * 3000 * 400


@pytest.mark.parametrize("density", [0.05, 0.3, 1.0])
def test_ratings_are_observed_as_often_as_asked(density):
    X, W, H = ratings(1500, 100, 3, seed=0, density=density, noise=0)
    seen = ~np.isnan(X)
    assert seen.mean() == pytest.approx(density, rel=0.25)
    assert seen.any(axis=0).all()
    assert seen.any(axis=1).all()
    np.testing.assert_allclose(X[seen], np.maximum(W @ H, 0.01)[seen])
    if density < 1:
        assert seen[:, :10].mean() > 1.5 * seen[:, -10:].mean()


def test_both_forms_of_ratings_say_the_same():
    plain, stored = (ratings(200, 300, 3, seed=0, sparse=sparse).X for sparse in (False, True))
    assert stored.nnz == (~np.isnan(plain)).sum()
    assert np.array_equal(stored.toarray(), np.nan_to_num(plain))


def test_an_impossible_share_is_refused():
    with pytest.raises(OptionError, match=r"density=1\.5 is not a share"):
        ratings(3, 3, 1, seed=0, density=1.5)
