"""HPC-ANLS (MPI-FAUN), D-HALS and Maxios, as Gao & Chu describe them in their section 2."""

import numpy as np
import pytest

from partwise.algorithms.distributed.d_hals import DHals
from partwise.algorithms.distributed.hpc_anls import HpcAnls
from partwise.algorithms.distributed.maxios import Maxios
from partwise.updates import Hals
from printed.page import ITERATIONS, Page, assert_same, on_ranks, start
from printed.test_did import bpp


# A (m, n) ≈ W H on p_r × p_c processors: p_ij holds A_ij, (W_i)_j and (H_j)_i. What all do at once is done for all in turn.
def mpi_faun(A, W, H, pr, pc, update):
    rows, columns = np.array_split(range(len(A)), pr), np.array_split(range(A.shape[1]), pc)
    W = [[part.copy() for part in np.array_split(W[i], pc)] for i in rows]                     # W[i][j] = (W_i)_j
    H = [[part.copy() for part in np.array_split(H[:, j], pr, axis=1)] for j in columns]       # H[j][i] = (H_j)_i
    grid = [(i, j) for i in range(pr) for j in range(pc)]
    while True:
        HHt = sum(H[j][i] @ H[j][i].T for i, j in grid)                       # all-reduce
        H_j = [np.concatenate(parts, axis=1) for parts in H]                  # all-gather across processor columns
        V = {(i, j): A[np.ix_(rows[i], columns[j])] @ H_j[j].T for i, j in grid}
        AHt = [sum(V[i, j] for j in range(pc)) for i in range(pr)]            # reduce-scatter across processor rows
        for i, j in grid:
            W[i][j] = update(W[i][j], HHt, np.array_split(AHt[i], pc)[j])
        WtW = sum(W[i][j].T @ W[i][j] for i, j in grid)                       # all-reduce
        W_i = [np.concatenate(parts) for parts in W]                          # all-gather across processor rows
        Y = {(i, j): W_i[i].T @ A[np.ix_(rows[i], columns[j])] for i, j in grid}
        WtA = [sum(Y[i, j] for i in range(pr)) for j in range(pc)]            # reduce-scatter across processor columns
        for i, j in grid:
            H[j][i] = update(H[j][i].T, WtW, np.array_split(WtA[j].T, pr)[i]).T
        yield np.concatenate([part for parts in W for part in parts]), np.concatenate([p for parts in H for p in parts], axis=1)


# The three updates of rows F with F G ≈ R, in the same terms.
def anls(F, G, R):
    return bpp(G, R)


def hals(F, G, R):
    F = F.copy()
    for k in range(len(G)):
        F[:, k] = np.maximum(0, F[:, k] + (R[:, k] - F @ G[:, k]) / G[k, k])
    return F


def mu(F, G, R):
    return F * R / (F @ G)


# "They also divide the data matrix X into 2D-grid blocks … only requires two communication steps … B and C can be loaded into the shared
# memory of a single node."
def d_hals(X, B, C, pr, pc):
    blocks = [(i, j) for i in np.array_split(range(len(X)), pr) for j in np.array_split(range(X.shape[1]), pc)]
    while True:
        XCt = np.zeros_like(B)
        for i, j in blocks:
            XCt[i] += X[np.ix_(i, j)] @ C[:, j].T                             # the first communication
        B = hals(B, C @ C.T, XCt)                                             # (4a) for all k
        XtB = np.zeros_like(C.T)
        for i, j in blocks:
            XtB[j] += X[np.ix_(i, j)].T @ B[i]                                # the second
        C = hals(C.T, B.T @ B, XtB).T                                         # (4b) for all k
        yield B, C


# (7): "minimizing … with respect to W, H, B, C, Φ, and Ψ one at a time"
def admm(X, B, C, rho):
    H, Phi, Psi, I = C, np.zeros_like(B), np.zeros_like(C), np.eye(len(C))
    while True:
        W = (X @ H.T + Phi + rho * B) @ np.linalg.inv(H @ H.T + rho * I)      # (7a)
        H = np.linalg.inv(W.T @ W + rho * I) @ (W.T @ X + Psi + rho * C)      # (7b)
        B = np.maximum(0, W - Phi / rho)                                      # (7c)
        C = np.maximum(0, H - Psi / rho)                                      # (7d)
        Phi = Phi + rho * (B - W)                                             # (7e)
        Psi = Psi + rho * (C - H)                                             # (7f)
        yield B, C


