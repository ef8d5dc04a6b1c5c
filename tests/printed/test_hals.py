"""HALS, in two papers' forms: BCD (Gao & Chu 2018, with its stopping rule) and accelerated HALS (Gillis & Glineur 2012)."""

import numpy as np

from partwise.algorithms.single.alternating import Alternating
from partwise.data import as_matrix
from partwise.drivers.iterate import begin, iterate
from partwise.drivers.stopping import DidRule, MaxIterations
from partwise.updates import Hals
from printed.page import Page, assert_same, ours, start


# Columns of X (M, N) are samples: X ≈ B C. The numbers are those of the paper's equations.
def bcd(X, B, C):
    B, C = B.copy(), C.copy()
    K, N = C.shape
    while True:
        for j in range(N):                                          # // Update C
            e_j = X[:, j] - B @ C[:, j]
            for i in range(K):
                e_j = e_j + B[:, i] * C[i, j]                       # (17a)
                C[i, j] = max(0, B[:, i] @ e_j / (B[:, i] @ B[:, i]))  # (17b)
                e_j = e_j - B[:, i] * C[i, j]                       # (17c)
        E = X - B @ C                                               # // Update B
        for i in range(K):
            y = (E + np.outer(B[:, i], C[i])) @ C[i]                # (20a), summed over j
            z = C[i] @ C[i]                                         # (20b)
            b = np.maximum(0, y / z)                                # (21)
            E, B[:, i] = E - np.outer(b - B[:, i], C[i]), b         # (23)
        yield B.copy(), C.copy()


def stopping_rule(X, B, C, epsilon):
    E0 = X - B @ C
    for t, (B_t, C_t) in enumerate(bcd(X, B, C), start=1):
        E = X - B_t @ C_t
        if np.sum(E * E) <= epsilon * np.sum(E0 * E0):              # (31)
            return t
    return None


# M ≈ U V. `inner` is the number of sweeps that the paper's dynamic rule allows, its second rule (ε) being switched off.
def accelerated_hals(M, U, V, inner):
    U, V = U.copy(), V.copy()
    while True:
        A, B = M @ V.T, V @ V.T
        for _ in range(inner[0]):
            for k in range(U.shape[1]):
                C_k = sum((U[:, l] * B[l, k] for l in range(U.shape[1]) if l != k), np.zeros(len(U)))
                U[:, k] = np.maximum(0, (A[:, k] - C_k) / B[k, k])
        A, B = U.T @ M, U.T @ U
        for _ in range(inner[1]):
            for k in range(V.shape[0]):
                C_k = sum((B[k, l] * V[l] for l in range(V.shape[0]) if l != k), np.zeros(V.shape[1]))
                V[k] = np.maximum(0, (A[k] - C_k) / B[k, k])
        yield U.copy(), V.copy()


PAGE = Page(
    solver="hals",
    title="HALS: hierarchical alternating least squares",
    reference="A. Cichocki, R. Zdunek and S. Amari, ICA 2007; N. Gillis and F. Glineur, *Accelerated multiplicative updates and "
    "hierarchical ALS algorithms for nonnegative matrix factorization*, Neural Computation 24(4), 2012; printed as BCD in T. Gao "
    "and C. Chu, *DID: distributed incremental block coordinate descent for nonnegative matrix factorization*, AAAI 2018.",
    printed=(bcd, stopping_rule, accelerated_hals),
    ours=(Hals, Alternating.step, DidRule),
    table=(
        ("X (M, N), samples in columns; M", "X (n, m), samples in rows", "`Matrix`"),
        ("B, C; U, V", "Hᵀ, Wᵀ; W, H", "`State`"),
        ("e_j = x_j − B c_j, kept up to date", "the slope cross − gram F, from the pair: no residual is formed", "`NormalEq`"),
        ("A = M Vᵀ, B = V Vᵀ", "cross, gram", "`NormalEq`"),
        ("inner passes, ⌊1 + α ρ⌋ with α = ½", "`acceleration`; \"auto\": one sweep and as many more as half a pair costs, at most 20",
         "`methods.sweeps_beside_pair`"),
        ("inner stop, ε", "none: it would make the result depend on how rows are cut", "–"),
        ("‖Eᵗ‖² ≤ ε ‖E⁰‖² (31)", "`did_epsilon`", "`DidRule`"),
    ),
    cost="Two products with X, 2 · 2 nnz k flops, and 2 (n + m) k² flops a sweep.",
    good_for="Everything: it is what `solver=\"auto\"` takes for the Frobenius loss, with several sweeps and extrapolation.",
    differences=(
        "A component whose partner is zero (division by zero in the papers) is left as it is.",
        "On sparse data in float64 the factors are float32 while that suffices, then float64 (`halve`: \"auto\", True or False; "
        "[decision 16](../decisions/0016-half-the-digits.md)).",
    ),
)


def test_bcd():
    X, W, H = start()
    theirs = ((C.T, B.T) for (B, C), _ in zip(bcd(X.T, H.T, W.T), range(20), strict=False))
    assert_same(ours("hals", X, W, H, acceleration=1, extrapolate=False), theirs)


def test_accelerated_hals():
    X, W, H = start(1)
    theirs = (pair for pair, _ in zip(accelerated_hals(X, W, H, (3, 3)), range(20), strict=False))
    assert_same(ours("hals", X, W, H, acceleration=3, extrapolate=False), theirs)


def test_the_stopping_rule():
    X, W, H = start(2)
    held, update = as_matrix(X), Hals()
    step = Alternating(update, update)
    for epsilon in (0.5, 0.02, 0.01):
        state, trace = begin(step, held, np.ascontiguousarray(W.T), H, relative=True)
        outcome = iterate(step, held, state, trace, [DidRule(epsilon), MaxIterations(500)])
        assert outcome.trace.last.t == stopping_rule(X.T, H.T, W.T, epsilon)
        assert outcome.reason.converged
