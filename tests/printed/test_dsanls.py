"""DSANLS (Qian, Tan, Ding, Li & Mamoulis), Algorithm 2, with our S."""

import numpy as np
import pytest

from distributed.runs import run
from partwise.algorithms.distributed.dsanls import Dsanls
from partwise.algorithms.single.sanls import Sanls
from partwise.data import layout
from partwise.sketches import KINDS
from printed.page import ITERATIONS, K, Page, start
from printed.test_sanls import projected_gradient_descent, proximal_coordinate_descent, random_matrix


# Algorithm 2; what every node r of N does is done for all of them in turn. M_I[r] and M_J[r] are the rows and the columns of M that
# node r holds, I[r] and J[r] their numbers.
def dsanls(M_I, M_J, U, V, I, J, T, d, d_, random_matrix, update):
    N, m, n = len(I), M_J[0].shape[0], M_I[0].shape[1]
    for t in range(T):                                                         # 3:
        S = random_matrix(n, d, t, "S")                                        # 4:
        A = [M_I[r] @ S for r in range(N)]                                     # 5:
        B_r = [V[r].T @ S[J[r]] for r in range(N)]                             # 6:
        B = sum(B_r)                                                           # 7: All-Reduce
        U = [update(A[r], B, U[r], t) for r in range(N)]                       # 8:
        S_ = random_matrix(m, d_, t, "S'")                                     # 10:
        A_ = [M_J[r].T @ S_ for r in range(N)]                                 # 11:
        B_r = [U[r].T @ S_[I[r]] for r in range(N)]                            # 12: prints Uᵗ; Algorithm 1, line 4, has Uᵗ⁺¹
        B_ = sum(B_r)                                                          # 13: All-Reduce
        V = [update(A_[r], B_, V[r], t) for r in range(N)]                     # 14:
        yield U, V


PAGE = Page(
    solver="dsanls",
    where="cluster",
    title="DSANLS: distributed sketched alternating nonnegative least squares",
    reference="Y. Qian, C. Tan, D. Ding, H. Li and N. Mamoulis, *Fast and secure distributed nonnegative matrix factorization* (DSANLS), "
    "IEEE TKDE; Algorithm 2.",
    printed=(dsanls, proximal_coordinate_descent, projected_gradient_descent),
    ours=(Dsanls, Sanls),
    table=(
        ("M_{I_r:}, M_{:J_r}", "X[I_r, :], X[:, J_r]: every entry is held twice in all", "`Shard.rows`, `Shard.columns` of rank r"),
        ("U_{I_r:}, V_{J_r:}", "W[I_r], H[:, J_r]ᵀ", "rank r"),
        ("S, S'", "from (seed, iteration) by a generator with a counter; a rank draws the rows it needs", "every rank, never sent"),
        ("lines 7, 13", "`comm.sum`: k d and k d' numbers", "**sent**"),
        ("μ_t, η_t, (22)", "as for [SANLS](sanls.md)", "`Damping`, `BoxHals`"),
    ),
    cost="A rank: sketches of its rows and of its columns, 2 (n d + m d') k / P flops for the pairs, 2 (n + m) k² / P for the sweeps. Two "
    "all-reduces, of k d and k d' numbers; a side that is not sketched (d = m) is gathered, which is half the bytes. To measure the loss "
    "the shorter factor is gathered, every tenth iteration or so seldom that it adds half to the bytes at most.",
    good_for="Networks so slow, and X so large on both sides, that messages are nearly all of the time. Elsewhere exact methods are there "
    "sooner: [the model](../choosing.md) says from where on, and `auto` and `partwise plan --ranks` ask it.",
    differences=(
        "Nobody broadcasts a seed (line 2): it is the run's, known to every rank.",
        "Subsampling is scaled by √(n/d), and μ_t is relative to the gram (see [SANLS](sanls.md)).",
        "Convergence is empirical: [theory](../theory.md).",
    ),
)

CUT = layout("both", (23, 17), 3, row_cuts=(0, 9, 15, 23), column_cuts=(0, 4, 12, 17))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("inner", ["pcd", "pgd"])
def test_dsanls(kind, inner):
    X, W, H = start()
    alpha, beta = (0.5, 0.25) if inner == "pcd" else (80.0, 5.0)
    I, J = ([part(r) for r in range(3)] for part in (CUT.part_W, CUT.part_H))

    def update(A, B, U, t):
        mu = alpha + beta * t
        return proximal_coordinate_descent(A, B, U, mu) if inner == "pcd" else projected_gradient_descent(A, B, U, 1 / mu)

    theirs = dsanls(
        [X[i] for i in I], [X[:, j] for j in J], [W[i] for i in I], [H[:, j].T for j in J], I, J, ITERATIONS,
        round(0.5 * 17), round(0.5 * 23), random_matrix(kind, 3), update,
    )  # fmt: skip
    options = {"sketch": kind, "sketch_size": 0.5, "inner": inner, "damping": (alpha, beta), "relative_damping": False}
    for t, (U, V) in enumerate(theirs, start=1):
        if t not in (1, 2, 3, ITERATIONS):
            continue
        mine = run("dsanls", X, 3, t, options=options, start=(np.ascontiguousarray(W.T), H), cut=CUT, seed=3)
        np.testing.assert_allclose(mine.Wt.T, np.concatenate(U), rtol=1e-7, atol=1e-10, err_msg=f"U, iteration {t}")
        np.testing.assert_allclose(mine.H.T, np.concatenate(V), rtol=1e-7, atol=1e-10, err_msg=f"V, iteration {t}")
    assert mine.H.shape == (K, 17)
