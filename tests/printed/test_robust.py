"""Robust NMF as Saha & Imtiaz print it (§2.3, after Zhao & Tan 2017): equations (8), (9) and (12)."""

from functools import partial

import numpy as np

from partwise.algorithms.single.robust import Robust
from partwise.data import as_matrix
from partwise.data.outliers import outliers, soft_threshold
from partwise.updates import Pgd
from partwise.updates.ball import ball
from printed.page import ITERATIONS, Page, assert_same, start


def S(X, lam, M):                                                            # the threshold below (9)
    out = np.zeros_like(X)
    for i in range(X.shape[0]):
        for j in range(X.shape[1]):
            x = X[i, j]
            if abs(x) < lam:
                out[i, j] = 0
            elif abs(x) <= lam + M:
                out[i, j] = x - np.sign(x) * lam
            else:
                out[i, j] = np.sign(x) * M
    return out


def robust_nmf(V, W, H, iterations, lam, M):
    """Each iteration one step of (8) and one of (12); η = 1/L. R is brought up to date by (9) before each."""
    for _ in range(iterations):
        R = S(V - W @ H, lam, M)                                             # (9)
        eta_H = 1 / np.linalg.norm(W.T @ W, 2)
        H = np.maximum(H - eta_H * (W.T @ W @ H - W.T @ (V - R)), 0)         # (8)
        R = S(V - W @ H, lam, M)                                             # (9)
        A, B = H @ H.T, (V - R) @ H.T
        eta_W = 1 / np.linalg.norm(A, 2)
        W_ = np.maximum(W - eta_W * (W @ A - B), 0)                          # (11)
        W = W_ / np.maximum(1, np.linalg.norm(W_, axis=0))                   # (12)
        yield W, H


PAGE = Page(
    solver="robust",
    title="Robust NMF: parts, and the entries that do not fit them",
    reference="R. Zhao and V. Y. F. Tan, *Online nonnegative matrix factorization with outliers*, IEEE Transactions on Signal Processing "
    "2017; as S. Saha and H. Imtiaz print its batch form, §2.3.",
    printed=(S, robust_nmf), ours=(Robust, outliers, soft_threshold),
    table=(
        ("V (D, N), W, H, R", "Xᵀ, Hᵀ, Wᵀ, Rᵀ", "`State`; R is made anew from them"),
        ("λ, M", "`outlier_penalty`, `outlier_bound`", "estimator"),
        ("S_{λ,M}", "`soft_threshold`", "`data.outliers`"),
        ("(8), (12)", '`solver="pgd"`; `"hals"` is faster', "`updates`"),
    ),
    cost="Two passes over X, and WH formed twice, by blocks: three times an iteration of NMF on dense data, more on sparse.",
    good_for="Dense data with wild entries: dead pixels, slips of a sensor. `RobustNMF`; see docs/robust.md.",
    differences=("Components are kept in the unit ball, as in (12); W (here H) of the result is exact for each row.",),
)


def wild(seed=0):
    X, W, H = start(seed)
    rng = np.random.default_rng(seed)
    X[rng.random(X.shape) < 0.1] += 5
    return X, W, H / np.linalg.norm(H, axis=1, keepdims=True)


def test_robust_nmf():
    X, W, H = wild()
    lam, M = 0.7, 3.0
    held = as_matrix(X)
    method = Robust(Pgd(), Pgd(project=ball), partial(outliers, penalty=lam, bound=M), lam)
    state = method.init(held, np.ascontiguousarray(W.T), H)

    def ours(state):
        for t in range(1, ITERATIONS + 1):
            state = method.step(held, state, t)
            yield state.Wt.T, state.H

    theirs = ((H_.T, W_.T) for W_, H_ in robust_nmf(X.T, H.T, W.T, ITERATIONS, lam, M))
    assert_same(ours(state), theirs)


def test_threshold():
    D = np.linspace(-4, 4, 81).reshape(9, 9) + 0.01
    np.testing.assert_allclose(soft_threshold(D, 0.5, 1.3), S(D, 0.5, 1.3), atol=1e-15)
