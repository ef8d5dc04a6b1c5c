"""DID, DBCD and DADMM (Gao & Chu 2018): Algorithms 3, 2 and 1. The residual, Y and U are formed here, as printed."""

import numpy as np
from scipy.optimize import nnls

from partwise.algorithms.distributed.dadmm import Dadmm, Target
from partwise.algorithms.distributed.dbcd import Dbcd
from partwise.algorithms.distributed.did import Did
from partwise.algorithms.distributed.spread import Spread
from partwise.algorithms.single.alternating import Alternating
from partwise.data import layout
from partwise.updates import Hals
from printed.page import ITERATIONS, Page, assert_same, on_ranks, start


# Columns of X (M, N) are samples: X ≈ B C. X and C are lists: the columns x_j, c_j that each computational node holds.
def update_C(X, B, C):
    for X_p, C_p in zip(X, C, strict=True):
        for j in range(X_p.shape[1]):
            e_j = X_p[:, j] - B @ C_p[:, j]
            for i in range(B.shape[1]):
                e_j = e_j + B[:, i] * C_p[i, j]                                # (17a)
                C_p[i, j] = max(0, B[:, i] @ e_j / (B[:, i] @ B[:, i]))        # (17b)
                e_j = e_j - B[:, i] * C_p[i, j]                                # (17c)


# Algorithm 3
def did(X, B, C):
    B, C, K = B.copy(), [C_p.copy() for C_p in C], B.shape[1]
    while True:
        update_C(X, B, C)                                                      # // Update C
        W, V = np.zeros_like(B), np.zeros((K, K))
        for X_p, C_p in zip(X, C, strict=True):
            for j in range(X_p.shape[1]):
                e_j, c_j = X_p[:, j] - B @ C_p[:, j], C_p[:, j]
                W += np.outer(e_j, c_j)                                        # (28)
                V += np.tril(np.outer(c_j, c_j))                               # (29)
        delta = np.zeros_like(B)                                               # (W, V) := Allreduce(W_j, V_j)
        for i in range(K):                                                     # // Update B
            w = W[:, i] / V[i, i] - sum((V[i, k] / V[i, i] * delta[:, k] for k in range(i)), np.zeros(len(B)))
            b = np.maximum(0, B[:, i] + w)                                     # (30)
            delta[:, i], B[:, i] = b - B[:, i], b                              # (24)
        yield B.copy(), np.concatenate(C, axis=1)


# Algorithm 2
def dbcd(X, B, C):
    B, C = B.copy(), [C_p.copy() for C_p in C]
    while True:
        update_C(X, B, C)                                                      # // Update C
        E = [X_p - B @ C_p for X_p, C_p in zip(X, C, strict=True)]
        for i in range(B.shape[1]):                                            # // Update B
            E = [E_p + np.outer(B[:, i], C_p[i]) for E_p, C_p in zip(E, C, strict=True)]
            y_p = [E_p @ C_p[i] for E_p, C_p in zip(E, C, strict=True)]        # (20a)
            z_p = [C_p[i] @ C_p[i] for C_p in C]                               # (20b)
            y, z = sum(y_p), sum(z_p)                                          # (y, z) = Allreduce(y_j, z_j)
            B[:, i] = np.maximum(0, y / z)                                     # (21)
            E = [E_p - np.outer(B[:, i], C_p[i]) for E_p, C_p in zip(E, C, strict=True)]
        yield B.copy(), np.concatenate(C, axis=1)


# Algorithm 1, ρ = 1. The paper does not say how Y_i and U_i begin: here with Y_i = B C_i, which (9b) asks for, and U_i = 0.
def dadmm(X, B, C, rho=1.0):
    U, Y = [np.zeros_like(X_i) for X_i in X], [B @ C_i for C_i in C]
    nodes = range(len(X))
    while True:
        U = [U[i] + (Y[i] - B @ C[i]) for i in nodes]                          # 1
        Y = [(X[i] - rho * U[i] + rho * B @ C[i]) / (1 + rho) for i in nodes]  # 2
        C = [least_squares(B, U[i] + Y[i]) for i in nodes]                     # 3
        W = sum(C[i] @ C[i].T for i in nodes)                                  # 4
        H = sum((U[i] + Y[i]) @ C[i].T for i in nodes)
        B = bpp(W, H)                                                          # 5
        yield B, np.concatenate(C, axis=1)


# argmin_{C ≥ 0} ‖V − B C‖, by another solver than ours
def least_squares(B, V):
    return np.array([nnls(B, v)[0] for v in V.T]).T


# argmin_{B ≥ 0} of the normal equations B W = H
def bpp(W, H):
    L = np.linalg.cholesky(W)
    return np.array([nnls(L.T, np.linalg.solve(L, h))[0] for h in H])


