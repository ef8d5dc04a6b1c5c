"""Our private rounds, "residual" and "plain", written out record by record with dense matrices and nothing hidden."""

import math

import numpy as np
import pytest
from scipy.optimize import nnls

from partwise.algorithms.private.iterated import Iterated
from partwise.algorithms.private.methods import method
from partwise.algorithms.private.query import Knowledge
from partwise.algorithms.private.records import statistics
from partwise.algorithms.private.shrinkage import cleaned_rectangular, positive_part
from partwise.data import as_matrix
from printed.page import Page

N, D, K, T = 60, 9, 3, 12


def shortened(v, limit):
    return v * min(1.0, limit / max(np.linalg.norm(v), 1e-300))


def symmetric(z, k):                                                         # N(0, 1) on the diagonal, N(0, ½) off it
    Z = np.zeros((k, k))
    Z[np.triu_indices(k)] = z
    Z = Z + Z.T
    return np.where(np.eye(k) > 0, Z / 2, Z / math.sqrt(2))


def sweeps_of_hals(H, A, B, count):
    H = H.copy()
    for _ in range(count):
        for j in range(len(H)):
            H[j] = np.maximum(0, H[j] + (B[j] - A[j] @ H) / A[j, j])
    return H


def private_rounds(X, H, T, mu, draws, kind, C_w, threshold, inside=0.3, counted=0.3, newest=0.3):
    """X: rows of length one. draws[t]: N(0, 1) of round t; round 1 is the start. mu_t² = 0.9 mu² / (T − 1) for each other round."""
    (n, m), k = X.shape, len(H)
    mu_t, C_e, averages = math.sqrt(0.9 / (T - 1)) * mu, 0.5, None
    for t in range(2, T + 1):
        W = np.array([nnls(H.T, x)[0] for x in X])
        Y = X - W @ H if kind == "residual" else X
        share = np.mean(np.linalg.norm(Y, axis=1) <= C_e)
        w_ = np.array([shortened(w, C_w) for w in W])
        y_ = np.array([shortened(y, C_e) for y in Y]) if kind == "residual" else Y
        A, B = w_.T @ w_ / n, w_.T @ y_ / n
        if kind == "residual":                                               # A costs nothing beside E: w_A = w_E / 2
            a, b = math.sqrt(2) * C_w**2, C_w * C_e
            delta = math.sqrt(4 + counted**2) / n
        else:                                                                # a quarter of mu_t² for A
            a, b = C_w**2 / math.sqrt(0.25), C_w / math.sqrt(0.75)
            delta = math.sqrt(2) / n
        sigma, z, half = delta / mu_t, draws[t], k * (k + 1) // 2
        A = A + a * sigma * symmetric(z[:half], k)
        B = B + b * sigma * z[half : half + k * m].reshape(k, m)
        if kind == "residual":
            share = share + sigma * z[-1] / counted
            B = A @ H + B
            C_e = min(1.0, max(1e-3, C_e * math.exp(inside - min(1.0, max(0.0, share)))))
        v, new = (b * sigma) ** 2, 1.0 if averages is None else max(newest, 1 / (t - 1))
        if averages is None:
            averages = A, B, v
        else:
            A, B = ((1 - new) * old + new * now for old, now in zip(averages[:2], (A, B), strict=True))
            averages = A, B, (1 - new) ** 2 * averages[2] + new**2 * v
        A, B, v = averages
        G = positive_part(A) + 1e-9 * np.eye(k)
        if kind == "residual":
            B = G @ H + cleaned_rectangular(B - A @ H, math.sqrt(v))         # of low rank: its noise is cleaned by singular values
        else:
            B = B * (threshold * math.sqrt(v) < B)
        moved = sweeps_of_hals(H, G, B, 10)
        lengths = np.linalg.norm(moved, axis=1, keepdims=True)
        H = np.where(lengths > 0, moved / np.where(lengths > 0, lengths, 1), H)
        yield H


OURS = "Ours. The clips and the joint sensitivity are derived in docs/privacy."
TABLE = (
    ("x, w, e", "rows of length one; exact nonnegative least squares; x − wH", "nobody but the curator or the party"),
    ("A, B", "mean of w wᵀ; of w xᵀ, or A H + mean of w eᵀ", "released with noise"),
    ("C_w, C_e", "`w_clip`; follows a noisy share of the records inside of it", "public"),
    ("T, 0.9", "`rounds`, 1 − `start_share`", "public"),
)
RESIDUAL = Page(
    solver="residual", where="private",
    title="Residual release: private alternating least squares",
    reference=OURS,
    printed=(private_rounds,), ours=(Iterated, statistics), table=TABLE,
    cost="One pass over the records with an exact solve each; (k + 1) k / 2 + k m + 1 noisy numbers; the sweeps that follow are free.",
    good_for="Dense data with more than two thousand features, where a second moment cannot be released. Else `moments` is better.",
    differences=("Each component is moved by up to 0.3 % after each round, so that none depends on the others (`apart`).",),
)
PLAIN = Page(
    solver="plain", where="private",
    title="Plain statistics: private alternating least squares without residuals",
    reference=OURS,
    printed=(private_rounds,), ours=(Iterated, statistics), table=TABLE,
    cost="One pass over the records with an exact solve each; (k + 1) k / 2 + k m noisy numbers; the sweeps that follow are free.",
    good_for="Comparing: of sparse text a residual is as long as the row, so that clipping it gains nothing. `moments` does better.",
    differences=("Each component is moved by up to 0.3 % after each round, so that none depends on the others (`apart`).",),
)


@pytest.mark.parametrize(("kind", "options"), [("residual", {}), ("plain", {"w_clip": 0.4, "threshold": 2.0})])
def test_private_rounds(kind, options, monkeypatch):
    monkeypatch.setattr("partwise.algorithms.private.iterated.apart", lambda H, known: H)
    rng = np.random.default_rng(0)
    X = rng.gamma(0.7, 1, (N, K)) @ rng.gamma(0.5, 1, (K, D)) + 0.1 * rng.random((N, D))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    known = Knowledge(N, D, K, 30.0, seed=1)
    chosen = method(kind, known, {"rounds": T, **options})
    public, theirs = chosen.opening(), None
    draws = [np.zeros(0), *(rng.standard_normal(chosen.entries(t)) for t in range(1, T + 1))]
    for t in range(1, T + 1):
        query = chosen.query(public, t)
        scale = query.sensitivity / (known.mu * math.sqrt(query.share))
        public = chosen.learn(public, query.answer(as_matrix(X)) + scale * draws[t], scale, t)
        if theirs is None:
            clip = options.get("w_clip", 0.5)
            theirs = private_rounds(X, public["H"], T, known.mu, draws, kind, clip, options.get("threshold", 0.0))
        else:
            np.testing.assert_allclose(public["H"], next(theirs), rtol=1e-5, atol=1e-6, err_msg=f"round {t}")
