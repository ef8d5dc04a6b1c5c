"""Projected gradients: plain, iPALM (Pock & Sabach 2016), NeNMF (Guan, Tao, Luo & Yuan 2012)."""

import numpy as np

from partwise.updates import Nesterov, Palm, Pgd
from printed.page import ITERATIONS, Page, assert_same, ours, start


# V ≈ W H by steps of length 1/L, L = ‖WᵀW‖₂
def projected_gradient(V, W, H):
    while True:
        W = np.maximum(0, W - (W @ H @ H.T - V @ H.T) / np.linalg.norm(H @ H.T, 2))
        H = np.maximum(0, H - (W.T @ W @ H - W.T @ V) / np.linalg.norm(W.T @ W, 2))
        yield W, H


# Algorithm 1 of the paper with α_k = β_k: min H(x₁, x₂) + f₁(x₁) + f₂(x₂), here ½‖A − x₁ x₂‖² and nonnegativity.
def ipalm(A, x1, x2, alpha):
    x1_old, x2_old = x1, x2
    while True:
        y1 = x1 + alpha * (x1 - x1_old)                                  # 1: y₁ (= z₁, as β₁ = α₁)
        tau1 = np.linalg.norm(x2 @ x2.T, 2)
        x1, x1_old = np.maximum(0, y1 - (y1 @ x2 - A) @ x2.T / tau1), x1
        y2 = x2 + alpha * (x2 - x2_old)                                  # 2: y₂
        tau2 = np.linalg.norm(x1.T @ x1, 2)
        x2, x2_old = np.maximum(0, y2 - x1.T @ (x1 @ y2 - A) / tau2), x2
        yield x1, x2


# Algorithm 1 of the paper, OGM, for `K` steps instead of its stopping rule.
def optimal_gradient_method(V, W, H, K):
    Y, alpha, L = H, np.ones(H.shape[1]), np.linalg.norm(W.T @ W, 2)     # 1:
    for _ in range(K):                                                   # 2:
        H_k = np.maximum(0, Y - (W.T @ W @ Y - W.T @ V) / L)             # 3:
        older, alpha = alpha, (1 + np.sqrt(4 * alpha**2 + 1)) / 2        # 4:
        uphill = np.sum((Y - H_k) * (H_k - H), axis=0) > 0               # not in the paper: O'Donoghue & Candès's restart, by columns
        older, alpha = np.where(uphill, 1, older), np.where(uphill, 1, alpha)
        Y = H_k + (older - 1) / alpha * (H_k - H)                        # 5:
        H = H_k
    return H


# Algorithm 2: H first, then W.
def nenmf(V, W, H, K):
    while True:
        H = optimal_gradient_method(V, W, H, K)
        W = optimal_gradient_method(V.T, H.T, W.T, K).T
        yield W, H


PGD = Page(
    solver="pgd",
    title="PGD: projected gradient",
    reference="C.-J. Lin, *Projected gradient methods for nonnegative matrix factorization*, Neural Computation 19(10), 2007 (there with a "
    "line search; here with the step 1/L).",
    printed=(projected_gradient,),
    ours=(Pgd,),
    table=(("step α from a line search", "1/λ_max(gram)", "`Pgd`"), ("inner steps", "`steps`", "`Pgd`")),
    cost="Two products with X, and 2 (n + m) k² flops a step.",
    good_for="A baseline; rows of W on the simplex. Slow on correlated components.",
)
IPALM = Page(
    solver="ipalm",
    title="iPALM: inertial proximal alternating linearised minimisation",
    reference="T. Pock and S. Sabach, *Inertial proximal alternating linearized minimization (iPALM) for nonconvex and nonsmooth "
    "problems*, SIAM J. Imaging Sci. 9(4), 2016.",
    printed=(ipalm,),
    ours=(Palm,),
    table=(("x₁, x₂", "W, H", "`State`"), ("α = β", "`inertia`", "`Palm`"), ("τ₁, τ₂", "λ_max(gram)", "`curvature`"),
           ("x of the iteration before", "carry", "`State.carry_W`, `carry_H`")),
    cost="Two products with X, one λ_max of a k × k matrix and 2 (n + m) k² flops.",
    good_for="The local solver of several federated methods. The objective may rise now and then.",
)
NENMF = Page(
    solver="nesterov",
    title="NeNMF: Nesterov's optimal gradient method",
    reference="N. Guan, D. Tao, Z. Luo and B. Yuan, *NeNMF: an optimal gradient method for nonnegative matrix factorization*, IEEE Trans. "
    "Signal Process. 60(6), 2012.",
    printed=(optimal_gradient_method, nenmf),
    ours=(Nesterov,),
    table=(("V (m, n), W, H, updated in the order H, W", "Xᵀ, Hᵀ, Wᵀ, in the order W, H", "`State`"), ("Y_k", "ahead", "`Nesterov`"),
           ("α_k", "age", "`Nesterov`"), ("inner stop on the projected gradient", "`steps`, a fixed number", "`Nesterov`")),
    cost="Two products with X, and 2 (n + m) k² flops a step.",
    good_for="Nearly exact solutions with any projection: rows of W that sum to one use it.",
    differences=("The momentum of a column is thrown away where it points uphill (O'Donoghue and Candès 2015).",),
)


def first(run):
    return (pair for pair, _ in zip(run, range(ITERATIONS), strict=False))


def test_projected_gradient():
    X, W, H = start()
    assert_same(ours("pgd", X, W, H), first(projected_gradient(X, W, H)))


def test_ipalm():
    X, W, H = start()
    assert_same(ours("ipalm", X, W, H, inertia=0.4), first(ipalm(X, W, H, 0.4)))


def test_nenmf():
    X, W, H = start()
    turned = ((H.T, W.T) for W, H in first(nenmf(X.T, H.T, W.T, 10)))
    assert_same(ours("nesterov", X, W, H), turned)
