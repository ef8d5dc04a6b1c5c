"""No record moves an answer by more than its query says; rows of W depend on no other row; what is free costs nothing to check."""

import numpy as np
import pytest
import scipy.sparse as sp

from partwise.algorithms.private import moments
from partwise.algorithms.private.methods import METHODS, method
from partwise.algorithms.private.query import Knowledge, apart, random_components
from partwise.algorithms.private.records import exact_rows, row_scales
from partwise.algorithms.private.shrinkage import cleaned_rectangular, cleaned_symmetric, positive_part
from partwise.algorithms.private.views import SHORTEST, View, shrinks
from partwise.data import as_matrix
from partwise.privacy.vectors import pack, unpack_gram

N, M, K = 40, 9, 3


def records(seed=0, n=N):
    rng = np.random.default_rng(seed)
    return rng.gamma(0.5, 1, (n, K)) @ rng.gamma(0.3, 1, (K, M)) + 0.05 * rng.random((n, M))


def known(neighbours="replace", row_norm=None, mu=2.0):
    return Knowledge(N, M, K, mu, neighbours, row_norm, seed=3)


def conversation(chosen, X, seed=0):
    """(query, public before it) of each round, the answers being noisy as they would be."""
    rng = np.random.default_rng(seed)
    public = chosen.opening()
    for t in range(1, chosen.rounds + 1):
        query = chosen.query(public, t)
        yield query
        scale = query.sensitivity / (chosen.known.mu * query.share**0.5)
        answer = query.answer(as_matrix(X))
        assert answer.shape == (query.entries,)
        public = chosen.learn(public, answer + scale * rng.standard_normal(query.entries), scale, t)


def worst_rows(seed):
    """Rows that one could think of to do harm: spikes, huge, tiny, zero, like others, random."""
    rng = np.random.default_rng(seed)
    spikes = np.eye(M)[rng.permutation(M)[:3]]
    return np.concatenate([spikes, 1e6 * spikes[:1], 1e-9 * spikes[:1], np.zeros((1, M)), np.ones((1, M)),
                           rng.random((4, M)), rng.exponential(1, (4, M)) ** 4])  # fmt: skip


CASES = [
    ("moments", {}),
    ("residual", {"rounds": 4}),
    ("residual", {"rounds": 3, "start_share": 0, "w_clip": 0.2}),
    ("plain", {"rounds": 4}),
    ("ppnmf", {"rounds": 2}),
    ("ppnmf-as-published", {"rounds": 2}),
]


def test_every_method_is_tried():
    assert {name for name, _ in CASES} == set(METHODS)


@pytest.mark.parametrize(("name", "options"), CASES)
@pytest.mark.parametrize("row_norm", [None, 0.7])
def test_replacing_a_record_moves_an_answer_within_its_sensitivity(name, options, row_norm):
    X = records()
    for query in conversation(method(name, known(row_norm=row_norm), options), X):
        for seed in range(2):
            rows = worst_rows(seed)
            answers = []
            for row in rows:
                changed = X.copy()
                changed[seed] = row
                answers.append(query.answer(as_matrix(changed)))
            apart = max(np.linalg.norm(a - b) for a in answers for b in answers)
            assert apart <= query.sensitivity, query.what


@pytest.mark.parametrize("name", ["ppnmf", "ppnmf-as-published"])
def test_neither_does_it_with_outliers(name):
    X = records()[:12]
    chosen = method(name, known(), {"rounds": 1, "outlier_penalty": 0.1})
    (query,) = conversation(chosen, X)
    answers = []
    for row in worst_rows(0)[:9]:
        X[0] = row
        answers.append(query.answer(as_matrix(X)))
    assert max(np.linalg.norm(a - b) for a in answers for b in answers) <= query.sensitivity


@pytest.mark.parametrize(("name", "options"), CASES)
def test_removing_a_record_moves_an_answer_within_its_sensitivity(name, options):
    X = records()
    for query in conversation(method(name, known("add-remove"), options), X):
        for row in worst_rows(0):
            X[0] = row
            moved = np.linalg.norm(query.answer(as_matrix(X)) - query.answer(as_matrix(X[1:])))
            assert moved <= query.sensitivity, query.what


def test_rows_that_all_point_one_way_are_released_like_any_others():
    """Where the noise makes what they share look longer than they are, too."""
    chosen = method("moments", known(), {})
    for size in (0.9, 1.0, 1.5):
        public = chosen.learn({}, np.full(M, size / 3), 1e-6, 1)
        assert SHORTEST <= public["shrink"] <= 1
        assert chosen.query({**public, "clip": np.array(0.1)}, 3).sensitivity > 0


