"""FNMF (Dalleiger & Gionis): Algorithms 1 and 2, and the operator of equation (3)."""

from itertools import permutations

import numpy as np

from partwise.algorithms.federated.fnmf import Fnmf
from partwise.algorithms.federated.local import LOCAL_SOLVERS, Local
from partwise.algorithms.federated.study import Study
from partwise.consensus.align import Lap
from partwise.consensus.barycenters import FixedPoint
from partwise.consensus.barycenters.merged import mean_of
from partwise.consensus.plans import pulled
from partwise.currency import Reply
from partwise.data import as_matrix
from printed.page import ITERATIONS, K, Page

GAMMA, T = 0.3, 3


def arg_D_p(X, Y):  # (2) with D₁: the permutation P that minimises ½‖X − PY‖²
    plans = [np.eye(len(X))[list(order)] for order in permutations(range(len(X)))]
    return min(plans, key=lambda P: np.sum((X - P @ Y) ** 2))


# Algorithm 1
def barycenter(V, T):
    V_bar = sum(V) / len(V)
    P = [np.eye(len(V_bar)) for _ in V]
    for _ in range(T):
        P = [arg_D_p(V_bar, V_j) for V_j in V]
        V_bar = sum(P_j @ V_j for P_j, V_j in zip(P, V, strict=True)) / len(P)
    return V_bar


def prox(V, V_bar, gamma):  # below (3): P̂ ← arg D_p(V_j, V̄), then the weighted average
    P_hat = arg_D_p(V, V_bar)
    return (gamma * P_hat @ V_bar + V) / (1 + gamma)


# Algorithm 2
def client(X, U, V, V_bar, T, gamma):
    for _ in range(T):
        eta_U = 1 / np.linalg.norm(V @ V.T, 2)  # prints ‖U U^T‖: the Lipschitz constant of the other gradient
        U = np.maximum(U - eta_U * (U @ V @ V.T - X @ V.T), 0)
        eta_V = 1 / np.linalg.norm(U.T @ U, 2)
        V = np.maximum(V - eta_V * (U.T @ U @ V - U.T @ X), 0)
        V = prox(V, V_bar, gamma)
    return U, V


def fnmf(X, U, V, rounds, T, gamma):
    V_bar = sum(V) / len(X)
    for _ in range(rounds):
        for j in range(len(X)):
            U[j], V[j] = client(X[j], U[j], V[j], V_bar, T, gamma)
        sent = list(V)
        V_bar = barycenter(V, T=20)
        V = [V_bar for _ in V]
        yield sent, V_bar


PAGE = Page(
    solver="fnmf",
    where="parties",
    title="FNMF: coherence by alignment and barycenters",
    reference="S. Dalleiger and A. Gionis, *Creating Coherence in Federated Non-Negative Matrix Factorization*, AAAI 2025; "
    "Algorithms 1 and 2.",
    printed=(arg_D_p, barycenter, prox, client, fnmf),
    ours=(Fnmf, Local, pulled, FixedPoint, mean_of),
    table=(
        ("X_j (n_j, m), U_j", "X_p, W_p", "party, never sent"),
        ("V_j", "H_p", "party, sent"),
        ("V̄", "H", "server, sent"),
        ("D₁; D₂; D₃", '`alignment="lap"`; `"lap-rho"`; `"sinkhorn"`; beside them `"sinkhorn-rho"` and `"knn"`', "`consensus.align`"),
        ("γ", "`proximity`", "party"),
        ("B_p, Algorithm 1", '`barycenter="fixed-point"`; beside it `"tree"`, `"greedy"`, `"kmeans"`, `"cmeans"`', "server"),
        ("T", "`local_steps`", "party"),
    ),
    cost="A party: `local_steps` iterations of iPALM, each with an alignment, O(k³ + k² m). The server: about three passes over the "
    "k m numbers of every party. Up and down: k m numbers a party.",
    good_for="Parties that start apart, or whose components have come into another order: alignment repairs what averaging would spoil.",
    differences=(
        "The barycenter starts from several parties and from the H before, beside the plain mean; the lowest objective is kept.",
        "A party keeps its own order of components: H_p ← P̂H where Algorithm 2 has V_j ← V̄, which would leave U_j with components in "
        "another order (`own_order=False` does as printed).",
        "Components that an alignment leaves out keep their value; the formula would shrink them by 1/(1+γ).",
        "Weights by size, where sizes are published; a common start unless `own_starts=True`; inertia in the local steps, as in iPALM.",
    ),
)


def test_fnmf():
    rng = np.random.default_rng(3)
    parts = rng.gamma(0.7, 1, (K, 17))
    X = [rng.gamma(0.7, 1, (n, K)) @ parts + 0.1 * rng.random((n, 17)) for n in (9, 12, 7)]
    U, V = [rng.random((len(x), K)) for x in X], [rng.random((K, 17)) for _ in X]
    step = LOCAL_SOLVERS["pgd"]
    ours = Fnmf(Study(K, 17, 3, ITERATIONS), Local(step, step, T), Lap(), FixedPoint(starts=0), GAMMA, True, False)
    private = [{"Wt": np.ascontiguousarray(u.T), "H": v} for u, v in zip(U, V, strict=True)]
    public = {"H": sum(V) / 3}
    for t, (sent, V_bar) in enumerate(fnmf(X, U, V, ITERATIONS, T, GAMMA), start=1):
        replies = []
        for p, x in enumerate(X):
            private[p], goes = ours.party(as_matrix(x), private[p], public, t, p)
            np.testing.assert_allclose(goes["H"], sent[p], rtol=1e-7, atol=1e-10, err_msg=f"party {p}, round {t}")
            replies.append(Reply((p,), goes))
        public = {"H": ours.barycenter([reply.arrays["H"] for reply in replies]).H}
        np.testing.assert_allclose(public["H"], V_bar, rtol=1e-7, atol=1e-10, err_msg=f"server, round {t}")
