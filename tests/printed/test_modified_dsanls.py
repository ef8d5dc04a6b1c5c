"""Modified DSANLS (Qian, Tan, Ding, Li & Mamoulis, section 4.1), which the paper describes in words."""

import numpy as np

from partwise.algorithms.federated.dsanls import ModifiedDsanls
from partwise.algorithms.federated.sketching import Local
from partwise.algorithms.federated.study import Study
from partwise.algorithms.single.sanls import Damping
from partwise.currency import Reply
from partwise.data import as_matrix
from partwise.privacy.leakage import LeakLedger
from printed.page import ITERATIONS, K, Page
from printed.test_sanls import proximal_coordinate_descent
from printed.test_syn import SHAPE, damped, problem


# Section 4.1: Algorithm 2 where node r stores M_{:J_r} only, so that M S must be gathered: "the V-subproblem is exactly the same as in
# DSANLS; differently, we need to use MPI-AllReduce to gather M_{:J_r} S^t from all nodes before each iteration of the U-subproblem".
def modified_dsanls(M, U, V, T, S, S_, update):
    N = len(M)
    for t in range(1, T + 1):
        MS = sum(M[r] @ S(t, r) for r in range(N))
        VS = sum(V[r].T @ S(t, r) for r in range(N))
        U = update(MS, VS, U, t, "U")
        yield U, list(V)
        for r in range(N):
            V[r] = update((S_(t).T @ M[r]).T, U.T @ S_(t), V[r], t, "V")


PAGE = Page(
    solver="modified-dsanls",
    where="parties",
    title="Modified DSANLS: sketches of the data, behind the leak ledger",
    reference="Y. Qian, C. Tan, D. Ding, H. Li and N. Mamoulis, *Fast and secure distributed nonnegative matrix factorization* (DSANLS), "
    "IEEE TKDE; section 4.1.",
    printed=(modified_dsanls, proximal_coordinate_descent),
    ours=(ModifiedDsanls, LeakLedger),
    table=(
        ("M_{:J_r}, V_{J_r}", "X_pᵀ, W_p", "party, never sent"),
        ("M_{:J_r} S, V_{J_r}ᵀ S", "(S_pᵀ X_p)ᵀ, W_pᵀ S_p", "party, **sent**"),
        ("U", "Hᵀ", "server"),
        ("S, S'", "of samples, of features; from (seed, iteration)", "all"),
    ),
    cost="A party: two sketches of X_p. (m + k) d numbers up, m k down.",
    good_for="Showing why not. A party's data are known exactly after n_p / d rounds (Theorem 3; `tests/federated/test_leakage.py` does "
    "it), so all of it is refused unless an `allowance` is written down. Take `exact`, which needs no sketches and shows sums only.",
    differences=(
        "The sums are taken by the server, which sees each party's sketch; the ledger counts accordingly, against the party's own rows.",
        "Subsampling is refused: it shows entries of the data as they are. Theorem 2 is not relied on.",
        "μ_t is relative to the gram (see SANLS).",
    ),
)


def test_modified_dsanls():
    M, U, V = problem()
    m, sizes = SHAPE
    local = Local("gaussian", 0.6, Damping(0.3, 0.1), seed=4)
    ours = ModifiedDsanls(Study(K, m, 3, ITERATIONS, 4, sizes=sizes), local, 1.0)
    n, starts = sum(sizes), ours.starts

    def S(t, r):
        return local.samples(n, K, t).apply(np.eye(n))[starts[r] : starts[r + 1]]

    def S_(t):
        return local.features(m, K, t).apply(np.eye(m))

    printed = modified_dsanls(M, U, list(V), ITERATIONS, S, S_, damped(local, "UV"))
    private = [{"Wt": np.ascontiguousarray(v.T)} for v in V]
    public = {"H": np.ascontiguousarray(U.T)}
    for t, (U_printed, V_printed) in enumerate(printed, start=1):
        replies = []
        for p in range(3):
            private[p], goes = ours.party(as_matrix(M[p].T), private[p], public, t, p)
            replies.append(Reply((p,), goes))
            np.testing.assert_allclose(private[p]["Wt"].T, V_printed[p], rtol=1e-7, atol=1e-10, err_msg=f"V, round {t}")
        public = ours.server(public, replies, t)
        np.testing.assert_allclose(public["H"].T, U_printed, rtol=1e-7, atol=1e-10, err_msg=f"U, round {t}")
