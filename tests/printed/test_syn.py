"""Syn-SD and Syn-SSD (Qian, Tan, Ding, Li & Mamoulis), Algorithms 4 and 5, with our S."""

import numpy as np
import pytest

from partwise.algorithms.federated.sketching import Local
from partwise.algorithms.federated.study import Study
from partwise.algorithms.federated.syn import SynSD, SynSSD
from partwise.algorithms.single.sanls import Damping
from partwise.currency import Reply
from partwise.data import as_matrix
from printed.page import ITERATIONS, K, Page
from printed.test_sanls import proximal_coordinate_descent

T_2 = 3


# Algorithm 4 for all nodes at once: M[r] is M_{:J_r}. Yields after every round t_1.
def syn_sd(M, U, V, T_1, T_2, update):
    N = len(M)
    for t_1 in range(T_1):                                                        # 2:
        for t_2 in range(1, T_2 + 1):                                             # 3:
            for r in range(N):
                t = t_1 * T_2 + t_2                                               # 4:
                U[r] = update(M[r], V[r].T, U[r], t, "U")                         # 5:
                V[r] = update(M[r].T, U[r].T, V[r], t, "V")                       # 6:
        mean = sum(U) / N
        U = [mean for _ in range(N)]                                              # 7:
        yield U[0], list(V)


# Algorithm 5. `S_1(t, r)` (columns of M[r] to d_1), `S_2(t)` (d_2, rows of M).
def syn_ssd(M, U, V, T_1, T_2, S_1, S_2, update):
    N = len(M)
    for t_1 in range(T_1):                                                        # 2:
        for t_2 in range(1, T_2 + 1):                                             # 3:
            t = t_1 * T_2 + t_2                                                   # 4:
            for r in range(N):
                S1 = S_1(t, r)                                                    # 5:
                U[r] = update(M[r] @ S1, V[r].T @ S1, U[r], t, "U")               # 6:
            S2 = S_2(t)                                                           # 7:
            SU = sum(S2 @ U[j] for j in range(N)) / N                             # 8:
            for r in range(N):
                V[r] = update((S2 @ M[r]).T, SU.T, V[r], t, "V")                  # 9:
        mean = sum(U) / N
        U = [mean for _ in range(N)]                                              # 10:
        yield U[0], list(V)


PAGE = Page(
    solver="syn-sd",
    where="parties",
    title="Syn-SD and Syn-SSD-U, -V, -UV: local iterations, then a mean",
    reference="Y. Qian, C. Tan, D. Ding, H. Li and N. Mamoulis, *Fast and secure distributed nonnegative matrix factorization* (DSANLS), "
    "IEEE TKDE; Algorithms 4 and 5.",
    printed=(syn_sd, syn_ssd, proximal_coordinate_descent),
    ours=(SynSD, SynSSD, Local),
    table=(
        ("M_{:J_r}", "X_pᵀ, X_p (n_p, m)", "party, never sent"),
        ("V_{J_r}", "W_p", "party, never sent"),
        ("U_(r)", "H_pᵀ", "party; sent at the end of a round"),
        ("S_2 U_(r)", "(H_p S₂)ᵀ", "party; sent in each inner iteration (-U, -UV)"),
        ("T_1, T_2", "`rounds`, `local_steps`", "all"),
        ("S_1, S_2", "from (seed, iteration), never sent", "party; all"),
        ("All-Reduce / N", "server: mean of the replies, under a secure sum if wished", "server"),
    ),
    cost="A party: `local_steps` times two products with X_p, or with a sketch of it. Syn-SD and -V: m k numbers up and down a round. "
    "-U and -UV: in addition (`local_steps` − 1) d k.",
    good_for="Comparing with the paper, and parties that resemble each other. Where they differ, averages of H drift; `exact` does not.",
    differences=(
        "Line 8's last mean of a round follows from line 10's, H̄ S₂ = mean(H_p S₂), so one message serves both; and line 9 is made when "
        "the next message has come.",
        "W_p starts as the exact solution for the common start, not at random.",
        "μ_t is relative to the gram (see SANLS), and used where there are sketches; on whole data the update is undamped.",
        "In a round 0 the parties say ‖X_p‖², whose sum bounds all that is said later: a secure sum has to make room for it.",
        "In the end every W_p is solved exactly for the last H.",
    ),
)

