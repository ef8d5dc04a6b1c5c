"""FedMAvg (Wang, Suwandi & Chang), Algorithm 1."""

import numpy as np

from partwise.algorithms.federated.fedmavg import FedMAvg, stepped
from partwise.algorithms.federated.study import Study
from partwise.currency import Reply
from partwise.data import as_matrix
from printed.page import ITERATIONS, K, Page

Q_1, Q_HAT, GAMMA_1, GAMMA_2 = 3, 8, 1.5, 1.2


# Algorithm 1 for F_p = ‖X_p − W H_p‖² / N_p. `choose(s)` stands for the server's sampling of 𝒜ˢ.
def fedmavg(X, W, H, S, Q_1, Q_hat, gamma_1, gamma_2, choose, project):
    P = len(X)
    A = list(range(P))                                                        # 𝒜⁰
    W_p = [W for _ in range(P)]
    for s in range(1, S + 1):
        W = project(sum(W_p[p] for p in A) / len(A))
        A = choose(s)
        for p in range(P):
            N = X[p].shape[1]
            W_p[p] = W
            c = 0.5 * gamma_1 * 2 * np.linalg.norm(W.T @ W, 2) / N            # ½ γ₁ L_{H_p}
            for _ in range(Q_1):
                gradient = 2 * W.T @ (W @ H[p] - X[p]) / N
                H[p] = project(H[p] - gradient / c)
            d = gamma_2 * 2 * np.linalg.norm(H[p] @ H[p].T, 2) / N            # γ₂ L_W
            for _ in range(Q_hat // s + 1):                                   # Q₂ˢ = ⌊Q̂/s⌋ + 1
                gradient = 2 * (W_p[p] @ H[p] - X[p]) @ H[p].T / N
                W_p[p] = W_p[p] - gradient / d
        yield list(H), list(W_p), A


def orthant(F):
    return np.maximum(F, 0)


PAGE = Page(
    solver="fedmavg",
    where="parties",
    title="FedMAvg: model averaging with fewer and fewer local steps",
    reference="S. Wang, R. C. Suwandi and T.-H. Chang, *Demystifying Model Averaging for Communication-Efficient Federated Matrix "
    "Factorization*, ICASSP 2021; Algorithm 1.",
    printed=(fedmavg,),
    ours=(FedMAvg, stepped),
    table=(
        ("X_p (M, N_p)", "X_pᵀ, X_p (n_p, m)", "party, never sent"),
        ("H_p", "W_pᵀ", "party, never sent"),
        ("W, W_p", "Hᵀ, H_pᵀ", "server; party, sent if drawn"),
        ("Q₁, Q̂", "`w_steps`, `h_steps`", "party"),
        ("γ₁, γ₂", "`w_margin`, `h_margin`", "party"),
        ("m, 𝒜ˢ, ω_p", "`participation`, `FedMAvg.drawn`, shares of the published sizes", "anyone, from the seed"),
        ("P_𝒲, P_ℋ", "`project_H`, `project_W`: orthant, simplex or ball", "server; party"),
    ),
    cost="A party: two products with X_p, then steps of O(k² (n_p + m)). Down: k m numbers to all; up: k m numbers from those drawn.",
    good_for="Many parties of which few can be heard at a time, and slow lines: local steps cost no product with the data.",
    differences=(
        "Everyone heard once is the default (`participation=None`), with weights by size; the paper draws m parties with replacement.",
        "Theorem 1 wants γ₂ ≥ Q₂¹ √(2 (7 + 4 L̄²/L̲²)), which is very careful; the default is 1.",
        "Whoever is drawn but vanishes is left out of the mean.",
    ),
)


def test_fedmavg():
    rng = np.random.default_rng(3)
    W, parts = rng.random((17, K)), rng.gamma(0.7, 1, (17, K))
    sizes = (9, 12, 7)
    X = [parts @ rng.gamma(0.7, 1, (K, n)) + 0.1 * rng.random((17, n)) for n in sizes]
    H = [rng.random((K, n)) for n in sizes]
    ours = FedMAvg(Study(K, 17, 3, ITERATIONS, sizes=sizes), Q_1, Q_HAT, 2, GAMMA_1, GAMMA_2)
    private = [{"Wt": h} for h in H]
    public = {"H": np.ascontiguousarray(W.T)}

    def choose(s):
        return np.repeat(np.arange(3), ours.drawn(s)).tolist()

    printed = fedmavg(X, W, list(H), ITERATIONS, Q_1, Q_HAT, GAMMA_1, GAMMA_2, choose, orthant)
    for t, (theirs_H, theirs_W, A) in enumerate(printed, start=1):
        replies = []
        for p, x in enumerate(X):
            private[p], goes = ours.party(as_matrix(x.T), private[p], public, t, p)
            np.testing.assert_allclose(private[p]["Wt"], theirs_H[p], rtol=1e-7, atol=1e-10, err_msg=f"party {p}, round {t}")
            assert (p in A) == ("H" in goes)
            if goes:
                np.testing.assert_allclose(goes["H"].T, theirs_W[p], rtol=1e-7, atol=1e-10, err_msg=f"party {p}, round {t}")
                replies.append(Reply((p,), goes))
        public = ours.server(public, replies, t)
