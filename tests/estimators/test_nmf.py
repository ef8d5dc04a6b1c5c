"""What `NMF` promises beyond scikit-learn's checks: the wounds of others healed, hostile inputs, and honest words."""

from __future__ import annotations

import pickle
import tracemalloc

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
import sklearn
from scipy.optimize import nnls
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from partwise import NMF
from partwise.errors import DataError, OptionError


def planted(n=60, m=20, k=4, seed=0, noise=0.01):
    """Nonnegative data with k parts."""
    rng = np.random.default_rng(seed)
    W, H = rng.gamma(0.5, size=(n, k)), rng.gamma(0.5, size=(k, m))
    return W @ H + noise * rng.random((n, m))


@pytest.fixture(scope="module")
def X():
    return planted()


def relative_error(X, W, H):
    return np.linalg.norm(X - W @ H) / np.linalg.norm(X)


# --- transform is exact, and agrees with fit_transform (scikit-learn issue 11088)


@pytest.mark.parametrize(
    "wishes",
    [
        {},
        {"solver": "bpp"},
        {"solver": "mu", "tol": 1e-3},
        {"solver": "hals", "solver_options": {"extrapolate": False}},
        {"alpha_W": 1e-3},
        {"alpha_W": 1e-3, "l1_ratio": 1.0, "normalize": "sum"},
        {"alpha_W": 1e-3, "alpha_H": 0.0},
        {"alpha_W": 0.0, "alpha_H": 1e-3},
        {"normalize": "length"},
        {"rows_sum_to_one": True, "max_iter": 100, "tol": 1e-2},
        {"n_components": 25, "tol": 1e-2},  # more components than features: the solution is not unique, the result is
    ],
)
def test_transform_agrees_with_fit_transform(X, wishes):
    model = NMF(**{"n_components": 4, "random_state": 0, "max_iter": 2000, **wishes})
    W = model.fit_transform(X)
    np.testing.assert_allclose(model.transform(X), W, atol=1e-8)
    np.testing.assert_allclose(model.transform(X[7:9]), W[7:9], atol=1e-8)


def test_transform_is_the_nonnegative_least_squares_solution(X):
    model = NMF(4, random_state=0).fit(X)
    new = planted(5, 20, seed=1)
    expected = np.array([nnls(model.components_.T, x)[0] for x in new])
    np.testing.assert_allclose(model.transform(new), expected, atol=1e-8)


# --- missing data (8447)


@pytest.mark.parametrize("how", ["nan", "mask", "zero", "sparse"])
def test_what_is_missing_does_not_count(X, how):
    rng = np.random.default_rng(3)
    observed = rng.random(X.shape) < 0.7
    held = {
        "nan": (np.where(observed, X, np.nan), {"missing": "nan"}, {}),
        "mask": (np.where(observed, X, 1e6), {}, {"mask": observed}),
        "zero": (np.where(observed, X, 0.0), {"missing": "zero"}, {}),
        "sparse": (sp.csr_array(np.where(observed, X, 0.0)), {"missing": "zero"}, {}),
    }
    data, wishes, fit = held[how]
    model = NMF(4, random_state=0, tol=1e-6, max_iter=3000, init="random", **wishes)
    W = model.fit_transform(data, **fit)
    unseen = np.linalg.norm((X - W @ model.components_)[~observed]) / np.linalg.norm(X[~observed])
    assert unseen < 0.1  # 1.0 is what all zeros would give
    assert model.reconstruction_err_ == pytest.approx(np.linalg.norm((X - W @ model.components_)[observed]), rel=1e-6)
    np.testing.assert_allclose(model.transform(data, **fit), W, atol=1e-8)


def test_nan_is_refused_unless_it_means_missing(X):
    data = X.copy()
    data[3, 2] = np.nan
    with pytest.raises(DataError, match=r"row 3, column 2.*missing='nan'"):
        NMF(2).fit(data)


# --- a penalty on one factor is not escaped by rescaling (30524)


