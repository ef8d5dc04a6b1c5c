"""`FederatedNMF`: scikit-learn's manners, parties that differ, hostile input, and how far from the pooled fit it ends."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from federated.parties import shards
from partwise import NMF, FederatedNMF, MiniBatchNMF
from partwise.algorithms.federated.methods import METHODS
from partwise.errors import DataError, DataTypeError, OptionError

NAMES = [f"gene{j}" for j in range(11)]


def model(**more):
    return FederatedNMF(n_components=3, random_state=0, **{"rounds": 8, **more})


@pytest.mark.parametrize("method", [name for name in METHODS if name != "modified-dsanls"])
def test_every_method_fits(method):
    Xs = shards()
    fitted = model(method=method, rounds=3).fit(Xs)
    assert fitted.components_.shape == (3, 11)
    assert [W.shape for W in fitted.W_] == [(len(X), 3) for X in Xs]
    left = [np.linalg.norm(X - W @ fitted.components_) ** 2 for X, W in zip(Xs, fitted.W_, strict=True)]
    assert fitted.reconstruction_err_ == pytest.approx(np.sqrt(sum(left)), rel=1e-6)
    assert fitted.relative_error_ == pytest.approx(np.sqrt(sum(left) / sum(np.sum(X**2) for X in Xs)), rel=1e-6)
    expected = sum(np.sqrt(np.mean((X - W @ fitted.components_) ** 2)) for X, W in zip(Xs, fitted.W_, strict=True))
    assert fitted.rmsd_sum_ == pytest.approx(expected, rel=1e-6)
    assert fitted.bytes_up_ > 0
    assert not fitted.faults_


def test_parameters_clone_and_repeat():
    first = model(method="fnmf", alignment="sinkhorn", method_options={"local_steps": 3})
    again = clone(first)
    assert again.get_params() == first.get_params()
    np.testing.assert_array_equal(first.fit(shards()).components_, again.fit(shards()).components_)
    assert "fnmf" in repr(first)


def test_pooled_and_federated_agree():
    fitted = model(rounds=60, compare_pooled=True).fit(shards(rows=(30, 20, 40)))
    assert abs(fitted.gap_to_pooled_) < 0.01


def test_transform_finds_the_W_of_the_fit():
    Xs = shards()
    fitted = model().fit(Xs)
    for X, W in zip(Xs, fitted.W_, strict=True):
        np.testing.assert_allclose(fitted.transform(X), W, atol=1e-8)
    assert list(fitted.get_feature_names_out()) == ["federatednmf0", "federatednmf1", "federatednmf2"]
    with pytest.raises(ValueError, match="features"):
        fitted.transform(Xs[0][:, :5])


def test_sparse_parties_beside_dense_ones():
    Xs = shards()
    dense = model().fit(Xs)
    mixed = model(compare_pooled=True).fit([sp.csr_array(Xs[0]), Xs[1], sp.csc_array(Xs[2]), Xs[3]])
    np.testing.assert_allclose(mixed.components_, dense.components_, rtol=1e-6, atol=1e-9)
    assert np.isfinite(mixed.gap_to_pooled_)


def test_single_precision_stays_only_if_all_have_it():
    Xs = shards()
    assert model().fit([X.astype(np.float32) for X in Xs]).components_.dtype == np.float32
    assert model().fit([Xs[0], *(X.astype(np.float32) for X in Xs[1:])]).components_.dtype == np.float64


def test_features_are_matched_by_name():
    Xs = shards()
    frames = [pd.DataFrame(X, columns=NAMES) for X in Xs]
    shuffled = [frame.sample(frac=1, axis=1, random_state=p) if p else frame for p, frame in enumerate(frames)]
    by_name, plain = model().fit(shuffled), model().fit(Xs)
    np.testing.assert_array_equal(by_name.components_, plain.components_)
    assert list(by_name.feature_names_in_) == NAMES


@pytest.mark.parametrize(
    ("change", "match"),
    [
        (
            lambda f: f.drop(columns=["gene3", "gene7"]),
            "party 1 lacks 2 of the 11 features that others have: gene3, gene7",
        ),
        (lambda f: f.assign(new=1.0), "party 1 has 1 features that others lack: new"),
        (lambda f: f.rename(columns={"gene1": "gene2"}), "one name twice: gene2"),
        (lambda f: f.to_numpy()[:, :10], "party 1 has 10 features and party 0 has 11"),
        (lambda f: -f, "party 1: .*negative"),
        (lambda f: f * np.nan, "party 1: .*NaN"),
        (lambda f: f.iloc[:0], "party 1: "),
        (lambda f: f.astype(str) + "x", "party 1: "),
    ],
)
def test_a_party_that_does_not_fit_is_named(change, match):
    frames = [pd.DataFrame(X, columns=NAMES) for X in shards()]
    frames[1] = change(frames[1])
    with pytest.raises(DataError, match=match):
        model().fit(frames)


@pytest.mark.parametrize(
    "given", [np.ones((4, 3)), sp.csr_array(np.ones((4, 3))), pd.DataFrame(np.ones((4, 3))), 5, []]
)
def test_what_is_no_list_of_parties_is_refused(given):
    with pytest.raises((DataError, DataTypeError), match=r"one matrix|list of matrices"):
        model().fit(given)


def test_columns_and_parties_of_zeros():
    Xs = shards()
    for X in Xs:
        X[:, 4] = 0
    Xs[1][:] = 0
    fitted = model().fit(Xs)
    assert np.isfinite(fitted.components_).all()
    np.testing.assert_allclose(fitted.components_[:, 4], 0, atol=1e-12)
    assert not fitted.W_[1].any()


@pytest.mark.parametrize("method", ["exact", "fnmf", "fedmavg", "sfmf", "fedavg"])
def test_all_zeros_everywhere_and_more_components_than_anything(method):
    assert model(method=method, rounds=2).fit([np.zeros((4, 6)), np.zeros((3, 6))]).relative_error_ == 0
    tiny = FederatedNMF(n_components=9, rounds=2, method=method, random_state=0).fit([np.ones((1, 5)), np.ones((2, 5))])
    assert np.isfinite(tiny.components_).all()


def test_personal_components_are_there_where_the_alignment_leaves_them():
    Xs = shards(m=40)
    own = model(method="fnmf", alignment="lap-rho").fit(Xs)
    assert [H.shape for H in own.personal_components_] == [(3, 40)] * 4
    assert [W.shape for W in own.personal_W_] == [W.shape for W in own.W_]
    assert model(method="fnmf").fit(Xs).personal_components_ is None


def test_new_rows_may_have_their_features_in_another_order_too():
    names = [f"f{j}" for j in range(shards()[0].shape[1])]
    frames = [pd.DataFrame(X, columns=names)[names[::turn]] for X, turn in zip(shards(), (1, -1, 1, -1), strict=True)]
    fitted = model().fit(frames)
    for frame, W in zip(frames, fitted.W_, strict=True):
        np.testing.assert_allclose(fitted.transform(frame), W, rtol=1e-6, atol=1e-9)
    assert fitted.score(frames[1]) == pytest.approx(fitted.score(frames[1][names]))
    with pytest.raises(DataError, match=r"X lacks 1 of the 11 features.*f3"):
        fitted.transform(frames[0].drop(columns="f3"))


@pytest.mark.parametrize(
    "fit", [lambda X: FederatedNMF(2).fit([X, X]), lambda X: NMF(2).fit(X), lambda X: MiniBatchNMF(2).fit(X)]
)
def test_nobody_is_advised_to_wish_what_there_is_no_wish_for(fit):
    with pytest.raises(DataError, match=r"clip them or shift the data\.$"):
        fit(-np.ones((3, 4)))


def test_the_secure_sum_changes_nothing_but_what_is_seen():
    Xs = shards()
    plain, secure = model().fit(Xs), model(secure_sum=True).fit(Xs)
    np.testing.assert_allclose(secure.components_, plain.components_, rtol=1e-5, atol=1e-7)
    assert {entry.name for entry in plain.transcript_.entries if entry.sender >= 0} >= {"cross", "gram"}
    assert not {entry.name for entry in secure.transcript_.entries if entry.sender >= 0} & {"cross", "gram"}


@pytest.mark.parametrize(
    ("wish", "match"),
    [
        ({"method": "magic"}, "exact"),
        ({"method": "fnmf", "secure_sum": True}, "cannot have secure_sum"),
        ({"alignment": "lap"}, "are of method='fnmf'"),
        ({"secure_sum": "pailler"}, "'paillier:3072' for a longer key"),
        ({"secure_sum": "paillier:"}, "'paillier:3072' for a longer key"),
        ({"secure_sum": 1}, "'paillier:3072' for a longer key"),
        ({"secure_sum": "paillier:1024"}, "a key of 2048 to 8192 bits"),
        (
            {"secure_sum": "paillier", "privacy": {"epsilon": 1.0, "delta": 1e-5}},
            "a private study has the secure sum by itself",
        ),
        ({"method": "fedavg", "secure_sum": "paillier"}, "cannot have secure_sum"),
        ({"rounds": 0}, "rounds=0"),
        ({"n_components": 2.5}, "n_components=2.5"),
        ({"tol": -1}, "tol=-1"),
        ({"random_state": -3}, "random_state"),
        ({"method_options": {"sweps": 3}}, "does not know sweps"),
    ],
)
def test_wishes_that_cannot_be_had_are_refused(wish, match):
    with pytest.raises(OptionError, match=match):
        FederatedNMF(**{"n_components": 3, **wish}).fit(shards())


def test_it_says_how_it_goes_if_asked(capsys):
    model(method="fedavg", rounds=2, verbose=1).fit(shards())
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 2
    assert "relative error" in lines[0]
    assert "drift" in lines[0]
