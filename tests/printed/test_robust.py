"""Robust NMF as Saha & Imtiaz print it (§2.3, after Zhao & Tan 2017): equations (8), (9) and (12)."""

from functools import partial

import numpy as np

from partwise.algorithms.single.robust import Robust
from partwise.data import as_matrix
from partwise.data.outliers import outliers, soft_threshold
from partwise.updates import Pgd
from partwise.updates.ball import ball
from printed.page import ITERATIONS, assert_same, start


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