GAO_CHU = (
    "T. Gao and C. Chu, *DID: distributed incremental block coordinate descent for nonnegative matrix factorization*, AAAI 2018; "
)
DID_PAGE = Page(
    solver="did",
    where="cluster",
    title="DID: distributed incremental block coordinate descent",
    reference=GAO_CHU + "Algorithm 3.",
    printed=(update_C, did),
    ours=(Did, Spread.together, Alternating.step, Hals),
    table=(
        ("X_i (M, N_i), columns of a node", "X_p (n_p, m), rows of a rank", "rank p"),
        ("C_i; B", "W_pᵀ; Hᵀ", "rank p; every rank, the same bits"),
        ("W = Σ e_j c_jᵀ (28)", "Σ X_pᵀW_p; E Cᵀ = cross − Hᵀ gram follows from it", "**sent**: m k numbers"),
        ("V = Σ c_j c_jᵀ, lower triangle (29)", "gram = Σ W_pᵀW_p", "**sent**: k² numbers, in the same message"),
        ("δb_i, and (30)", "the slope of h_i with the h_l that have moved", "`Hals`"),
        ("‖E‖² for (31)", "‖X‖² − 2⟨cross, H⟩ + ⟨gram, HHᵀ⟩: known everywhere", "`Spread.sq_error`"),
    ),
    cost="A rank: two products with X_p (4 n_p m k flops), 2 (n_p + m) k² for the sweeps. One all-reduce of (m + k) k numbers; every fifth "
    "iteration one number more, for the KKT residual.",
    good_for="The default where rows are many and columns few enough that every rank can hold H. One message an iteration.",
    differences=(
        "No residual is formed: sparse data stay sparse.",
        "`acceleration` (more sweeps on a pair) and `extrapolate` (Ang and Gillis) can be had, as nothing more must be sent for them. "
        "Without them, the paper's iterates.",
        "V is sent whole: half of k² more numbers, beside m k.",
        "An X with more columns than rows is cut by columns, and turned: then n k numbers are sent instead of m k, and H moves first.",
    ),
)
DBCD_PAGE = Page(
    solver="dbcd",
    where="cluster",
    title="DBCD: distributed block coordinate descent",
    reference=GAO_CHU + "Algorithm 2.",
    printed=(update_C, dbcd),
    ours=(Dbcd,),
    table=(
        ("C_i; B", "W_pᵀ; Hᵀ", "rank p; every rank"),
        ("e_j, kept up to date", "X_pᵀW_p, W_pᵀW_p, from which y_p follows for any H", "rank p"),
        ("y, z", "y, z", "**sent**: m + 1 numbers for each component"),
        ("‖E‖²", "told in the first message for (new W, old H); y and z say what each h_i takes off", "`Seen`"),
    ),
    cost="As DID, but k all-reduces of m + 1 numbers, one after another; the first brings one number more for the error, and every fifth "
    "iteration one for the KKT residual.",
    good_for="Nothing that DID doesn't do with k times fewer messages: it is here to be compared with.",
    differences=("No residual is formed or kept.",),
)
DADMM_PAGE = Page(
    solver="dadmm",
    where="cluster",
    title="DADMM: distributed ADMM",
    reference=GAO_CHU + "Algorithm 1.",
    printed=(dadmm, least_squares, bpp),
    ours=(Dadmm, Target),
    table=(
        ("Y_i, U_i, each as large as X_i", "V = U + BC = (1 − 2⁻ᵗ) X + 2⁻ᵗ W₀H₀, known by its pairs", "`Target`; the start, on each "
        "rank its rows"),
        ("(W, H) of line 4", "gram, cross and, while 2⁻ᵗ counts, WᵀW₀", "**sent**: (m + 2k) k numbers, (m + k) k after 64 iterations"),
        ("C_i; B", "W_pᵀ; Hᵀ", "rank p; every rank"),
        ("BPP", "BPP", "`Bpp`"),
    ),
    cost="As HPC-ANLS with BPP: two products with X_p and two exact solutions. One all-reduce.",
    good_for="Comparisons. It is alternating least squares whose target goes from the start's model to X by halves: the loss may rise at "
    "first, and soon the iterations are those of HPC-ANLS with BPP.",
    differences=(
        "U and Y are never formed. For ρ = 1 line 1 and 2 give V ← (V + X) / 2 for V = U + BC, whatever B and C do; line 3 and 4 "
        "see no more "
        "than V. So ρ is not an option: with another one all models so far stay in V.",
        "The paper leaves open how Y begins. With Y = X the method would be ANLS from the first iteration on.",
    ),
)

CUT = layout("rows", (23, 17), 3, row_cuts=(0, 9, 15, 23))


def turned(printed, X, W, H):
    """The transcription on the columns of our ranks, turned to our orientation."""
    columns = [CUT.part_W(rank) for rank in range(3)]
    run = printed([X[rows].T for rows in columns], H.T, [W[rows].T for rows in columns])
    return [(C.T, B.T) for (B, C), _ in zip(run, range(ITERATIONS), strict=False)]


def test_did():
    X, W, H = start()
    assert_same(on_ranks("did", X, W, H, cut=CUT), turned(did, X, W, H))


def test_dbcd():
    X, W, H = start()
    assert_same(on_ranks("dbcd", X, W, H, cut=CUT), turned(dbcd, X, W, H))


def test_dadmm():
    X, W, H = start()
    assert_same(on_ranks("dadmm", X, W, H, cut=CUT), turned(dadmm, X, W, H), rtol=1e-6)
