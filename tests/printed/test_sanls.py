"""SANLS and DSANLS on one node (Qian, Tan, Ding, Li & Mamoulis), Algorithms 1 to 3, with our S."""

import numpy as np
import pytest

from partwise.algorithms.single.sanls import Damping, Sanls
from partwise.randomness import Purpose
from partwise.sketches import KINDS, sketch
from partwise.updates import Proximal
from printed.page import ITERATIONS, Page, assert_same, ours, start


# Algorithm 2 on one node. `random_matrix(rows, columns, t, which)` stands for lines 4 and 10.
def sanls(M, U, V, T, d, d_, random_matrix, update):
    m, n = M.shape
    for t in range(T):                                     # 3:
        S = random_matrix(n, d, t, "S")                    # 4:
        A = M @ S                                          # 5:
        B = V.T @ S                                        # 6, 7:
        U = update(A, B, U, t)                             # 8:
        S_ = random_matrix(m, d_, t, "S'")                 # 10:
        A_ = M.T @ S_                                      # 11:
        B_ = U.T @ S_                                      # 12, 13: prints Uᵗ; Algorithm 1, line 4, has Uᵗ⁺¹
        V = update(A_, B_, V, t)                           # 14:
        yield U, V


def proximal_coordinate_descent(A, B, U, mu):
    k = len(B)
    new = np.empty_like(U)
    for j in range(k):                                     # 1:
        T = mu * U[:, j] + A @ B[j]                        # 2:
        for l in range(j):                                 # 3:
            T = T - (B[l] @ B[j]) * new[:, l]              # 4:
        for l in range(j + 1, k):                          # 5:
            T = T - (B[l] @ B[j]) * U[:, l]                # 6:
        new[:, j] = np.maximum(T / (B[j] @ B[j] + mu), 0)  # 7:
    return new                                             # 8:


def projected_gradient_descent(A, B, U, eta):
    return np.maximum(U - 2 * eta * (U @ B @ B.T - A @ B.T), 0)  # (14)


PAGE = Page(
    solver="sanls",
    title="SANLS: sketched alternating nonnegative least squares",
    reference="Y. Qian, C. Tan, D. Ding, H. Li and N. Mamoulis, *Fast and secure distributed nonnegative matrix factorization* (DSANLS), "
    "IEEE TKDE; Algorithms 1 to 3 on one node.",
    printed=(sanls, proximal_coordinate_descent, projected_gradient_descent),
    ours=(Damping, Sanls, Proximal),
    table=(
        ("M (m, n), U, V", "X (n, m), W, Hᵀ", "`State`"),
        ("S (n, d), S' (m, d')", "S (m, d), S' (n, d'), from (seed, iteration)", "`sketches`"),
        ("A = M S, B = Vᵀ S", "X S, H S; the pair gram = (HS)(HS)ᵀ, cross = (HS)(XS)ᵀ", "`Matrix.times_sketched`"),
        ("μ_t = α + β t", "`damping=(α, β)`, times mean(diag gram); as it stands with `relative_damping=False`", "`Damping`"),
        ("η_t", "1/μ_t; with relative damping 2 η_t = 1 / ((1 + μ_t) λ_max(gram))", "`Damping`"),
        ("entries ≤ √(2 ‖M‖) (22)", "`bounded=True`", "`BoxHals`"),
        ("d = 0.1 n, or 0.01 n", "`sketch_size`, a fraction; or the paper's rule, at least 2 k, short sides whole", "`sketch_sizes`"),
    ),
    cost="Sketching X (subsample: n d copies; count: nnz; SRHT: n m log m; Gaussian: 2 n m d flops), then 2 (n d + m d') k flops for the "
    "pairs and 2 (n + m) k² for the sweeps. A tenth of dense X is held beside X; sparse X is sketched by dense panels, which costs "
    "more than an exact iteration does.",
    good_for="The building block of DSANLS, where d k numbers travel instead of m k. On one machine `hals` reaches every error sooner "
    "([measured](../sketching.md)), and the sketched method that wins is `sketched`; take `sketch=\"subsample\"` or `\"count\"` if you "
    "must, never Gaussian on sparse data.",
    differences=(
        "Subsampling is scaled by √(n/d): without it E[SSᵀ] is (d/n) I, not I as Assumption 1 wants.",
        "μ_t relative to the gram makes a run independent of the data's unit; the paper searches α and β anew for each data set.",
        "Convergence is empirical: a step of the proof of Theorem 1 (Lemma 4) does not hold in general.",
    ),
)


def random_matrix(kind, seed):
    purposes = {"S": Purpose.SKETCH_W, "S'": Purpose.SKETCH_H}
    return lambda rows, columns, t, which: sketch(kind, rows, columns, seed, t + 1, purposes[which]).apply(np.eye(rows))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("inner", ["pcd", "pgd"])
def test_sanls(kind, inner):
    X, W, H = start()
    alpha, beta = (0.5, 0.25) if inner == "pcd" else (80.0, 5.0)

    def update(A, B, U, t):
        mu = alpha + beta * t
        if inner == "pcd":
            return proximal_coordinate_descent(A, B, U, mu)
        return projected_gradient_descent(A, B, U, 1 / mu)

    theirs = sanls(X, W, H.T, ITERATIONS, round(0.5 * 17), round(0.5 * 23), random_matrix(kind, 3), update)
    mine = ours("sanls", X, W, H, seed=3, sketch=kind, sketch_size=0.5, inner=inner, damping=(alpha, beta), relative_damping=False)
    assert_same(mine, ((U, V.T) for U, V in theirs))


def test_without_sketch_and_damping_it_is_the_framework_of_algorithm_1():
    X, W, H = start()
    identity = lambda rows, *_: np.eye(rows)  # noqa: E731
    undamped = lambda A, B, U, t: proximal_coordinate_descent(A, B, U, 0)  # noqa: E731
    unsketched = sanls(X, W, H.T, ITERATIONS, 17, 23, identity, undamped)
    assert_same(ours("hals", X, W, H, acceleration=1, extrapolate=False), ((U, V.T) for U, V in unsketched))
