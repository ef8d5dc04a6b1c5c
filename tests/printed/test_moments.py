"""Our five releases, written out with dense matrices and nothing hidden."""

import math

import numpy as np
import pytest

from partwise.algorithms.private import moments as ours
from partwise.algorithms.private.moments import Moments
from partwise.algorithms.private.query import Knowledge
from partwise.algorithms.private.simulation import parts_of_simulated, simulated
from partwise.algorithms.private.views import shrinks
from partwise.data import as_matrix
from printed.page import Page
from printed.test_private_rounds import symmetric

N, D, K = 400, 12, 3


def shrunk_eigen(S, sigma):  # eigenvalues beyond the edge of noise N(0, σ²/2), each as it was before the noise, times cos² of its turn
    m = len(S)
    values, V = np.linalg.eigh(S)
    c = sigma * math.sqrt(m / 2)
    kept = values > max(2 * c, np.finfo(float).eps * m * values[-1])
    true = (values[kept] + np.sqrt(values[kept] ** 2 - 4 * c**2)) / 2
    return true * (1 - (c / true) ** 2), V[:, kept]


def make_short(values, rest, noise):  # so that s² value = 2.5 × the noise that a clip of what is left will have
    s = np.ones(len(values))
    for _ in range(20):
        left = max(sum(s**2 * values) + rest, ours.EDGES[0] ** 2)
        s = np.array([1.0 if v == 0 else min(1.0, math.sqrt(2.5 * noise * left / v)) for v in values])
    return np.maximum(s, 0.02)


def private_moments(X, kept, mu, z, quantile=0.25, start=0.1, first=0.2):
    """X: rows of length one; z: N(0, 1) of each release."""
    n = len(X)
    delta = math.sqrt(2) / n                                                 # of a mean of nonnegative things of length one
    moments = 1 - start - 0.01
    mu_1, mu_2, mu_3, mu_5 = (math.sqrt(share) * mu for share in (start, 0.005, first * moments, (1 - first) * moments))

    b = X.mean(axis=0) + delta / mu_1 * z[1]                                 # 1
    features = np.sort(np.argsort(-b)[:kept])
    X, b = X[:, features], b[features]
    u = np.maximum(b, 0) / np.linalg.norm(np.maximum(b, 0))
    common = min(1.0, max(0.05, np.maximum(b, 0) @ np.maximum(b, 0) - kept * (delta / mu_1) ** 2))
    basis, s = u[None], make_short(np.array([common]), 1 - common, delta / mu_3 * math.sqrt(kept / 2))
    total = 0
    for t, mu_t in ((3, mu_3), (5, mu_5)):
        to_z = np.eye(kept) - basis.T @ np.diag(1 - s) @ basis
        Z = X @ to_z
        lengths = np.linalg.norm(Z, axis=1)
        place = [min(sum(length > ours.EDGES), len(ours.EDGES) - 1) for length in lengths]  # 2 and 4
        h = np.bincount(place, minlength=len(ours.EDGES)) / n + delta / mu_2 * z[t - 1]
        h = np.cumsum(np.maximum(h, 0))
        C = ours.EDGES[next(i for i in range(len(h)) if quantile * h[-1] <= h[i])]
        Z = Z * np.minimum(1, C / lengths)[:, None]
        sigma = C**2 * delta / mu_t
        S = Z.T @ Z / n + sigma * symmetric(z[t], kept)                      # 3 and 5
        back = np.linalg.inv(to_z)
        if t == 3:
            values, V = shrunk_eigen(S, sigma)
            rest = max(np.trace(S) - values.sum(), 0)
            lam, basis = np.linalg.eigh(back @ (V * values) @ V.T @ back)
            known = lam > 1e-9 * lam[-1]
            lam, basis = lam[known], basis[:, known].T
            s = make_short(lam, rest, delta / mu_5 * math.sqrt(kept / 2))
            total, before = back @ S @ back, sigma
        else:
            weight = before**2 / (before**2 + sigma**2)
            values, V = shrunk_eigen(weight * S + (1 - weight) * to_z @ total @ to_z, math.sqrt(weight) * sigma)
            yield features, back @ (V * values) @ V.T @ back


PAGE = Page(
    solver="moments", where="private",
    title="Private second moments: five releases, then NMF of simulated rows",
    reference="Ours. Cleaning by F. Benaych-Georges and R. R. Nadakuditi, *The eigenvalues and eigenvectors of finite, low rank "
    "perturbations of large random matrices*, Advances in Mathematics 2011. Why, and what was measured: docs/decisions/0014.",
    printed=(private_moments, make_short, shrunk_eigen), ours=(Moments, shrinks, parts_of_simulated, simulated),
    table=(
        ("x, z", "rows of length one; the same with known directions made short", "nobody but the curator or the party"),
        ("b, h, S", "mean, histogram of lengths, second moment of z", "released with noise"),
        ("kept", "all features, or n μ/10 of more than 2,000", "public beforehand"),
        ("quantile, start, first", "`quantile`, `start_share`, `first_share`", "public"),
    ),
    cost="Two passes for the moments, O(n l²), and three lighter ones. Messages: m, 20 and l (l + 1) / 2 numbers, and these two again. "
    "Then no pass at all.",
    good_for="The default, wherever few features matter or there are few. Nothing here does better from a total ε of about 0.5.",
)  # fmt: skip


@pytest.mark.parametrize(("wide", "mu"), [(2000, 5.0), (8, 5.0), (2000, 200.0)])
def test_private_moments(wide, mu, monkeypatch):
    monkeypatch.setattr(ours, "WIDE", wide)
    rng = np.random.default_rng(0)
    X = rng.gamma(0.7, 1, (N, K)) @ rng.gamma(0.5, 1, (K, D)) + 0.1 * rng.random((N, D))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    known = Knowledge(N, D, K, mu, seed=1)
    chosen, public = Moments(known), {}
    z = [np.zeros(0), *(rng.standard_normal(chosen.entries(t)) for t in range(1, 6))]
    for t in range(1, 6):
        query = chosen.query(public, t)
        scale = query.sensitivity / (mu * math.sqrt(query.share))
        public = chosen.learn(public, query.answer(as_matrix(X)) + scale * z[t], scale, t)
    ((features, S),) = private_moments(X, min(wide, D), mu, z)
    np.testing.assert_array_equal(public["features"], features)
    np.testing.assert_allclose(public["root"].T @ public["root"], S, atol=1e-5)
