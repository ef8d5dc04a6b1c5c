"""PrivateNMF: what it spends, what it refuses, what one row may depend on."""

import sys

import numpy as np
import pytest
import scipy.sparse as sp

from partwise import PrivateNMF
from partwise.errors import MissingExtraError
from partwise.privacy.accountant import Accountant
from partwise.privacy.checking import check
from partwise.privacy.ledger import BudgetSpentError, replayed

METHODS = ["moments", "residual", "plain", "ppnmf"]


def parts(n=600, m=12, k=3, seed=0):
    rng = np.random.default_rng(seed)
    H = rng.random((k, m)) * (rng.random((k, m)) < 0.5)
    return rng.gamma(1, 1, (n, k)) @ H + 0.01


def fitted(method="moments", X=None, **wishes):
    return PrivateNMF(3, method=method, insecure_seed=5, random_state=0, **wishes).fit(parts() if X is None else X)


def unit(X):
    return X / np.linalg.norm(X, axis=1, keepdims=True)


def loss(X, H):
    model = PrivateNMF(len(H), random_state=0)
    model.components_, model.n_features_in_ = H, X.shape[1]
    return float(np.square(unit(X) - model.transform(unit(X)) @ H).sum() / len(X))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("neighbours", ["replace", "add-remove"])
def test_spends_its_budget_and_no_more(method, neighbours):
    model = fitted(method, neighbours=neighbours, n_records=600, epsilon=2.0, delta=1e-6, publish_error=0.1)
    assert 1.99 < model.epsilon_spent_ <= 2.0
    again = replayed(Accountant(neighbours), model.ledger_.releases())
    assert again.epsilon(1e-6) == model.epsilon_spent_
    assert model.published_error_ >= 0
    assert (model.components_ >= 0).all()
    np.testing.assert_allclose(np.linalg.norm(model.components_, axis=1), 1)


@pytest.mark.parametrize("mechanism", ["laplace", "analytic", "opendp"])
def test_other_mechanisms_spend_the_same_budget_and_pass_their_audit(mechanism, tmp_path):
    model = PrivateNMF(3, mechanism=mechanism, epsilon=2.0, delta=1e-6, random_state=0).fit(parts())
    checked = check(model.ledger_.content)
    assert checked.sound, checked.breaches
    assert 1.5 < model.epsilon_spent_ <= 2.0
    assert checked.epsilon_found == pytest.approx(model.epsilon_spent_, rel=1e-3)
    assert {"laplace": "Laplace", "analytic": "analytic", "opendp": "OpenDP"}[mechanism] in model.statement_


def test_without_opendp_a_sentence_says_how_to_get_it_and_nothing_is_written_down(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "opendp.prelude", None)
    with pytest.raises(MissingExtraError, match=r"partwise\[opendp\]"):
        PrivateNMF(3, mechanism="opendp", ledger=tmp_path / "l").fit(parts())
    assert (tmp_path / "l").read_text().count("release") == 0


@pytest.mark.parametrize("method", METHODS)
def test_with_much_budget_it_finds_the_parts(method):
    X = parts(1000)
    from partwise import NMF

    best = loss(X, NMF(3, random_state=0).fit(unit(X)).components_)
    more = {} if method == "moments" else {"rounds": {"ppnmf": 200}.get(method, 50)}
    much, little = (fitted(method, X, epsilon=e, **more).components_ for e in (2000.0, 0.05))
    assert loss(X, much) < 3 * best + 2e-3
    assert loss(X, little) > loss(X, much)


@pytest.mark.parametrize("method", METHODS)
def test_sparse_is_dense_and_blocks_do_not_matter(method):
    X = parts()
    X[X < 0.3] = 0
    wishes = {"epsilon": 50.0}
    np.testing.assert_allclose(
        fitted(method, sp.csr_array(X), **wishes).components_, fitted(method, X, **wishes).components_, atol=1e-6
    )


@pytest.mark.parametrize("method", METHODS)
def test_scale_of_rows_does_not_matter_where_they_are_brought_to_length_one(method):
    X = parts()
    scaled = X * np.random.default_rng(1).uniform(0.1, 10, (len(X), 1))
    np.testing.assert_allclose(fitted(method, scaled).components_, fitted(method, X).components_, atol=1e-6)


