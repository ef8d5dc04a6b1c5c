"""What `MiniBatchNMF` promises: as good as a fit of everything at once, one batch in memory at a time."""

from __future__ import annotations

import pickle
import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_digits
from sklearn.decomposition import MiniBatchNMF as Theirs

from partwise import NMF, MiniBatchNMF
from partwise.errors import DataError, OptionError

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def planted(n=600, m=30, k=5, seed=0, noise=0.01):
    """Nonnegative data with k parts."""
    rng = np.random.default_rng(seed)
    return rng.gamma(0.5, size=(n, k)) @ rng.gamma(0.5, size=(k, m)) + noise * rng.random((n, m))


class Rows:
    """Data on disk, as far as anybody can tell: gives blocks of rows and remembers the largest it was asked for."""

    def __init__(self, X):
        self.X, self.shape, self.dtype, self.largest = X, X.shape, X.dtype, 0

    def __getitem__(self, rows):
        block = self.X[rows]
        self.largest = max(self.largest, len(block))
        return block


@pytest.fixture(scope="module")
def X():
    return planted()


def test_on_digits_it_is_better_than_scikit_learn_and_near_the_full_fit():
    X = load_digits().data
    wishes = {"n_components": 10, "random_state": 0, "batch_size": 256, "max_iter": 50}
    ours, theirs = MiniBatchNMF(**wishes).fit(X), Theirs(**wishes).fit(X)
    assert ours.reconstruction_err_ < theirs.reconstruction_err_
    assert ours.reconstruction_err_ < 1.05 * NMF(10, random_state=0).fit(X).reconstruction_err_


@pytest.mark.parametrize("fresh", [False, True])
@pytest.mark.parametrize(
    "wishes", [{}, {"alpha_W": 1e-4}, {"alpha_W": 1e-4, "alpha_H": 0.0}, {"alpha_W": 0, "alpha_H": 1e-4}]
)
def test_transform_agrees_with_fit_transform(X, fresh, wishes):
    model = MiniBatchNMF(5, batch_size=100, random_state=0, fresh_restarts=fresh, max_iter=30, l1_ratio=0.5, **wishes)
    W = model.fit_transform(X)
    np.testing.assert_allclose(model.transform(X), W, atol=1e-8)
    np.testing.assert_allclose(model.transform(X[3:5]), W[3:5], atol=1e-8)
    assert np.linalg.norm(X - W @ model.components_) / np.linalg.norm(X) < 0.1


@pytest.mark.parametrize("beta_loss", [2, 1, 0.5])
def test_partial_fit_on_the_same_batches_is_fit(X, beta_loss):
    H = np.random.default_rng(1).random((5, X.shape[1]))
    wishes = {"n_components": 5, "beta_loss": beta_loss, "init": "custom", "fresh_restarts": True, "tol": 0}
    whole = MiniBatchNMF(**wishes, batch_size=100, max_iter=3, max_no_improvement=None, forget_factor=0.7)
    whole.fit(X, W=np.ones((len(X), 5)), H=H)
    stream = MiniBatchNMF(**wishes, forget_factor=0.7 ** (1 / 6))  # of six batches a pass
    for _ in range(3):
        for start in range(0, len(X), 100):
            stream.partial_fit(X[start : start + 100], H=H)
    assert whole.n_steps_ == stream.n_steps_ == 18
    np.testing.assert_allclose(whole.components_, stream.components_, rtol=1e-6, atol=1e-9)


def test_partial_fit_learns_from_a_stream_and_survives_a_pickle(X):
    model = MiniBatchNMF(5, random_state=0)
    for _ in range(6):
        for start in range(0, len(X), 50):
            model.partial_fit(X[start : start + 50])
        model = pickle.loads(pickle.dumps(model))
    assert model.n_steps_ == 72
    assert model.score(X) > 0.99
    with pytest.raises(ValueError, match="30 features"):
        model.partial_fit(X[:, :7])


def test_one_batch_without_memory_is_multiplicative_nmf(X):
    X = X[:60]
    shared = {"n_components": 5, "beta_loss": 1, "random_state": 0, "tol": 0, "max_iter": 40}
    batch = MiniBatchNMF(**shared, batch_size=60, forget_factor=0.0, max_no_improvement=None).fit(X)
    np.testing.assert_allclose(batch.components_, NMF(**shared, solver="mu").fit(X).components_, rtol=1e-7)


