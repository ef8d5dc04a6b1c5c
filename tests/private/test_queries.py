"""No record moves an answer by more than its query says; rows of W depend on no other row; what is free costs nothing to check."""

import numpy as np
import pytest
import scipy.sparse as sp

from partwise.algorithms.private.methods import METHODS, method
from partwise.algorithms.private.query import Knowledge, random_components
from partwise.algorithms.private.records import Metric, exact_rows, row_scales
from partwise.algorithms.private.shrinkage import cleaned_rectangular, cleaned_symmetric, positive_part
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
        assert 0.1 <= public["shrink"] <= 1
        assert chosen.query({**public, "clip": np.array(0.1)}, 3).sensitivity > 0


def test_the_sensitivities_are_reached():
    """Else noise would be wasted: two orthogonal records of full length move the mean and the moment by all that is allowed."""
    chosen = method("moments", known(), {})
    X = np.tile(np.eye(M)[0], (N, 1))
    other = X.copy()
    other[0] = np.eye(M)[1]
    public = {"direction": np.full(M, M**-0.5), "shrink": np.array(1.0), "clip": np.array(1.0)}
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


def test_lengths_in_a_metric():
    rng = np.random.default_rng(0)
    basis = np.linalg.qr(rng.standard_normal((M, 2)))[0].T
    metric, X = Metric(basis, np.array([0.2, 0.5])), records()
    Z = X - (X @ basis.T * (1 - metric.shrink)) @ basis
    np.testing.assert_allclose(metric.lengths(as_matrix(X), np.ones(N)), np.linalg.norm(Z, axis=1))
    np.testing.assert_allclose(metric.of_moment(X.T @ X), Z.T @ Z)
    np.testing.assert_allclose(metric.unshrunk(Z), X)


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
