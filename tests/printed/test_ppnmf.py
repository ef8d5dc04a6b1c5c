"""PPNMF (Saha & Imtiaz, Algorithm 2), with our noise."""

import math

import numpy as np
import pytest
from scipy.optimize import nnls

from partwise.algorithms.private.methods import method
from partwise.algorithms.private.ppnmf import Ppnmf, PpnmfAsPublished
from partwise.algorithms.private.query import Knowledge, random_components
from partwise.data import as_matrix
from partwise.privacy.gaussian import epsilon_of
from printed.page import ITERATIONS, Page

N, D, K = 30, 11, 3


# Algorithm 2. `noise(t)` gives the N(0, 1) of line 3; the argmin of line 2 is taken to its end.
def ppnmf(V, W, n, eta_W, tau_A, tau_B, noise, lam=None, M=None):
    N = V.shape[1]
    for t in range(1, n + 1):                                                # 1:
        R = np.zeros_like(V)
        for _ in range(1 if lam is None else 400):                           # 2:
            H = np.stack([nnls(W, v)[0] for v in (V - R).T], axis=1)         #    (8), exactly
            if lam is not None:
                X = V - W @ H
                R = np.sign(X) * np.minimum(np.maximum(np.abs(X) - lam, 0), M)  # (9)
        h, y = np.linalg.norm(H, axis=0), np.linalg.norm(V - R, axis=0)
        H_, Y = H / np.maximum(h, 1), (V - R) / np.maximum(y, 1)             #    §3.2: norms at most 1
        E_A, E_B = noise(t)
        A = H_ @ H_.T / N + tau_A * E_A                                      # 3:
        B = Y @ H_.T / N + tau_B * E_B
        gradient = W @ A - B                                                 # 4:
        W_ = np.maximum(W - eta_W * gradient, 0)                             # 5:
        W = W_ / np.maximum(1, np.linalg.norm(W_, axis=0))
        yield W                                                              # 7:


PAGE = Page(
    solver="ppnmf", where="private",
    title="PPNMF: projected gradient steps on noisy statistics",
    reference="S. Saha and H. Imtiaz, *Privacy-preserving Non-negative Matrix Factorization with Outliers*, 2022; Algorithm 2.",
    printed=(ppnmf,), ours=(Ppnmf, PpnmfAsPublished),
    table=(
        ("V (D, N), W, H, R", "Xᵀ, Hᵀ, Wᵀ, Rᵀ", "records; H alone is public"),
        ("A, B", "means of w wᵀ and w yᵀ, y = x − r", "released with noise"),
        ("η_W, n", "`step`, `rounds`", "public"),
        ("λ, M", "`outlier_penalty`, `outlier_bound`, of rows of length one", "public"),
        ("ε of an iteration", "the total ε, turned back by their formula", "ledger"),
    ),
    cost="A round: an exact solve for each record, and k² + k m noisy numbers (`ppnmf`: (k + 1) k / 2 + k m).",
    good_for="Comparing. `ppnmf` is the repaired form, `ppnmf-as-published` the printed one; `moments` is far better than both.",
    differences=(
        "Rows are clipped to length one in code: the paper brings the largest entry to one and proves its bound for length one.",
        "H (here W) and R are exact for each record, so that none depends on another's stopping rule.",
        "The start is random. Theirs is NNDSVD of the data, which no ε covers: `start=\"nndsvd\"` does it and is marked not private.",
        "Repaired: one joint sensitivity, y clipped itself (√2/n in place of 2/n or 4/n), symmetric noise on A, exact accounting.",
    ),
)


@pytest.mark.parametrize("lam", [None, 0.15])
def test_ppnmf_as_published(lam):
    rng = np.random.default_rng(0)
    X = rng.gamma(0.7, 1, (N, K)) @ rng.gamma(0.5, 1, (K, D)) + 0.1 * rng.random((N, D))
    known = Knowledge(N, D, K, mu=2.0, seed=1)
    options = {"rounds": ITERATIONS, "step": 0.7} | ({} if lam is None else {"outlier_penalty": lam, "outlier_bound": 0.4})
    chosen = method("ppnmf-as-published", known, options)
    V = (X / np.linalg.norm(X, axis=1, keepdims=True)).T
    draws = [rng.standard_normal(K * K + K * D) for _ in range(ITERATIONS)]

    def noise(t):
        return draws[t - 1][: K * K].reshape(K, K), draws[t - 1][K * K :].reshape(K, D).T

    epsilon = epsilon_of(known.delta, known.mu)
    tau_A = 2 / N / per_release(epsilon, known.delta, 2 * ITERATIONS)
    tau_B = tau_A * (1 if lam is None else 2)                                # Δ_B = 2/N, or 4/N with outliers
    theirs = ppnmf(V, random_components(known).T, ITERATIONS, 0.7, tau_A, tau_B, noise, lam, 0.4)
    public = chosen.opening()
    for t, W in enumerate(theirs, start=1):
        query = chosen.query(public, t)
        scale = query.sensitivity / (known.mu * math.sqrt(query.share))
        assert scale == pytest.approx(tau_A)
        public = chosen.learn(public, query.answer(as_matrix(X)) + scale * draws[t - 1], scale, t)
        np.testing.assert_allclose(public["H"].T, W, rtol=1e-6, atol=1e-8, err_msg=f"iteration {t}")


def per_release(epsilon, delta, releases):
    """Δ/σ of each, by their formula: α_opt K/2 (Δ/σ)² + ln(1/δ)/(α_opt − 1), solved by trying."""

    def total(ratio):
        squares = releases * ratio**2
        alpha = 1 + math.sqrt(2 / squares * math.log(1 / delta))
        return alpha / 2 * squares + math.log(1 / delta) / (alpha - 1)

    low, high = 1e-9, 1e3
    for _ in range(200):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if total(middle) < epsilon else (low, middle)
    return low
