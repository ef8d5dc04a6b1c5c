"""Coherence of topics beside slow, literal counting."""

import math
from itertools import combinations

import numpy as np
import pytest
import scipy.sparse as sp

from partwise.metrics import npmi, tc_w2v, top_features


def texts(seed=0, n=120, m=30):
    rng = np.random.default_rng(seed)
    X = rng.poisson(0.3, (n, m)).astype(float)
    X[:, 3] = X[:, 4] = 0  # words that no text has
    X[:, 5] = X[:, 6] = 1  # words that every text has
    X[:, 8] = X[:, 7]  # words that occur only together
    return X, rng.random((6, m))


def counted(X, words):
    """Bouma's formula, pair by pair."""
    scores = []
    for u, v in combinations(words, 2):
        with_u, with_v = ({i for i, row in enumerate(X) if row[w] > 0} for w in (u, v))
        p_u, p_v, both = len(with_u) / len(X), len(with_v) / len(X), len(with_u & with_v) / len(X)
        if both in (0, 1):
            scores.append(2 * both - 1)
        else:
            scores.append(math.log(both / (p_u * p_v)) / -math.log(both))
    return sum(scores) / len(scores)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, sp.csc_array])
def test_npmi_is_what_one_counts(form):
    X, H = texts()
    expected = [counted(X, sorted(range(30), key=lambda w: -h[w])[:7]) for h in H]
    np.testing.assert_allclose(npmi(H, form(X), top=7), expected, rtol=1e-12)


@pytest.mark.parametrize(("pair", "score"), [((3, 0), -1), ((3, 4), -1), ((5, 6), 1), ((7, 8), 1), ((5, 0), 0)])
def test_npmi_at_its_limits(pair, score):
    X, _ = texts()
    H = np.zeros((1, 30))
    H[0, list(pair)] = 1
    assert npmi(H, X, top=2)[0] == pytest.approx(score, abs=1e-12)


def test_tc_w2v_is_the_mean_cosine_of_the_words_that_have_vectors():
    rng = np.random.default_rng(0)
    H, V = rng.random((4, 12)), rng.standard_normal((12, 5))
    V[2], V[7] = 0, np.nan
    for words, got in zip(top_features(H, 5), tc_w2v(H, V, top=5), strict=True):
        known = [V[w] / np.linalg.norm(V[w]) for w in words if w not in (2, 7)]
        assert got == pytest.approx(np.mean([u @ v for u, v in combinations(known, 2)]))
    assert np.isnan(tc_w2v(np.eye(12)[2:3], np.eye(12)[:, :3] * [[i == 2] for i in range(12)], top=3)).all()


def test_top_features_are_in_order():
    assert top_features([[0.1, 0.9, 0.9, 0.5]], 3).tolist() == [[1, 2, 3]]


@pytest.mark.parametrize(
    ("ask", "sentence"),
    [
        (lambda X, H: npmi(H[:, :-1], X), "29 features and X has 30"),
        (lambda X, H: npmi(H, X, top=1), "from 2 to the number of features, 30"),
        (lambda X, H: top_features(H, 31), "from 2 to the number of features, 30"),
        (lambda X, H: top_features(H[0]), r"expected a finite array \(k, m\)"),
        (lambda X, H: tc_w2v(H, np.ones((3, 2))), "one row for each of 30 features"),
    ],
)
def test_refusals_are_sentences(ask, sentence):
    with pytest.raises(ValueError, match=sentence):
        ask(*texts())
