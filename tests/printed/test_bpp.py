"""ANLS with block principal pivoting (Kim & Park 2011)."""

import numpy as np
import pytest

from partwise.updates import Bpp
from printed.page import ITERATIONS, Page, assert_same, ours, start


# Algorithm 1 of the paper: min_{x ≥ 0} ‖C x − b‖, one right-hand side.
def block_principal_pivoting(C, b):
    q = C.shape[1]
    F, G = set(), set(range(q))                                     # 1: F = ∅, G = {1 … q}, x = 0, y = −Cᵀb, α = 3, β = q + 1
    x, y, alpha, beta = np.zeros(q), -C.T @ b, 3, q + 1
    tiny = 1e-12 * np.abs(C.T @ b).max()
    while (V := {i for i in F if x[i] < 0} | {i for i in G if y[i] < -tiny}):  # 2: while (x_F, y_G) is infeasible; 3: V
        if len(V) < beta:                                           # 4:
            beta, alpha, V_hat = len(V), 3, V
        elif alpha >= 1:                                            # 5:
            alpha, V_hat = alpha - 1, V
        else:                                                       # 6: the backup rule
            V_hat = {max(V)}
        F, G = (F - V_hat) | (V_hat & G), (G - V_hat) | (V_hat & F)  # 7:
        f, g = sorted(F), sorted(G)                                 # 8:
        x, y = np.zeros(q), np.zeros(q)
        x[f] = np.linalg.lstsq(C[:, f], b, rcond=None)[0]
        y[g] = C[:, g].T @ (C[:, f] @ x[f] - b)
    return x


# A (m, n) ≈ W H: each factor is solved for exactly, in turn.
def anls(A, W, H):
    while True:
        W = np.stack([block_principal_pivoting(H.T, a) for a in A])
        H = np.stack([block_principal_pivoting(W, a) for a in A.T], axis=1)
        yield W, H


PAGE = Page(
    solver="bpp",
    title="ANLS-BPP: alternating exact least squares by block principal pivoting",
    reference="J. Kim and H. Park, *Fast nonnegative matrix factorization: an active-set-like method and comparisons*, SIAM J. Sci. "
    "Comput. 33(6), 2011.",
    printed=(block_principal_pivoting, anls),
    ours=(Bpp,),
    table=(
        ("A (m, n), W, H", "X (n, m), W, H", "`State`"),
        ("C, b", "gram = CᵀC, cross = Cᵀb: C itself is not needed", "`NormalEq`"),
        ("F, G: passive and active sets", "one bit for each entry", "`kernels.bpp`"),
        ("α = 3 full exchanges, then the backup rule", "the same", "`kernels.bpp`"),
        ("columns with one passive set share a Cholesky factor", "each column has its own, in registers: measured faster", "`kernels.bpp`"),
    ),
    cost="Two products with X, and for each row a few Cholesky factors of its passive set: O(k³) at worst.",
    good_for="Few iterations, each dear. `transform` and the last step of every fit use it, as its answer is exact.",
    differences=("Coordinate descent finds a nearly right passive set first; the solution, being unique, is the same.",),
)


@pytest.mark.parametrize("seed", range(2))
def test_anls(seed):
    X, W, H = start(seed)
    theirs = (pair for pair, _ in zip(anls(X, W, H), range(ITERATIONS), strict=False))
    assert_same(ours("bpp", X, W, H), theirs, rtol=1e-6)