@pytest.mark.parametrize("how", ["nan", "mask", "zero", "sparse"])
def test_what_is_missing_does_not_count(X, how):
    observed = np.random.default_rng(3).random(X.shape) < 0.7
    data, wishes, fit = {
        "nan": (np.where(observed, X, np.nan), {"missing": "nan"}, {}),
        "mask": (np.where(observed, X, 1e6), {}, {"mask": observed}),
        "zero": (np.where(observed, X, 0.0), {"missing": "zero"}, {}),
        "sparse": (sp.csr_array(np.where(observed, X, 0.0)), {"missing": "zero"}, {}),
    }[how]
    model = MiniBatchNMF(
        5, batch_size=100, random_state=0, init="random", tol=0, max_no_improvement=None, max_iter=60, **wishes
    )
    W = model.fit_transform(data, **fit)
    unseen = np.linalg.norm((X - W @ model.components_)[~observed]) / np.linalg.norm(X[~observed])
    assert unseen < 0.15
    if how == "mask":
        stream = MiniBatchNMF(5, random_state=0, init="random", **wishes)
        for _ in range(30):
            for start in range(0, len(X), 100):
                rows = slice(start, start + 100)
                stream.partial_fit(data[rows], mask=observed[rows])
        assert stream.score(X) > 0.95


def test_a_row_of_weight_zero_is_not_there_and_heavy_rows_count(X):
    rng = np.random.default_rng(0)
    strangers = 5 * rng.random((100, X.shape[1]))
    both = np.concatenate([X, strangers])
    wishes = {"n_components": 5, "batch_size": 100, "random_state": 0, "init": "random", "tol": 0, "max_iter": 30}
    light = MiniBatchNMF(**wishes).fit(both, sample_weight=np.repeat([1.0, 0.0], [600, 100]))
    heavy = MiniBatchNMF(**wishes).fit(both, sample_weight=np.repeat([1.0, 50.0], [600, 100]))
    assert light.score(X) > 0.98 > heavy.score(X)
    assert heavy.score(strangers) > light.score(strangers)
    np.testing.assert_allclose(light.reconstruction_err_, np.linalg.norm(X - light.transform(X) @ light.components_))


def test_data_on_disk_are_read_by_batches(X):
    source = Rows(np.tile(X, (4, 1)))
    model = MiniBatchNMF(5, batch_size=200, random_state=0, init="random", max_iter=5).fit(source)
    in_memory = MiniBatchNMF(5, batch_size=200, random_state=0, init="random", max_iter=5).fit(source.X)
    np.testing.assert_allclose(model.components_, in_memory.components_, rtol=1e-6, atol=1e-9)
    assert model.score(source) > 0.9


def test_a_memory_map_is_never_loaded(tmp_path):
    shape = 20_000, 400  # 32 MB as int32, 64 MB as float64
    stored = np.lib.format.open_memmap(tmp_path / "X.npy", mode="w+", dtype=np.int32, shape=shape)
    rng = np.random.default_rng(0)
    for start in range(0, shape[0], 2000):
        stored[start : start + 2000] = rng.poisson(rng.gamma(0.5, size=(2000, 3)) @ rng.gamma(0.5, 4, size=(3, 400)))
    stored.flush()
    X = np.load(tmp_path / "X.npy", mmap_mode="r")
    wishes = {"n_components": 3, "init": "random", "random_state": 0, "max_iter": 2}
    MiniBatchNMF(**wishes).fit(X[:100])
    tracemalloc.start()
    try:
        MiniBatchNMF(**wishes).fit(X)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 24e6  # a block or two of 4 MB and its temporaries, and W


def test_a_batch_that_says_nothing_does_not_end_the_fit(X):
    ordered = np.concatenate([X, np.zeros((200, X.shape[1]))])
    model = MiniBatchNMF(5, batch_size=100, random_state=0, tol=1e-4, max_iter=100).fit(ordered)
    assert model.n_iter_ > 1
    assert model.score(X) > 0.97


def test_reasons_history_and_lines(X, capsys):
    model = MiniBatchNMF(5, batch_size=100, random_state=0, verbose=1, max_iter=100, tol=0.01).fit(X)
    assert model.loss_history_.shape == (model.n_steps_,)
    assert model.n_iter_ == -(-model.n_steps_ // 6)
    assert "max_no_improvement" in model.stopping_reason_ or "tol" in model.stopping_reason_
    assert capsys.readouterr().out.startswith("Pass 1, batch 6: cost ")
    calm = MiniBatchNMF(5, random_state=0, tol=1e-3, max_iter=1000).fit(X)
    assert "at most tol = 0.001" in calm.stopping_reason_


def test_bad_wishes_are_answered_in_sentences(X):
    for name, value in [
        ("batch_size", 0),
        ("batch_size", 2.5),
        ("max_no_improvement", 0),
        ("forget_factor", 1.5),
        ("fresh_restarts_max_iter", None),
        ("transform_max_iter", -1),
        ("tol", -1),
    ]:
        with pytest.raises(OptionError, match=f"{name}="):
            MiniBatchNMF(**{name: value}).fit(X)
    with pytest.raises(DataError, match="beta_loss <= 0 and X contains zeros"):
        MiniBatchNMF(2, beta_loss=0).partial_fit(np.ones((4, 3))).partial_fit(np.eye(3))