@pytest.mark.parametrize(
    ("wish", "sentence"),
    [
        ({"init": "nndsvd"}, "would start from the data itself"),
        ({"tol": 1e-4}, "would stop by an objective that depends on every row"),
        ({"row_norm": None}, "without a bound on its length"),
        ({"row_norm": float("inf")}, "without a bound on its length"),
        ({"neighbours": "add-remove"}, "give n_records"),
        ({"n_records": 7}, "must agree"),
        ({"epsilon": 0}, "epsilon is 0; it must be a positive number"),
        ({"epsilon": -1.0}, "epsilon is -1"),
        ({"delta": 0.01}, "not below 1/n"),
        ({"delta": 0.0}, "delta is 0"),
        ({"method": "laplace"}, "is not known; expected one of: auto, moments"),
        ({"method": "moments", "rounds": 3}, "does not know rounds"),
        ({"unit": "party"}, "FederatedNMF"),
        ({"publish_error": 1}, "expected a share of the budget"),
        ({"density": 2}, "as publicly known"),
        ({"mechanism": "cauchy"}, "expected one of: lattice, opendp, laplace, analytic"),
        ({"mechanism": "opendp", "insecure_seed": 1}, "no seed repeats"),
        ({"n_components": "auto"}, "does not"),
    ],
)
def test_refuses_with_a_sentence_and_publishes_nothing(wish, sentence, tmp_path):
    wishes = {"n_components": 3, "ledger": tmp_path / "ledger.jsonl"} | wish
    model = PrivateNMF(**wishes)
    with pytest.raises(ValueError, match=sentence):
        model.fit(parts())
    assert not hasattr(model, "components_")
    assert '"kind":"release"' not in (
        (tmp_path / "ledger.jsonl").read_text() if (tmp_path / "ledger.jsonl").exists() else ""
    )


def test_one_record_missing_entries_and_negative_ones_are_refused():
    for X, sentence in (
        (parts()[:1], "cannot hide it"),
        (np.where(parts() > 1, np.nan, 1.0), "NaN"),
        (-parts(), "negative"),
    ):
        with pytest.raises(ValueError, match=sentence):
            PrivateNMF(3).fit(X)


def test_a_ledger_is_a_budget_for_all_fits_that_name_it(tmp_path):
    path = tmp_path / "ledger.jsonl"
    first = fitted(ledger=path)
    with pytest.raises(BudgetSpentError, match="was not released"):
        fitted(ledger=path)
    assert first.epsilon_spent_ == pytest.approx(1.0)


def test_the_exact_error_is_nowhere():
    model = fitted()
    for name in ("reconstruction_err_", "published_error_"):
        with pytest.raises(AttributeError, match=r"publish_error=0\.05"):
            getattr(model, name)
        assert not hasattr(model, name)
    kept = [value for value in vars(model).values() if isinstance(value, np.ndarray)]
    assert all(600 not in array.shape for array in kept)


def test_fresh_noise_each_time_unless_told_otherwise():
    X = parts()
    a, b = (PrivateNMF(3, random_state=0).fit(X).components_ for _ in range(2))
    assert np.abs(a - b).max() > 1e-6
    assert (fitted().components_ == fitted().components_).all()
    assert fitted().ledger_.terms.insecure_seed == 5


def test_verbose_tells_only_what_is_public(capsys):
    fitted(verbose=1)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("Release 1: mean, 12 numbers; ε = ")
    assert not any("objective" in line or "error" in line for line in lines)


def test_the_published_start_leaks_and_everything_says_so():
    with pytest.warns(UserWarning, match="not private: the start is NNDSVD"):
        model = fitted("ppnmf-as-published", method_options={"start": "nndsvd", "rounds": 5})
    assert model.epsilon_spent_ == float("inf")
    assert "not private: the start is NNDSVD" in model.statement_
    valid = fitted("ppnmf-as-published", method_options={"rounds": 5})
    assert valid.epsilon_spent_ < 1.0  # their counting is loose, so they spend less than they say
    assert "not private" not in valid.statement_


def test_outliers_of_ppnmf():
    X = unit(parts(200))
    X[::7, 3] += 1.0
    model = fitted("ppnmf", X, method_options={"outlier_penalty": 0.1, "rounds": 10}, epsilon=5.0)
    assert 4.99 < model.epsilon_spent_ <= 5.0


def test_the_statement_is_a_page_an_officer_can_read():
    text = fitted().statement_
    for word in ("unit", "adversary", "total", "each record, of 600", "second moment"):
        assert word in text


def test_auto_looks_at_public_things_only():
    X = parts(50, 3200)
    X[np.quantile(X, 0.99) > X] = 0
    choices = [
        PrivateNMF(2, epsilon=5.0, **wishes).fit(form(X)).method_
        for form, wishes in ((np.asarray, {}), (sp.csr_array, {}), (np.asarray, {"density": 0.01}))
    ]
    assert choices == ["residual", "moments", "moments"]
    assert fitted("auto").method_ == "moments"
