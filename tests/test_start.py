"""Starts: scikit-learn's where it has them, the same for every way of holding X, and sentences for what cannot be."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.cluster import KMeans
from sklearn.decomposition._nmf import _initialize_nmf

from partwise.data import as_matrix
from partwise.errors import OptionError
from partwise.randomness import Purpose, generator
from partwise.start import METHODS, alone, start
from partwise.start.kmeans import _seeds, clusters
from partwise.start.svd import svd

DRAWN = [name for name in METHODS if name != "custom"]


def planted(n: int = 60, m: int = 45, parts: int = 8, dtype: type = np.float64) -> np.ndarray:
    """(n, m): parts of well separated strengths, some zeros, a little noise."""
    rng = np.random.default_rng(0)
    W, H = (rng.gamma(1, 1, shape) * (rng.random(shape) < 0.4) for shape in ((n, parts), (parts, m)))
    X = (W * 0.7 ** np.arange(parts)) @ H
    X[X > 0] += 0.001 * rng.random(np.count_nonzero(X))
    return X.astype(dtype)


def relative(A: np.ndarray, B: np.ndarray) -> float:
    return float(np.linalg.norm(A - B) / np.linalg.norm(B))


@pytest.mark.parametrize("k", [1, 5, 8])
@pytest.mark.parametrize("shape", [(60, 45), (45, 60), (400, 100), (100, 300)])
@pytest.mark.parametrize("held", [np.asarray, np.asfortranarray, sp.csr_array, sp.csc_array])
@pytest.mark.parametrize("method", ["nndsvd", "nndsvda"])
def test_nndsvd_is_scikit_learns(k, shape, held, method):
    X = planted(*shape)
    Wt, H = start(as_matrix(held(X)), k, method, seed=1)
    W_, H_ = _initialize_nmf(X, k, init=method, random_state=0)
    assert relative(Wt.T, W_) < 1e-3
    assert relative(H, H_) < 1e-3


def test_nndsvdar_fills_the_zeros_of_nndsvd_with_small_numbers():
    X = planted()
    (W0, H0), (W1, H1) = (start(as_matrix(X), 5, method, 1) for method in ("nndsvd", "nndsvdar"))
    for plain, filled in ((W0, W1), (H0, H1)):
        assert np.array_equal(filled[plain > 0], plain[plain > 0])
        drawn = filled[plain == 0]
        assert (drawn > 0).all()
        assert drawn.mean() == pytest.approx(X.mean() / 100 * np.sqrt(2 / np.pi), rel=0.3)
        assert len(np.unique(drawn)) == len(drawn)


def test_nndsvd_does_not_depend_on_the_unit_of_X():
    X = planted()
    (W1, H1), (W2, H2) = (start(as_matrix(X * unit), 5, "nndsvd", 1) for unit in (1.0, 1e-20))
    assert relative(W2 * 1e10, W1) < 1e-10
    assert relative(H2 * 1e10, H1) < 1e-10


@pytest.mark.parametrize("shape", [(200, 120), (120, 200), (12, 9), (9, 12)])
def test_svd_is_the_svd(shape):
    X = planted(*shape, parts=4)
    k = 4
    Ut, s, V = svd(alone(as_matrix(X)), k, seed=3)
    U_, s_, V_ = np.linalg.svd(X, full_matrices=False)
    np.testing.assert_allclose(s, s_[:k], rtol=1e-9)
    best = (U_[:, :k] * s_[:k]) @ V_[:k]
    assert relative((Ut.T * s) @ V, best) < 1e-6
    np.testing.assert_allclose(Ut @ Ut.T, np.eye(k), atol=1e-12)
    np.testing.assert_allclose(V @ V.T, np.eye(k), atol=1e-12)


class Counting:
    """X, counting the passes over it."""

    def __init__(self, X, passes):
        self.X, self.passes = X, passes

    def __getattr__(self, name):
        found = getattr(self.X, name)
        if name not in ("times", "normal_eq", "mean"):
            return found

        def counted(*given):
            self.passes.append(name)
            return found(*given)

        return counted

    @property
    def T(self):
        return Counting(self.X.T, self.passes)


@pytest.mark.parametrize(
    ("method", "k", "passes"),
    [("random", 9, 1), ("nndsvd", 9, 16), ("nndsvd", 20, 10), ("nndsvd", 95, 2), ("nndsvda", 9, 17), ("kmeans", 9, 19)],
)
def test_passes_are_those_declared(method, k, passes):
    seen: list[str] = []
    start(Counting(as_matrix(planted(120, 100)), seen), k, method, 0)
    assert len(seen) == passes


def test_random_has_scikit_learns_scale_and_depends_on_names_only():
    X = as_matrix(planted(3000, 45))
    Wt, H = start(X, 8, "random", 1)
    for F in (Wt, H):
        assert (F > 0).all()
        assert F.mean() == pytest.approx(np.sqrt(X.mean() / 8) * np.sqrt(2 / np.pi), rel=4 / np.sqrt(F.size))
    assert not np.array_equal(Wt[:, :1024], Wt[:, 1024:2048])
    assert not np.array_equal(Wt[:, :45], H)
    assert not np.array_equal(Wt, start(X, 8, "random", 2)[0])


def test_a_random_start_does_not_depend_on_how_many_rows_follow():
    X = planted(3000, 45)
    X[1500:] = X[:1500]
    whole, half = (start(as_matrix(part), 3, "random", 5)[0] for part in (X, X[:1500]))
    np.testing.assert_allclose(whole[:, :1500], half, rtol=1e-12)


@pytest.mark.parametrize("method", DRAWN)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_every_start_is_fit_to_start_from(method, dtype):
    X = planted(80, 50, dtype=dtype)
    X.flags.writeable = False
    for held in (X, sp.csr_array(X)):
        Wt, H = start(as_matrix(held), 6, method, 0)
        assert (Wt.shape, H.shape) == ((6, 80), (6, 50))
        for F in (Wt, H):
            assert F.dtype == dtype
            assert F.flags.c_contiguous
            assert F.flags.writeable
            assert np.isfinite(F).all()
            assert (F >= 0).all()
            assert (F.max(axis=1) > 0).all()
        again = start(as_matrix(held), 6, method, 0)
        assert np.array_equal(Wt, again[0])
        assert np.array_equal(H, again[1])


@pytest.mark.parametrize("method", DRAWN)
@pytest.mark.parametrize(
    "X", [np.zeros((6, 5)), np.ones((6, 5)), np.eye(5), np.full((6, 5), 1e-300), np.eye(6, 5) * 1e99]
)
def test_degenerate_data_stay_finite(method, X):
    for F in start(as_matrix(X), 4, method, 0):
        assert np.isfinite(F).all()
        assert (F >= 0).all()


@pytest.mark.parametrize("method", [name for name in DRAWN if name != "random"])
def test_missing_entries_do_not_lower_the_level(method):
    X = planted(200, 80) + 0.5
    X[np.random.default_rng(1).random(X.shape) < 0.9] = np.nan
    Wt, H = start(as_matrix(X, missing="nan"), 3, method, 0)
    assert 0.8 < (Wt.T @ H).mean() / np.nanmean(X) < 2  # with the zeros filled it rises


def test_none_is_scikit_learns_rule():
    X = as_matrix(planted(20, 10))
    assert np.array_equal(start(X, 10, None, 0)[1], start(X, 10, "nndsvda", 0)[1])
    assert np.array_equal(start(X, 11, None, 0)[1], start(X, 11, "random", 0)[1])


# k-means


def test_kmeans_finds_separate_groups():
    rng = np.random.default_rng(0)
    centres = rng.gamma(1, 1, (5, 30)) + 5 * np.eye(5, 30)
    truth = rng.integers(5, size=300)
    X = np.maximum(centres[truth] + 0.02 * rng.standard_normal((300, 30)), 0)
    Wt, H = start(as_matrix(X), 5, "kmeans", 0)
    means = np.array([X[truth == j].mean(axis=0) for j in range(5)])
    expected = 0.99 * means + 0.01 * X.mean(axis=0)
    expected /= np.sqrt(expected.max())
    nearest = np.array([np.linalg.norm(H - mean, axis=1).argmin() for mean in expected])
    assert sorted(nearest) == list(range(5))
    np.testing.assert_allclose(H[nearest], expected, rtol=1e-9)
    assert relative(Wt.T @ H, X) < 0.25


def test_clusters_are_about_as_good_as_scikit_learns():
    X = planted(500, 20)
    inertia = []
    for seed in range(5):
        label = clusters(X, 12, generator(seed, Purpose.KMEANS), alone(as_matrix(X)).rows)
        inertia.append(sum(((X[label == j] - X[label == j].mean(axis=0)) ** 2).sum() for j in range(12)))
    theirs = [KMeans(12, n_init=1, max_iter=10, random_state=seed).fit(X).inertia_ for seed in range(5)]
    assert np.mean(inertia) < 1.1 * np.mean(theirs)


def test_seeds_are_drawn_far_from_all_others():
    points = np.repeat(100.0 * np.eye(4), 25, axis=0) + np.random.default_rng(0).random((100, 4))
    side = alone(as_matrix(points)).rows
    for seed in range(20):
        assert sorted(_seeds(points, 4, generator(seed, Purpose.KMEANS), side).argmax(axis=1)) == [0, 1, 2, 3]


@pytest.mark.parametrize("distinct", [1, 2, 7])
def test_no_cluster_is_empty_even_with_fewer_distinct_points_than_clusters(distinct):
    points = np.random.default_rng(0).random((distinct, 3))[np.arange(12) % distinct]
    side = alone(as_matrix(points)).rows
    for seed in range(20):
        assert (np.bincount(clusters(points, 9, generator(seed, Purpose.KMEANS), side), minlength=9) > 0).all()


# given


def test_both_given_come_back_transposed_and_copied():
    X, rng = planted(), np.random.default_rng(0)
    W, H = rng.random((60, 4)), rng.random((4, 45))
    Wt, H2 = start(as_matrix(X), 4, "custom", 0, W=W, H=H)
    assert np.array_equal(Wt, W.T)
    assert np.array_equal(H2, H)
    assert not np.shares_memory(Wt, W)
    assert not np.shares_memory(H2, H)


@pytest.mark.parametrize("held", [np.asarray, sp.csr_array])
def test_the_other_factor_is_fitted_to_the_one_given(held):
    rng = np.random.default_rng(0)
    W, H = rng.gamma(0.3, 1, (60, 4)), rng.gamma(0.3, 1, (4, 45))
    X = as_matrix(held(W @ H))
    Wt, _ = start(X, 4, "custom", 0, H=H)
    assert relative(Wt.T @ H, W @ H) < 0.1
    _, H2 = start(X, 4, "custom", 0, W=W)
    assert relative(W @ H2, W @ H) < 0.1
    assert (Wt > 0).all()
    assert (H2 > 0).all()


def test_a_dead_component_does_not_spoil_the_others():
    H = np.random.default_rng(0).random((3, 45))
    H[1] = 0
    Wt, _ = start(as_matrix(planted()), 3, "custom", 0, H=H)
    assert np.isfinite(Wt).all()


A = np.ones((6, 5))
REFUSED = [
    ({}, OptionError, r"init='custom' needs W, H or both"),
    ({"H": -np.ones((2, 5))}, OptionError, r"Negative values in data passed to NMF \(input H\)"),
    ({"W": -np.ones((6, 2))}, OptionError, r"Negative values in data passed to NMF \(input W\)"),
    ({"H": np.zeros((2, 5))}, OptionError, r"Array passed to NMF \(input H\) is full of zeros"),
    (
        {"H": np.ones((3, 5))},
        OptionError,
        r"wrong first dimension passed to NMF \(input H\). Expected 2, but got 3",
    ),
    (
        {"W": np.ones((6, 3))},
        OptionError,
        r"wrong second dimension passed to NMF \(input W\). Expected 2, but got 3",
    ),
    ({"W": np.ones(6)}, OptionError, r"got an array with 1 dimensions"),
    ({"H": np.full((2, 5), np.nan)}, OptionError, r"NMF \(input H\) contains NaN or infinity"),
    ({"H": np.ones((2, 5), np.float32)}, TypeError, r"H and W should have the same dtype as X"),
    ({"H": [["a"] * 5] * 2}, TypeError, r"H and W should have the same dtype as X"),
]


@pytest.mark.parametrize(("given", "error", "message"), REFUSED)
def test_what_cannot_be_a_start_is_refused(given, error, message):
    with pytest.raises(error, match=message):
        start(as_matrix(A), 2, "custom", 0, **given)


@pytest.mark.parametrize("method", ["nndsvd", "nndsvda", "nndsvdar"])
def test_nndsvd_needs_enough_rows_and_columns(method):
    message = rf"init = '{method}' can only be used when n_components <= min\(n_samples, n_features\)"
    with pytest.raises(OptionError, match=message):
        start(as_matrix(A), 6, method, 0)


def test_kmeans_needs_enough_rows_only():
    assert start(as_matrix(A), 6, "kmeans", 0)[1].shape == (6, 5)
    with pytest.raises(OptionError, match="init = 'kmeans' can only be used when n_components <= n_samples"):
        start(as_matrix(A), 7, "kmeans", 0)


def test_an_unknown_start_is_a_sentence():
    with pytest.raises(OptionError, match="init='svd' does not exist; choose one of random, nndsvd"):
        start(as_matrix(A), 2, "svd", 0)


def test_given_factors_are_not_ignored_in_silence():
    with pytest.warns(RuntimeWarning, match="provided W or H are ignored"):
        start(as_matrix(A), 2, "random", 0, H=np.ones((2, 5)))
