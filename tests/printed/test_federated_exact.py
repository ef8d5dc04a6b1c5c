"""Exact federated HALS, which is ours, beside the same on pooled data, written plainly."""

import numpy as np
from scipy.optimize import nnls

from partwise.algorithms.federated.exact import Exact, pushed, unit_rows
from partwise.algorithms.federated.study import Study
from partwise.currency import Reply, total
from partwise.data import as_matrix
from printed.page import ITERATIONS, K, Page
from printed.test_syn import problem

SWEEPS = 3


# What one machine that had all rows would do.
def pooled(X, H, T, sweeps, growth=1.2, shrink=2.0, most=3.0):
    Y, before, push, error = H, H, 1.0, np.inf
    for t in range(1, T + 1):
        W = np.array([nnls(Y.T, x)[0] for x in X])
        gram, cross = W.T @ W, W.T @ X
        met, error = error, np.linalg.norm(X - W @ Y) ** 2
        H = Y.copy()
        for _ in range(sweeps):
            for j in range(len(H)):
                H[j] = np.maximum(0, H[j] + (cross[j] - gram[j] @ H) / gram[j, j])
        ahead = H if t == 1 or error > met else np.maximum(0, H + push * (H - before))
        push = push / shrink if error > met else min(most, push * growth)
        Y, before = ahead / np.linalg.norm(ahead, axis=1)[:, None], H
        yield H / np.linalg.norm(H, axis=1)[:, None], error


PAGE = Page(
    solver="exact",
    where="parties",
    title="Exact federated HALS: the pooled fit, though nobody pools",
    reference="Ours. The pair that is summed is that of T. Gao and C. Chu, *DID: Distributed incremental block coordinate descent for "
    "nonnegative matrix factorization*, AAAI 2018; the pushing ahead is after A. Ang and N. Gillis, *Accelerating nonnegative matrix "
    "factorization algorithms using extrapolation*, Neural Computation 2019.",
    printed=(pooled,),
    ours=(Exact, pushed, unit_rows),
    table=(
        ("X", "X_p, never pooled", "party, never sent"),
        ("W", "W_p, exact", "party, never sent"),
        ("WᵀW, WᵀX", "Σ W_pᵀW_p, Σ W_pᵀX_p", "sums; with the secure sum nobody sees a part of them"),
        ("H, Y", "H; what is sent to the parties", "server"),
        ("‖X − W Y‖²", "‖X‖² − 2⟨cross, Y⟩ + ⟨gram, Y Yᵀ⟩", "server, from the sums"),
    ),
    cost="A party: one product with X_p and one exact solve for W_p (a second product, for cross). (m + k) k + 1 numbers up, m k down.",
    good_for="The default. Parties that differ, in what they hold and how much: there is no drift to repair, as nothing is averaged. All "
    "that leaves a party can go through the secure sum.",
    differences=("Printed for one machine: what the parties do together is this, to the rounding of the sums.",),
)


def test_the_parties_do_what_one_machine_would():
    M, U, _ = problem()
    Xs = [m.T for m in M]
    ours = Exact(Study(K, len(U), len(Xs), ITERATIONS, H=U.T), sweeps=SWEEPS)
    held, public = [as_matrix(X) for X in Xs], ours.opening()
    private = [ours.begin(X, p) for p, X in enumerate(held)]
    theirs = pooled(np.concatenate(Xs), unit_rows(U.T), ITERATIONS, SWEEPS)
    for t in range(ITERATIONS + 1):
        replies = []
        for p, X in enumerate(held):
            private[p], goes = ours.party(X, private[p], ours.down(public, t, p), t, p)
            replies.append(Reply((p,), goes))
        public = ours.server(public, [total(replies)], t)
        if t > 0:
            H, error = next(theirs)
            np.testing.assert_allclose(public["H"], H, rtol=1e-6, atol=1e-9, err_msg=f"round {t}")
            np.testing.assert_allclose(public["error"] * sum(X.sq_norm() for X in held), error, rtol=1e-8)
