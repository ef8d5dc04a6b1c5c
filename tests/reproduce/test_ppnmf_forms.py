"""Algorithm 2 of Saha & Imtiaz in the form of their experiments, beside its twin; what figures 7 and 8 measure."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.sparse as sp

from partwise.data import as_matrix
from partwise.randomness import Purpose, generator
from partwise.reproduce.papers import ppnmf_forms, ppnmf_parts
from partwise.reproduce.papers.ppnmf_forms import PRINTED, PROVED, gaps, largest_one, printed, scaled
from partwise.reproduce.privately import DELTA, NON_PRIVATE
from partwise.start import start
from partwise.updates.ball import ball
from printed.test_ppnmf import ppnmf

N, D, K, T, EACH, SEED = 24, 9, 3, 6, 0.6, 4


def rows(length):
    """(N, D): rows of few parts, of this length."""
    rng = np.random.default_rng(0)
    X = rng.gamma(0.7, 1, (N, K)) @ rng.gamma(0.5, 1, (K, D)) + 0.1 * rng.random((N, D))
    return length * X / np.linalg.norm(X, axis=1, keepdims=True)


def noise(t):
    """What `printed` draws."""
    rng = generator(SEED, Purpose.NOISE, t)
    return rng.standard_normal((K, K)), rng.standard_normal((K, D)).T


@pytest.mark.parametrize(
    ("cut", "length", "outliers"), [(True, 1.0, None), (False, 0.4, None), (False, 0.4, (0.05, 0.2))]
)
def test_as_printed_is_its_twin(cut, length, outliers, monkeypatch):
    """The twin cuts what is longer than one; at a length of 0.4 nothing is, so that it has no say."""
    monkeypatch.setattr(ppnmf_forms, "INNER", 400)
    X = rows(length)
    tau = 2 / N / EACH * math.sqrt(2 * math.log(1.25 / DELTA))
    W = ball(np.ascontiguousarray(start(as_matrix(X), K, "nndsvd", SEED)[1])).T
    step = 0.7 if cut else 0.7 / length**2
    theirs = ppnmf(X.T, W, T, step, tau, tau * (2 if outliers else 1), noise, *(outliers or (None, None)))
    ours = printed(X, K, EACH, T, SEED, step=0.7, cut=cut, outliers=outliers)
    for epoch, W in zip(ours, theirs, strict=True):
        rtol, atol = (1e-6, 1e-9) if outliers is None else (1e-3, 1e-5)  # alternations are cut short
        np.testing.assert_allclose(epoch.H.T, W, rtol=rtol, atol=atol)


def test_a_cut_changes_what_is_longer_than_one():
    plain, cut = (list(printed(4 * rows(1.0), K, EACH, 2, SEED, cut=cut, step=0.01))[-1].H for cut in (False, True))
    assert np.abs(plain - cut).max() > 1e-3


def test_rows_are_scaled_as_the_form_has_them():
    X = np.vstack([3 * rows(1.0), np.zeros((1, D))])
    for held in (X, sp.csr_array(X)):
        assert largest_one(held).shape == (N, D)
        tops = largest_one(held).max(axis=1)
        np.testing.assert_allclose(tops.toarray().ravel() if sp.issparse(tops) else tops, 1)
    np.testing.assert_allclose(np.linalg.norm(scaled(X, PROVED), axis=1), 1)
    np.testing.assert_allclose(scaled(X, PRINTED).max(axis=1), 1)


def test_a_gap_is_against_the_non_private_end_of_the_same_rows():
    def row(form, each, t, objective, seed=0):
        return {"data": "a", "form": form, "each": each, "t": t, "objective": objective, "seed": seed}

    told = [row(PRINTED, NON_PRIVATE, 1, 9.0), row(PRINTED, NON_PRIVATE, 2, 2.0), row(PROVED, NON_PRIVATE, 2, 1.0)]
    told += [row(PRINTED, 0.5, 1, 7.0), row(PRINTED, 0.5, 2, 2.5), row(PROVED, 0.5, 2, 1.5)]
    assert gaps(told, PRINTED, 0.5) == {"a": pytest.approx(0.25)}
    assert gaps(told, PROVED, 0.5) == {"a": pytest.approx(0.5)}


def test_roughness_of_nothing_and_of_noise():
    rng = np.random.default_rng(0)
    assert ppnmf_parts.roughness(np.ones((2, 100))) == 0
    assert ppnmf_parts.roughness(rng.standard_normal((3, 10_000))) == pytest.approx(2, rel=0.02)


def test_a_tenth_of_the_faces_is_contaminated():
    X = np.random.default_rng(0).random((40, 30))
    spoilt = ppnmf_parts.contaminated(X, 1)
    changed = (spoilt != X).any(axis=1)
    assert changed.sum() == 4
    assert 0.5 < (spoilt != X)[changed].mean() < 0.8
    assert spoilt.min() >= 0
    assert spoilt.max() <= 1
