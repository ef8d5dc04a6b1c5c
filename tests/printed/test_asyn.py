"""Asyn-SD and Asyn-SSD (Qian, Tan, Ding, Li & Mamoulis), Algorithms 6 and 7, with our S."""

import numpy as np
import pytest

from partwise.algorithms.federated.asyn import Asyn
from partwise.algorithms.federated.sketching import Local
from partwise.algorithms.federated.study import Study
from partwise.algorithms.single.sanls import Damping
from partwise.currency import Reply
from partwise.data import as_matrix
from printed.page import ITERATIONS, K, Page
from printed.test_sanls import proximal_coordinate_descent
from printed.test_syn import SHAPE, damped, problem

T, RHO = 2, 5.0


# Algorithm 6, the clients' replies being taken in the order `who`.
def server(U, rho, who, client):
    t = 0                                                                         # 2:
    sent = dict.fromkeys(who, U)
    for r in who:                                                                 # 3:
        U_r = client[r](sent[r])                                                  # 4:
        omega = rho / (rho + t)                                                   # 5:
        U = (1 - omega) * U + omega * U_r                                         # 6:
        sent[r] = U                                                               # 7:
        t = t + 1                                                                 # 8:
        yield U


# Algorithm 7. With `S_1`, line 7 is lines 5 and 6 of Algorithm 5.
def client(M, V, T, update, S_1=None):
    state = {"V": V, "t": 0}

    def answer(U):                                                                # 3:, 4:
        for _ in range(T):                                                        # 5:
            state["t"] += 1
            state["V"] = update(M.T, U.T, state["V"], state["t"], "V")            # 6:
            S = np.eye(M.shape[1]) if S_1 is None else S_1(state["t"])
            U = update(M @ S, state["V"].T @ S, U, state["t"], "U")               # 7:
        return U                                                                  # 8:

    return answer


PAGE = Page(
    solver="asyn-sd",
    where="parties",
    title="Asyn-SD and Asyn-SSD-V: nobody waits for anybody",
    reference="Y. Qian, C. Tan, D. Ding, H. Li and N. Mamoulis, *Fast and secure distributed nonnegative matrix factorization* (DSANLS), "
    "IEEE TKDE; Algorithms 6 and 7.",
    printed=(server, client, proximal_coordinate_descent),
    ours=(Asyn, Local),
    table=(
        ("M_{:J_r}, V_{J_r}", "X_pᵀ, W_p", "party, never sent"),
        ("U_(r)", "H_pᵀ", "party, sent whenever it is ready"),
        ("U^t", "Hᵀ after t replies", "server, sent to the party that replied"),
        ("ρ, ω^t", "`relaxation`, ρ / (ρ + t)", "server"),
        ("T", "`local_steps`", "party"),
    ),
    cost="A party: `local_steps` times two products with X_p, or one and a sketched one. m k numbers up and down for each reply.",
    good_for="Parties of very different speed or size. The server sees every party's H_p: it cannot be hidden in a sum.",
    differences=(
        "As many replies are folded as so many synchronous rounds would have; the paper stops by the clock.",
        "In simulations, who answers when follows a clock that is not on the wall, so a run can be repeated.",
        "The first reply replaces H entirely (ω⁰ = 1), as printed.",
    ),
)


@pytest.mark.parametrize("samples", [False, True])
def test_asyn(samples):
    M, U, V = problem()
    m, sizes = SHAPE
    local = Local("count", 0.7, Damping(0.3, 0.1), seed=4)
    ours = Asyn(Study(K, m, len(M), 10, 4), RHO, T, samples, local)
    who = np.random.default_rng(0).integers(3, size=ITERATIONS).tolist()

    def S_1(r):
        return lambda t: local.samples(sizes[r], K, t).apply(np.eye(sizes[r]))

    update = damped(local, "U" if samples else "")
    clients = [client(M[r], V[r], T, update, S_1(r) if samples else None) for r in range(3)]
    private = [{"Wt": np.ascontiguousarray(v.T)} for v in V]
    public = {"H": np.ascontiguousarray(U.T)}
    downs, counts = [public] * 3, [0] * 3
    for t, (p, theirs) in enumerate(zip(who, server(U, RHO, who, clients), strict=True)):
        counts[p] += 1
        private[p], goes = ours.party(as_matrix(M[p].T), private[p], downs[p], counts[p], p)
        public = downs[p] = ours.server(public, [Reply((p,), goes)], t)
        np.testing.assert_allclose(public["H"].T, theirs, rtol=1e-7, atol=1e-10, err_msg=f"reply {t}")
