"""AO-ADMM (Huang, Sidiropoulos & Liavas 2016)."""

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from partwise.updates import Admm
from printed.page import ITERATIONS, Page, assert_same, ours, start


# Algorithm 1: min ½‖Y − W H̃‖² + r(H), H = H̃ᵀ; H (n, k) and its dual U (n, k). `steps` instead of its stopping rule.
def admm(Y, W, H, U, steps):
    k = W.shape[1]
    G = W.T @ W                                                  # 1:
    rho = np.trace(G) / k                                        # 2:
    L = cho_factor(G + rho * np.eye(k))                          # 3:
    F = W.T @ Y                                                  # 4:
    for _ in range(steps):                                       # 5:
        H_tilde = cho_solve(L, F + rho * (H + U).T)              # 6:
        H = np.maximum(0, H_tilde.T - U)                         # 7: the proximal operator of r: nonnegativity
        U = U + H - H_tilde.T                                    # 8:
    return H, U


# Algorithm 3 for matrices: the factors in turn, each with the dual it left behind.
def ao_admm(Y, W, H, steps):
    U_W, U_H = np.zeros_like(W), np.zeros_like(H.T)
    H = H.T
    while True:
        W, U_W = admm(Y.T, H, W, U_W, steps)
        H, U_H = admm(Y, W, H, U_H, steps)
        yield W, H.T


PAGE = Page(
    solver="admm",
    title="ADMM: alternating optimisation with the alternating direction method of multipliers",
    reference="K. Huang, N. D. Sidiropoulos and A. P. Liavas, *A flexible and efficient algorithmic framework for constrained matrix and "
    "tensor factorization*, IEEE Trans. Signal Process. 64(19), 2016; after Y. Zhang 2010.",
    printed=(admm, ao_admm),
    ours=(Admm,),
    table=(
        ("Y, W, H̃", "X, W, the unconstrained copy U", "`Admm`"),
        ("U, the scaled dual", "−D", "`State.carry_W`, `carry_H`"),
        ("ρ = trace(G)/k", "`rho=\"auto\"`", "`Admm.penalty`"),
    ),
    cost="Two products with X, one inverse of a k × k matrix and 2 (n + m) k² flops a step.",
    good_for="A base for the distributed ADMMs; constraints with a cheap projection. The objective may rise.",
)


def test_ao_admm():
    X, W, H = start()
    theirs = (pair for pair, _ in zip(ao_admm(X, W, H, 5), range(ITERATIONS), strict=False))
    assert_same(ours("admm", X, W, H), theirs)
