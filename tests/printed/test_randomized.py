"""Randomized HALS (Erichson, Mendible, Wihlborn & Kutz 2018), in our form: HALS on Q B."""

import numpy as np

from partwise.algorithms.single.randomized import Randomized, range_finder
from partwise.data import LowRank
from partwise.randomness import Purpose, columns
from printed.page import ITERATIONS, K, Page, assert_same, ours, start


# Algorithm 1, the randomized QB decomposition of X (m, n) with q power iterations.
def rqb(X, Omega, q):
    Y = X @ Omega                                    # 3:
    for _ in range(q):                               # 4:
        Q, _ = np.linalg.qr(Y)                       # 5:
        Q, _ = np.linalg.qr(X.T @ Q)                 # 6:
        Y = X @ Q                                    # 7:
    Q, _ = np.linalg.qr(Y)                           # 9:
    return Q, Q.T @ X                                # 10, 11:


# HALS as in the paper's equations, on Q B. The paper keeps QᵀW alone and projects Q (QᵀW) ≥ 0; we keep W.
def compressed_hals(Q, B, W, H):
    W, H = W.copy(), H.copy()
    while True:
        T, V = Q @ (B @ H.T), H @ H.T
        for j in range(len(H)):
            W[:, j] = np.maximum(0, W[:, j] + (T[:, j] - W @ V[:, j]) / V[j, j])
        R, S = B.T @ (Q.T @ W), W.T @ W
        for j in range(len(H)):
            H[j] = np.maximum(0, H[j] + (R[:, j] - H.T @ S[:, j]) / S[j, j])
        yield W.copy(), H.copy()


PAGE = Page(
    solver="randomized",
    title="Randomized HALS, finished exactly",
    reference="N. B. Erichson, A. Mendible, S. Wihlborn and J. N. Kutz, *Randomized nonnegative matrix factorization*, Pattern Recognition "
    "Letters 104, 2018.",
    printed=(rqb, compressed_hals),
    ours=(range_finder, Randomized, LowRank.times),
    table=(
        ("X (m, n), W, H", "X (n, m), W, H", "`State`"),
        ("Q, B", "the same", "`State.memory`, `LowRank`"),
        ("oversampling p, power iterations q", "`oversampling=20`, `power_iterations=2`", "`methods.randomized`"),
        ("W̃ = QᵀW, projected through Q", "W itself", "`State`"),
        ("–", "goes over to X when 20 iterations gain less than 0.5 % of the objective", "`Randomized.step`"),
    ),
    cost="X is read 2 q + 2 times to compress it to l = k + oversampling columns; then O((n + m) l k) an iteration, and one product with "
    "X every 20; at the end as HALS.",
    good_for="Large dense X of low rank, several times wider than l. On narrow or sparse data `hals` is as fast or faster.",
    differences=(
        "The first iteration is an exact one, so that the loss and the KKT residual of the start are known.",
        "W is kept whole, at the same cost, so the fit to Q B is not hurt by the part of W outside the range of Q.",
        "The paper ends on Q B, up to a percent above what HALS reaches; here exact sweeps finish.",
    ),
)


def test_compressed_hals_after_one_exact_iteration():
    X, W, H = start(shape=(60, 50))
    exact, *_ = ours("hals", X, W, H, iterations=1, acceleration=1, extrapolate=False)
    Omega = columns(lambda rng, size: rng.standard_normal((size, K + 3)), (K + 3, 50), 0, Purpose.RANGE).T
    Q, B = rqb(X, Omega, 2)
    theirs = [exact, *(pair for pair, _ in zip(compressed_hals(Q, B, *exact), range(ITERATIONS - 1), strict=False))]
    mine = ours("randomized", X, W, H, oversampling=3, acceleration=1, extrapolate=False)
    assert_same(mine, theirs)