HPC_PAGE = Page(
    solver="hpc-anls",
    where="cluster",
    title="HPC-ANLS (MPI-FAUN): blocks on a grid, with BPP, HALS or MU",
    reference="R. Kannan, G. Ballard and H. Park, *A high-performance parallel algorithm for nonnegative matrix factorization*, "
    "PPoPP 2016, "
    "and *MPI-FAUN*, IEEE TKDE 2018. Names: `hpc-anls-bpp`, `hpc-anls-hals`, `hpc-anls-mu`.",
    printed=(mpi_faun, anls, bpp, hals, mu),
    ours=(HpcAnls,),
    table=(
        ("A_ij", "X_ij (n_i, m_j)", "rank (i, j)"),
        ("(W_i)_j, (H_j)_i", "its rows of W, its columns of H: about n/P and m/P", "rank (i, j)"),
        ("H_j, W_i", "k m_j and k n_i numbers", "**gathered** for a product, then let go"),
        ("AHᵀ, WᵀA", "cross of own rows, of own columns", "**reduce-scattered**: k n_i and k m_j numbers"),
        ("HHᵀ, WᵀW", "gram, in float64", "**sent**: k² numbers each; the error's ⟨cross, H⟩ with the second"),
    ),
    cost="A rank: two products with X_ij, and the update of n/P rows and m/P columns. Two all-gathers, two reduce-scatters, two "
    "all-reduces: "
    "2 k (n/pr + m/pc) + 2 k² + 1 numbers, and two more for the KKT residual every fifth iteration. The grid with the fewest is chosen: "
    "P × 1 where X is tall, squarish where it is square.",
    good_for="X large on both sides: no rank holds more than its share of W and H. With MU or HALS as cheap as DID, with BPP exact "
    "at each step.",
    differences=(
        "Written from the published method and section 2.1 of the DID paper, so lines have no numbers.",
        "HHᵀ is summed at the end of an iteration, where the error needs it, and kept for the next.",
    ),
)
D_HALS_PAGE = Page(
    solver="d-hals",
    where="cluster",
    title="D-HALS: blocks of X, both factors on every rank",
    reference="R. Zdunek and K. Fonal, *Distributed nonnegative matrix factorization with HALS algorithm on MapReduce*, ICA3PP "
    "2017, as described "
    "by Gao and Chu (DID), section 2.2.",
    printed=(d_hals, hals),
    ours=(DHals, Hals),
    table=(
        ("X in 2D-grid blocks", "X_ij", "rank (i, j)"),
        ("B, C", "Hᵀ, Wᵀ (or the other way round)", "every rank"),
        ("two communication steps", "cross of W, cross of H", "**sent**: k n and k m numbers"),
    ),
    cost="A rank: two products with X_ij, and 2 (n + m) k² flops for sweeps that all ranks make alike. Two all-reduces, of k n and "
    "k m numbers.",
    good_for="Penalties on one factor only, which need whole components. Else DID or HPC-ANLS with HALS: the same iterates for less.",
    differences=("The original runs on MapReduce; ours sums over all ranks what each has for its rows, or columns.",),
)
MAXIOS_PAGE = Page(
    solver="maxios",
    where="cluster",
    title="Maxios: ADMM by components",
    reference="S. S. Du, Y. Liu, B. Chen and L. Li, *Maxios: large scale nonnegative matrix factorization for collaborative "
    "filtering*, NIPS 2014 "
    "workshop on distributed matrix computations, as described by Gao and Chu (DID), section 2.3.",
    printed=(admm,),
    ours=(Maxios,),
    table=(
        ("X", "X, whole", "every rank"),
        ("W, B, Φ; H, C, Ψ", "U, W, Φ; V, H, Ψ", "every rank; each serves k/P components, and all six are **gathered**"),
        ("ρ", "`rho`", "`Maxios`"),
    ),
    cost="A rank: two products of X with k/P components, inverses of k × k. Six all-gathers of 3 (n + m) k numbers; every fifth "
    "iteration half a "
    "product with X and one number for the loss.",
    good_for="Comparisons: every rank holds X and everything else, and the loss may rise. The penalty rules: on a small planted "
    "problem ρ = 30 was "
    "within 0.1 % of the best error after 40 iterations, ρ = 1 and ρ = 300 after 330 or more.",
    differences=("Six gathers where Gao and Chu count eight messages: the products that they may mean need none, as X is everywhere.",),
)


@pytest.mark.parametrize("update", [anls, hals, mu], ids=["bpp", "hals", "mu"])
def test_mpi_faun(update):
    X, W, H = start()
    pr, pc = 2, 3
    name = {anls: "hpc-anls-bpp", hals: "hpc-anls-hals", mu: "hpc-anls-mu"}[update]
    theirs = (pair for pair, _ in zip(mpi_faun(X, W, H, pr, pc, update), range(ITERATIONS), strict=False))
    assert_same(on_ranks(name, X, W, H, ranks=6, grid=(pr, pc)), theirs, rtol=1e-6)


def test_d_hals():
    X, W, H = start()
    theirs = (pair for pair, _ in zip(d_hals(X, W, H, 2, 2), range(ITERATIONS), strict=False))
    assert_same(on_ranks("d-hals", X, W, H, ranks=4, grid=(2, 2)), theirs)


def test_maxios():
    X, W, H = start()
    theirs = (pair for pair, _ in zip(admm(X, W, H, 1.0), range(ITERATIONS), strict=False))
    assert_same(on_ranks("maxios", X, W, H, ranks=3), theirs, rtol=1e-6)