@pytest.mark.parametrize("solver", ["hals", "mu"])
@pytest.mark.parametrize(("alpha_W", "alpha_H"), [(0.02, 0.0), (0.0, 0.02)])
def test_a_penalty_on_one_factor_is_not_escaped_by_rescaling(X, solver, alpha_W, alpha_H):
    model = NMF(
        4, solver=solver, alpha_W=alpha_W, alpha_H=alpha_H, l1_ratio=1.0, random_state=0, max_iter=1000, tol=1e-5
    )
    W = model.fit_transform(X)
    sizes = {"W": np.linalg.norm(W, axis=0), "H": np.linalg.norm(model.components_, axis=1)}
    free = NMF(4, solver=solver, random_state=0, max_iter=1000, tol=1e-5).fit(X)
    assert max(sizes["H"] if alpha_W else sizes["H"] / np.linalg.norm(X)) <= 1 + 1e-6
    assert model.reconstruction_err_ > 1.02 * free.reconstruction_err_  # the penalty is felt
    assert relative_error(X, W, model.components_) < 0.9


# --- fixed components (15649)


@pytest.mark.parametrize(("solver", "tol"), [("hals", 1e-5), ("bpp", 1e-4), ("mu", 1e-4), ("nesterov", 1e-5)])
def test_fixed_components_stay_and_the_others_learn(X, solver, tol):
    known = planted(2, 20, seed=5)
    model = NMF(6, solver=solver, fixed_components=known, random_state=0, tol=tol, max_iter=1000)
    W = model.fit_transform(X)
    assert np.array_equal(model.components_[:2], known)
    assert relative_error(X, W, model.components_) < 0.05
    with pytest.raises(DataError, match="fixed_components has shape"):
        NMF(5, fixed_components=known[:, :3]).fit(X)


# --- Kullback–Leibler on sparse data takes memory of the order of its stored entries (15242)


def test_sparse_kullback_leibler_takes_little_memory():
    X = sp.random_array(
        (4000, 3000), density=0.002, rng=np.random.default_rng(0), format="csr"
    )  # 96 MB if it were dense
    model = NMF(5, beta_loss="kullback-leibler", init="random", random_state=0, max_iter=12, tol=0)
    model.fit(X[:50])  # compiled, imported
    tracemalloc.start()
    try:
        model.fit(X)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 30 * 8 * (X.nnz + sum(X.shape) * 5)  # 14 MB


# --- words (16706), reasons, history


def test_the_convergence_warning_names_parameter_residual_and_remedy(X):
    with pytest.warns(ConvergenceWarning) as caught:
        NMF(4, max_iter=11, random_state=0, tol=1e-9).fit(X)
    (warning,) = caught
    assert warning.filename == __file__
    said = str(warning.message)
    assert said.startswith("Maximum number of iterations 11 reached. Increase it to improve convergence.")
    assert "KKT residual" in said
    tried = int(said.split("Try max_iter=")[1].split(",")[0])
    assert tried >= 22
    loose = float(said.split("or tol=")[1].split()[0])
    NMF(4, max_iter=11, random_state=0, tol=loose).fit(X)  # warnings are errors here
    with pytest.warns(ConvergenceWarning, match=r"The root of the objective was still falling.*Try max_iter=60"):
        NMF(4, max_iter=11, solver="mu", beta_loss=1, tol=1e-9).fit(X)


def test_the_value_the_warning_tells_to_try_converges(X):
    with pytest.warns(ConvergenceWarning) as caught:
        NMF(4, max_iter=60, random_state=0, tol=1e-7).fit(X)
    tried = int(str(caught[0].message).split("Try max_iter=")[1].split(",")[0])
    NMF(4, max_iter=tried, random_state=0, tol=1e-7).fit(X)


def test_what_happened_is_told(X):
    model = NMF(4, random_state=0).fit(X)
    assert model.solver_ == "hals"
    assert "sweeps of W" in model.solver_reason_
    assert "KKT residual fell" in model.stopping_reason_
    assert model.loss_history_.shape == (model.n_iter_ + 1,)
    assert (np.diff(model.loss_history_) <= 1e-12).all()
    assert model.loss_history_[-1] == pytest.approx(0.5 * model.reconstruction_err_**2, rel=0.05)