SHAPE = (17, (9, 12, 7))


def problem():
    """M[r] (m, n_r), U (m, K) for all, V[r] (n_r, K)."""
    rng = np.random.default_rng(5)
    m, sizes = SHAPE
    parts = rng.gamma(0.7, 1, (m, K))
    M = [parts @ rng.gamma(0.7, 1, (K, n)) + 0.1 * rng.random((m, n)) for n in sizes]
    return M, rng.uniform(0.1, 1, (m, K)), [rng.uniform(0.1, 1, (n, K)) for n in sizes]


def run_ours(method, M, U, V, rounds):
    """(Hᵀ, [H_pᵀ], [W_p]) after each round. Of Syn-SSD, W_p lag by one update; it is made up for here."""
    private = [{"Wt": np.ascontiguousarray(v.T)} for v in V]
    public, X = {"H": np.ascontiguousarray(U.T)}, [as_matrix(m.T) for m in M]
    for t in range(1, rounds * method.exchanges + 1):
        replies = []
        for p, x in enumerate(X):
            private[p], goes = method.party(x, private[p], method.down(public, t, p), t, p)
            replies.append(Reply((p,), goes))
        public = method.server(public, replies, t)
        if t % method.exchanges == 0:
            W = [part["Wt"] for part in private]
            if isinstance(method, SynSSD):
                HS = method._features(t).apply(public["H"])
                W = [method.local.move_W_sketched(x, HS, w, t) for x, w in zip(X, W, strict=True)]
            yield public["H"].T, [w.T for w in W]


def assert_rounds(mine, theirs):
    for t, ((U, V), (U_printed, V_printed)) in enumerate(zip(mine, theirs, strict=True), start=1):
        np.testing.assert_allclose(U, U_printed, rtol=1e-7, atol=1e-10, err_msg=f"U, round {t}")
        for v, v_printed in zip(V, V_printed, strict=True):
            np.testing.assert_allclose(v, v_printed, rtol=1e-7, atol=1e-10, err_msg=f"V, round {t}")


def damped(local, sketched):
    """The paper's update, with our damping where the factor is updated on sketches."""

    def update(A, B, U, t, which):
        mu = local.damping.weight(B @ B.T, t) if which in sketched else 0.0
        return proximal_coordinate_descent(A, B, U, mu)

    return update


@pytest.mark.parametrize("samples", [False, True])
@pytest.mark.parametrize("features", [False, True])
@pytest.mark.parametrize("kind", ["gaussian", "count"])
def test_syn(kind, features, samples):
    M, U, V = problem()
    m, sizes = SHAPE
    rounds = ITERATIONS // T_2 + 1
    local = Local(kind, 0.7, Damping(0.3, 0.1), seed=4)
    study = Study(K, m, len(M), rounds, 4)
    eye = lambda n: np.eye(n)  # noqa: E731
    S_1 = lambda t, r: local.samples(sizes[r], K, t).apply(eye(sizes[r])) if samples else eye(sizes[r])  # noqa: E731
    if features:
        ours = SynSSD(study, T_2, samples, local)
        S_2 = lambda t: local.features(m, K, t).apply(eye(m)).T  # noqa: E731
        printed = syn_ssd(M, [U] * 3, list(V), rounds, T_2, S_1, S_2, damped(local, "UV" if samples else "V"))
    elif samples:
        ours = SynSD(study, T_2, True, local)
        printed = syn_v(M, U, V, rounds, S_1, damped(local, "U"))
    else:
        ours = SynSD(study, T_2)
        printed = syn_sd(M, [U] * 3, list(V), rounds, T_2, damped(local, ""))
    assert_rounds(run_ours(ours, M, U, V, rounds), printed)


def syn_v(M, U, V, rounds, S_1, update):
    """Algorithm 4 with lines 5 and 6 of Algorithm 5, which is what the paper calls Syn-SSD-V."""
    U, V = [U] * len(M), list(V)
    for t_1 in range(rounds):
        for t_2 in range(1, T_2 + 1):
            t = t_1 * T_2 + t_2
            for r in range(len(M)):
                S1 = S_1(t, r)
                U[r] = update(M[r] @ S1, V[r].T @ S1, U[r], t, "U")
                V[r] = update(M[r].T, U[r].T, V[r], t, "V")
        U = [sum(U) / len(M)] * len(M)
        yield U[0], list(V)
