"""Extrapolated HALS (Ang & Gillis 2019), with the paper's way back and with ours."""

import numpy as np
import pytest

from partwise.algorithms.single.extrapolated import Extrapolated
from printed.page import ITERATIONS, Page, assert_same, ours, start


def sweeps(F, gram, cross, count):
    F = F.copy()
    for _ in range(count):
        for j in range(len(F)):
            F[j] = np.maximum(0, F[j] + (cross[j] - gram[j] @ F) / gram[j, j])
    return F


# X ≈ W H, updated in the order H, W, with h_p = 3 (H is pushed on at once, and the error is that of (H_y, W)).
# `back`: "paper", or "last good" for what partwise does instead.
def extrapolated(X, W, H, inner, beta, gamma, gamma_bar, eta, back):
    W_y, H_y, beta_bar, e, plain = W, H, 1.0, np.linalg.norm(X - W @ H), False
    good, beta_before = (W, H), beta
    while True:
        push = 0.0 if plain else beta
        H_n = sweeps(H_y, W_y.T @ W_y, W_y.T @ X, inner)
        H_yn = np.maximum(0, H_n + push * (H_n - H))
        W_n = sweeps(W_y.T, H_yn @ H_yn.T, H_yn @ X.T, inner).T
        W_yn = np.maximum(0, W_n + push * (W_n - W))              # the paper does not project here
        e_n = np.linalg.norm(X - W_n @ H_yn)
        if e_n > e and push > 0:
            if back == "paper":
                W_y, H_y, e, beta_bar = W, H, e_n, beta_before
            else:
                W, H = good
                W_y, H_y, beta_bar, plain = W, H, beta, True
            beta_before, beta = beta, beta / eta
        else:
            W, H, W_y, H_y, e, plain = W_n, H_n, W_yn, H_yn, e_n, False
            good = W_n, H_yn
            beta_bar, before = min(1.0, gamma_bar * beta_bar), beta_bar
            beta_before, beta = beta, min(beta_bar if back != "paper" else before, gamma * beta)
        yield good, e


PAGE = Page(
    solver="extrapolated",
    title="Extrapolated HALS: `solver=\"hals\", extrapolate=True`",
    reference="A. M. S. Ang and N. Gillis, *Accelerating nonnegative matrix factorization algorithms using extrapolation*, "
    "Neural Computation 31(2), 2019.",
    printed=(extrapolated,),
    ours=(Extrapolated,),
    table=(
        ("X (m, n), W, H, updated in the order H, W", "Xᵀ, Hᵀ, Wᵀ, in the order W, H", "`State`"),
        ("W_y, H_y", "H_ahead, Wt", "`State.memory`, `State`"),
        ("β_k, β̄", "ahead, ahead_most", "`State.memory`"),
        ("γ = 1.01, γ̄ = 1.005, η = 1.5, β₀ = ½", "growth = 1.05, growth_most = 1.01, shrink = 1.5, first = 0.5", "`Extrapolated`"),
        ("NNLS algorithm", "HALS sweeps on one pair", "`Alternating`"),
    ),
    cost="As HALS, and two additions of the factors. The error of the pushed point costs nothing.",
    good_for="The default. On correlated data it needs several times fewer iterations than plain HALS.",
    differences=(
        "When the error rises, the paper goes back to the last *unextrapolated* (W, H), whose error may be higher than the last one "
        "reported. Here the step is thrown away: the last good point (H, W_y) stays, and the next step from it is a plain one, which "
        "cannot fail. So the reported loss never rises.",
        "After a failure the bound β̄ becomes the β that failed; in the paper, the one before it.",
        "Both factors are projected after being pushed on, so that both stay nonnegative; in the paper only the first one.",
    ),
)


def printed(X, W, H, back="last good", iterations=ITERATIONS):
    run = extrapolated(X.T, H.T, W.T, 2, 0.5, 1.05, 1.01, 1.5, back)
    return [((H.T, W.T), e) for ((W, H), e), _ in zip(run, range(iterations), strict=False)]


@pytest.mark.parametrize("seed", range(3))
def test_extrapolated(seed):
    X, W, H = start(seed)
    theirs = printed(X, W, H)
    assert_same(ours("hals", X, W, H, acceleration=2, extrapolate=True), (pair for pair, _ in theirs))


def test_it_is_the_papers_up_to_the_first_rise_and_never_rises_itself():
    rises = 0
    for seed in range(5):
        X, W, H = start(seed)
        paper, mine = (printed(X, W, H, back=back) for back in ("paper", "last good"))
        e_paper, e_mine = ([np.linalg.norm(X - W @ H)] + [e for _, e in run] for run in (paper, mine))
        first = next((t for t in range(ITERATIONS) if e_paper[t + 1] > e_paper[t]), ITERATIONS)
        np.testing.assert_allclose(e_mine[: first + 1], e_paper[: first + 1], rtol=1e-12)
        assert (np.diff(e_mine) <= 1e-13 * e_mine[0]).all()
        rises += first < ITERATIONS
    assert rises  # else nothing of this was seen


def test_the_bound_on_beta_after_a_failure():
    X, W, H = start(4)
    theirs = [e for _, e in printed(X, W, H, iterations=80)]
    mine = [np.linalg.norm(X - W @ H) for W, H in ours("hals", X, W, H, 80, acceleration=2, extrapolate=True)]
    np.testing.assert_allclose(mine, theirs, rtol=1e-9)
    failures = np.flatnonzero(np.diff(theirs) == 0)
    assert (failures < 60).any()  # with enough iterations left for β to grow back to its bound
