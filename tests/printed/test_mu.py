"""Multiplicative updates (Lee & Seung 2001; Févotte & Idier 2011)."""

import pytest

from partwise.algorithms.single.multiplicative import Multiplicative
from partwise.updates import Mu
from partwise.updates.mu import exponent_for
from printed.page import ITERATIONS, Page, assert_same, ours, start


# V ≈ W H, Theorem 1: the Euclidean distance. H first, then W with the new H.
def lee_seung_euclidean(V, W, H):
    while True:
        H = H * (W.T @ V) / (W.T @ W @ H)
        W = W * (V @ H.T) / (W @ H @ H.T)
        yield W, H


# Theorem 2: the divergence.
def lee_seung_divergence(V, W, H):
    W, H = W.copy(), H.copy()
    (n, m), r = V.shape, len(H)
    while True:
        WH = W @ H
        for a in range(r):
            for mu in range(m):
                H[a, mu] *= sum(W[i, a] * V[i, mu] / WH[i, mu] for i in range(n)) / sum(W[k, a] for k in range(n))
        WH = W @ H
        for i in range(n):
            for a in range(r):
                W[i, a] *= sum(H[a, mu] * V[i, mu] / WH[i, mu] for mu in range(m)) / sum(H[a, nu] for nu in range(m))
        yield W.copy(), H.copy()


# V (F, N) ≈ W H, the majorisation–minimisation algorithm for the β-divergence.
def fevotte_idier(V, W, H, beta):
    gamma = 1 / (2 - beta) if beta < 1 else 1 if beta <= 2 else 1 / (beta - 1)
    while True:
        V_tilde = W @ H
        H = H * ((W.T @ (V * V_tilde ** (beta - 2))) / (W.T @ V_tilde ** (beta - 1))) ** gamma
        V_tilde = W @ H
        W = W * (((V * V_tilde ** (beta - 2)) @ H.T) / (V_tilde ** (beta - 1) @ H.T)) ** gamma
        yield W, H


PAGE = Page(
    solver="mu",
    title="MU: multiplicative updates for any β-divergence",
    reference="D. D. Lee and H. S. Seung, *Algorithms for non-negative matrix factorization*, NIPS 2001; C. Févotte and J. Idier, "
    "*Algorithms for nonnegative matrix factorization with the β-divergence*, Neural Computation 23(9), 2011.",
    printed=(lee_seung_euclidean, lee_seung_divergence, fevotte_idier),
    ours=(Mu, exponent_for, Multiplicative),
    table=(
        ("V (F, N), W, H, updated in the order H, W", "Xᵀ, Hᵀ, Wᵀ, in the order W, H", "`State`"),
        ("numerator, denominator", "the same", "`RatioEq`"),
        ("γ(β)", "exponent", "`exponent_for`"),
    ),
    cost="β = 2: as one HALS iteration. β = 1 on sparse X: O(nnz k). Other β: the denominator needs every entry of WH, O(n m k) time, "
    "by blocks.",
    good_for="Losses other than least squares, for which it is the method here. For least squares `hals` is much faster.",
    differences=("A denominator of zero is taken as 1.2e-7, as in scikit-learn. Zeros in a factor stay zero.",),
)


def turned(run):
    """Their X is the transpose of ours."""
    return ((H.T, W.T) for (W, H), _ in zip(run, range(ITERATIONS), strict=False))


@pytest.mark.parametrize(("printed", "beta"), [(lee_seung_euclidean, 2.0), (lee_seung_divergence, 1.0)])
def test_lee_and_seung(printed, beta):
    X, W, H = start()
    assert_same(ours("mu", X, W, H, beta=beta), turned(printed(X.T, H.T, W.T)))


@pytest.mark.parametrize("beta", [-0.5, 0.0, 0.5, 1.0, 1.5, 2.0, 3.0])
def test_fevotte_and_idier(beta):
    X, W, H = start(1)
    assert_same(ours("mu", X, W, H, beta=beta), turned(fevotte_idier(X.T, H.T, W.T, beta)))