@pytest.mark.parametrize(
    "wishes",
    [
        {"alpha_W": 1e-3, "l1_ratio": 1.0},
        {"alpha_W": 1e-3},
        {"alpha_W": 1e-2, "alpha_H": 0.0},
        {"alpha_W": 0.0, "alpha_H": 1e-2},
        {"fixed_components": planted(2, 20, seed=5)},
        {"rows_sum_to_one": True, "tol": 1e-2},
    ],
)
def test_the_residual_is_that_of_the_problem_asked_for(X, wishes):
    model = NMF(**{"n_components": 4, "random_state": 0, "max_iter": 5000, **wishes}).fit(X)
    assert model.stopping_reason_.startswith("The KKT residual fell")


def test_a_start_that_is_the_solution_ends_at_once(X):
    model = NMF(1, random_state=0).fit(X)
    assert model.n_iter_ < 50
    assert "stood still" in model.stopping_reason_ or "KKT" in model.stopping_reason_


@pytest.mark.parametrize("beta_loss", ["frobenius", "kullback-leibler"])
def test_score_is_the_explained_fraction(X, beta_loss):
    scores = [NMF(k, beta_loss=beta_loss, random_state=0, max_iter=1000).fit(X).score(X) for k in (1, 2, 4)]
    assert scores == sorted(scores)
    assert 0.98 < scores[-1] < 1
    if beta_loss == "frobenius":
        model = NMF(4, random_state=0)
        W = model.fit_transform(X)
        assert model.score(X) == pytest.approx(1 - relative_error(X, W, model.components_) ** 2)
    assert NMF(2, random_state=0).fit(X).score(np.zeros((2, 20))) == 1.0


def test_verbose_writes_lines(X, capsys):
    NMF(4, random_state=0, verbose=1, tol=1e-6, max_iter=500).fit(X)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("Iteration 10: objective ")
    NMF(4, random_state=0, verbose=0).fit(X)
    assert capsys.readouterr().out == ""


# --- weights, order, shuffling


def test_a_row_of_weight_two_is_that_row_twice(X):
    weights = np.random.default_rng(0).integers(0, 4, len(X))
    start = np.random.default_rng(1).random((len(X), 4)), np.random.default_rng(2).random((4, X.shape[1]))
    wishes = {"n_components": 4, "init": "custom", "tol": 0, "max_iter": 200, "solver": "hals"}
    wishes["solver_options"] = {
        "acceleration": 2,
        "extrapolate": False,
    }  # "auto" takes more sweeps where there are more rows
    weighted = NMF(**wishes).fit(X, W=start[0], H=start[1], sample_weight=weights)
    again = np.repeat(np.arange(len(X)), weights)
    repeated = NMF(**wishes).fit(X[again], W=start[0][again], H=start[1])
    np.testing.assert_allclose(weighted.components_, repeated.components_, rtol=1e-6, atol=1e-9)
    assert weighted.reconstruction_err_ == pytest.approx(repeated.reconstruction_err_, rel=1e-6)
    assert weighted.score(X, sample_weight=weights) == pytest.approx(repeated.score(X[again]), rel=1e-9)


def test_shuffle_changes_the_path_and_not_the_end(X):
    wishes = {"n_components": 4, "random_state": 0, "tol": 1e-7, "max_iter": 3000, "init": "nndsvda"}
    plain, shuffled, again = (NMF(**wishes, shuffle=s).fit(X) for s in (False, True, True))
    assert np.array_equal(shuffled.components_, again.components_)
    assert not np.array_equal(plain.loss_history_[:4], shuffled.loss_history_[:4])
    assert shuffled.reconstruction_err_ == pytest.approx(plain.reconstruction_err_, rel=0.01)
    same = np.corrcoef(plain.components_, shuffled.components_)[:4, 4:]
    assert (np.argmax(same, axis=1) == np.arange(4)).all()  # every component is in its place again
    known = planted(2, 20, seed=5)
    model = NMF(4, shuffle=True, fixed_components=known, random_state=0, max_iter=500).fit(X)
    assert np.array_equal(model.components_[:2], known)


def test_random_state_may_be_anything_that_scikit_learn_takes(X):
    def fit(random_state):
        return NMF(3, init="random", random_state=random_state, tol=0.01).fit(X).components_

    assert np.array_equal(fit(3), fit(np.int64(3)))
    assert np.array_equal(fit(np.random.RandomState(3)), fit(np.random.RandomState(3)))
    assert not np.array_equal(fit(None), fit(None))
    with pytest.raises(OptionError, match="random_state='lucky'"):
        fit("lucky")