def test_the_sensitivities_are_reached():
    """Else noise would be wasted: two orthogonal records of full length move the mean and the moment by all that is allowed."""
    chosen = method("moments", known(), {})
    X = np.tile(np.eye(M)[0], (N, 1))
    other = X.copy()
    other[0] = np.eye(M)[1]
    view = View(np.arange(M), np.full((1, M), M**-0.5), np.ones(1))
    public = {**view.public(), "clip": np.array(1.0)}
    for t in (1, 2, 3):
        query = chosen.query(public, t)
        apart = np.linalg.norm(query.answer(as_matrix(X)) - query.answer(as_matrix(other)))
        if t != 2:  # both have the same length
            assert apart >= 0.999 * query.sensitivity


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_w_of_a_row_is_the_same_bits_whatever_the_other_rows_are(form):
    H = random_components(known())
    gram = H @ H.T
    X = records(n=700)
    kept = [0, 3, 255, 256, 699]
    other = records(1, n=700)[::-1] * 7
    other[kept] = X[kept]
    alone = []
    for rows in (X, other):
        held = as_matrix(form(rows))
        alone.append(exact_rows(held, row_scales(held, known()), H, gram)[0][:, kept])
    np.testing.assert_array_equal(*alone)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, sp.csc_array])
def test_a_view_is_what_it_says(form):
    rng = np.random.default_rng(0)
    features = np.array([0, 2, 3, 5, 7, 8])
    basis = np.linalg.qr(rng.standard_normal((len(features), 2)))[0].T
    view, X = View(features, basis, np.array([0.2, 0.5])), records()
    seen = X[:, features]
    Z = seen - (seen @ basis.T * (1 - view.shrink)) @ basis
    ((shown, scales),) = view.blocks(as_matrix(form(X)), known())
    np.testing.assert_allclose(scales, 1 / np.linalg.norm(X, axis=1))
    np.testing.assert_allclose(view.lengths(shown, np.ones(N)), np.linalg.norm(Z, axis=1), atol=1e-6)
    np.testing.assert_allclose(view.of_moment(seen.T @ seen), Z.T @ Z)
    np.testing.assert_allclose(view.back(Z.T @ Z), seen.T @ seen)
    np.testing.assert_allclose(view.unshrunk(Z), seen)


def test_what_is_made_short_still_stands_out_and_leaves_a_shorter_rest():
    values, noise = np.array([0.6, 0.2, 0.01]), 0.05
    shrink = shrinks(values, 0.1, noise, 0.05)
    left = float(shrink**2 @ values) + 0.1
    assert left < 0.5
    np.testing.assert_allclose(shrink[:2] ** 2 * values[:2], 2.5 * noise * left, rtol=1e-3)
    assert shrink[2] == 1
    assert float(shrinks(values, 0.0, 0.05, 0.05)[0] ** 2 * 0.6) == pytest.approx(0.125 * 0.05**2, rel=0.01)


def test_of_many_features_those_with_the_largest_means_are_kept(monkeypatch):
    for name, value in {"WIDE": 6, "FEWEST": 3}.items():
        monkeypatch.setattr(moments, name, value)
    X = records()
    X[:, [1, 4, 6, 7]] = 1e-6
    for mu, kept in ((400.0, 6), (1.0, 4), (1e-3, 3)):
        chosen = method("moments", known(mu=mu), {})
        triangle = kept * (kept + 1) // 2
        assert [query.entries for query in conversation(chosen, X)] == [M, 20, triangle, 20, triangle]
    public = chosen.learn({}, X.mean(axis=0), 0.0, 1)
    assert set(public["features"]) <= {0, 2, 3, 5, 8}


def test_components_are_kept_apart():
    H = np.repeat(random_components(known())[:1], K, axis=0)
    H[:, 2] = 0
    moved = apart(H, known())
    np.testing.assert_allclose(np.linalg.norm(moved, axis=1), 1)
    assert not moved[:, 2].any()
    assert np.linalg.eigvalsh(moved @ moved.T)[0] > 1e-8


def test_cleaning_brings_a_spiked_matrix_nearer_to_the_truth():
    rng = np.random.default_rng(0)
    m, scale = 200, 0.01
    V = np.linalg.qr(rng.standard_normal((m, 3)))[0]
    true = (V * [2.0, 1.0, 0.5]) @ V.T
    noisy = true + unpack_gram(scale * rng.standard_normal(m * (m + 1) // 2), m)
    seen = cleaned_symmetric(noisy, scale)
    error = np.linalg.norm((seen.vectors.T * seen.values) @ seen.vectors - true)
    assert len(seen.values) == 3
    assert error < 0.4 * np.linalg.norm(noisy - true)
    E = rng.standard_normal((5, 3)) @ rng.standard_normal((3, m))
    noisy = E + 0.5 * rng.standard_normal(E.shape)
    assert np.linalg.norm(cleaned_rectangular(noisy, 0.5) - E) < 0.85 * np.linalg.norm(noisy - E)
    assert not cleaned_rectangular(0.1 * rng.standard_normal((5, m)), 0.1).any()
    np.testing.assert_array_equal(cleaned_rectangular(E, 0.0), E)


def test_packing_keeps_norms_and_positive_parts_are_nearest():
    rng = np.random.default_rng(0)
    A = rng.standard_normal((5, 5))
    A += A.T
    assert np.linalg.norm(pack(A, None)) == pytest.approx(np.linalg.norm(A))
    P = positive_part(A)
    assert np.linalg.eigvalsh(P).min() > -1e-12
    assert np.sum(P * (A - P)) == pytest.approx(0, abs=1e-10)