# --- everything X may be


@pytest.mark.parametrize(
    "make",
    [
        lambda X: X.tolist(),
        lambda X: pd.DataFrame(X, columns=[f"f{j}" for j in range(X.shape[1])]),
        lambda X: pl.DataFrame(X, schema=[f"f{j}" for j in range(X.shape[1])]),
        np.asfortranarray,
        lambda X: X[:, ::-1][:, ::-1],
        sp.csr_array,
        sp.csc_array,
        sp.coo_array,
        sp.csr_matrix,
        sp.csc_matrix,
        sp.coo_matrix,
        lambda X: X.astype(np.int64),
        lambda X: X.astype(object),
    ],
    ids=["list", "pandas", "polars", "fortran", "strided", "csr", "csc", "coo", "csr matrix", "csc matrix", "coo matrix", "int", "object"],
)  # fmt: skip
def test_whatever_holds_the_numbers_the_result_is_the_same(X, make):
    whole = np.floor(X * 10)
    expected = NMF(4, random_state=0, max_iter=1000).fit(whole)
    data = make(whole)
    model = NMF(4, random_state=0, max_iter=1000)
    W = model.fit_transform(data)
    assert model.reconstruction_err_ == pytest.approx(expected.reconstruction_err_, rel=1e-3)
    np.testing.assert_allclose(model.transform(data), W, atol=1e-8)


def test_inputs_are_not_written_to_and_may_be_read_only(X, tmp_path):
    np.save(tmp_path / "X.npy", X)
    data = np.load(tmp_path / "X.npy", mmap_mode="r")
    W, H = np.random.default_rng(0).random((len(X), 3)), np.random.default_rng(0).random((3, X.shape[1]))
    for array in (W, H):
        array.flags.writeable = False
    model = NMF(3, init="custom", max_iter=500).fit(data, W=W, H=H)
    np.testing.assert_allclose(model.components_, NMF(3, init="custom", max_iter=500).fit(X, W=W, H=H).components_)


def test_float32_stays(X):
    model = NMF(4, random_state=0).fit(X.astype(np.float32))
    assert model.components_.dtype == model.transform(X).dtype == np.float32
    assert np.array_equal(model.transform(X), model.transform(X.astype(np.float32)))


def test_bad_wishes_are_answered_in_sentences(X):
    for wishes, words in [
        ({"solver": "newton"}, "solver='newton' is not known"),
        ({"beta_loss": "hinge"}, "beta_loss='hinge' is not known"),
        ({"beta_loss": float("nan")}, "beta_loss=nan"),
        ({"init": "magic"}, "init='magic'"),
        ({"max_iter": 2.5}, "max_iter=2.5"),
        ({"tol": -1}, "tol=-1"),
        ({"alpha_H": "other"}, "alpha_H='other'"),
        ({"l1_ratio": "all"}, "l1_ratio='all'"),
        ({"n_components": 0}, "n_components=0"),
        ({"normalize": "max"}, "normalize='max'"),
        ({"solver_options": {"speed": 11}}, "does not know speed"),
    ]:
        with pytest.raises(OptionError, match=words):
            NMF(**wishes).fit(X)
    with pytest.raises(DataError, match="beta_loss <= 0 and X contains zeros"):
        NMF(2, beta_loss=0).fit(np.eye(4))
    with pytest.raises(DataError, match="beta_loss <= 0 and X contains zeros"):
        NMF(2, beta_loss=0, max_iter=500).fit(X).transform(np.zeros((1, 20)))


def test_clone_and_pickle(X):
    model = NMF(3, random_state=0, solver_options={"extrapolate": False}, max_iter=500).fit(X)
    assert clone(model).get_params() == model.get_params()
    again = pickle.loads(pickle.dumps(model))
    assert np.array_equal(again.transform(X), model.transform(X))


def test_routing_of_mask_and_weights(X):
    with sklearn.config_context(enable_metadata_routing=True):
        model = NMF(2).set_fit_request(mask=True, sample_weight=True).set_score_request(sample_weight=True)
        asked = model.get_metadata_routing()
        assert asked.consumes("fit", ["mask", "sample_weight"]) == {"mask", "sample_weight"}
        assert asked.consumes("score", ["mask", "sample_weight"]) == {"sample_weight"}
