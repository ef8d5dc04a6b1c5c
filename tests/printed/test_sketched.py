"""Sampled HALS that ends exactly: our own algorithm, as pseudo-code would print it."""

import numpy as np

from partwise.algorithms.single.sketched import Sketched, refined, sample_sizes
from partwise.randomness import Purpose, columns
from partwise.sketches import Importance
from partwise.updates import Refit
from printed.page import ITERATIONS, K, Page, assert_same, ours, start


# One sweep of W on rows of X of weights p, and one of H.
def sweep(X, p, W, H):
    T, V = X @ H.T, H @ H.T
    for j in range(len(H)):
        W[:, j] = np.maximum(0, W[:, j] + (T[:, j] - W @ V[:, j]) / V[j, j])
    R, S = (p[:, None] * X).T @ W, (p[:, None] * W).T @ W
    for j in range(len(H)):
        H[j] = np.maximum(0, H[j] + (R[:, j] - H.T @ S[:, j]) / S[j, j])


# W for rows that have not been looked at: least squares, clipped, then four sweeps.
def fit_anew(X, H, ridge=1e-3, sweeps=4):
    V = H @ H.T
    W = np.maximum(0, X @ H.T @ np.linalg.inv(V + ridge * np.mean(np.diag(V)) * np.eye(len(H))))
    for _ in range(sweeps):
        for j in range(len(H)):
            W[:, j] = np.maximum(0, W[:, j] + (X @ H[j] - W @ V[:, j]) / V[j, j])
    return W


# u: a uniform random number for each row of X; sizes: of the samples.
def sketched_hals(X, W, H, u, sizes):
    n, k = W.shape
    W, H, seen = W.copy(), H.copy(), np.zeros(n, bool)
    for s in sizes:                                                       # 1: samples that contain one another
        chance = np.minimum(1, s * (0.5 / n + 0.5 * np.sum(X**2, axis=1) / np.sum(X**2)))
        J = u < chance                                                    # 2: rows by importance
        p, X_s = 1 / chance[J], X[J]                                      # 3: and what they count
        W[J & ~seen] = fit_anew(X[J & ~seen], H)                          # 4: W of the new ones
        W_s, seen = W[J], J                                               #    and of the others, as it is
        loss = np.sum(p[:, None] * (X_s - W_s @ H) ** 2)
        for _ in range(30):                                               # 5: HALS on the sample,
            sweep(X_s, p, W_s, H)
            before, loss = loss, np.sum(p[:, None] * (X_s - W_s @ H) ** 2)
            if before - loss < k / (16 * len(X_s)) * loss:                # 6: until it teaches less than it errs
                break
        W[J] = W_s
        yield W.copy(), H.copy()
    W = fit_anew(X, H)                                                    # 7: W of all rows
    R, S = X.T @ W, W.T @ W
    for j in range(k):                                                    # 8: and a sweep of H
        H[j] = np.maximum(0, H[j] + (R[:, j] - H.T @ S[:, j]) / S[j, j])
    yield W.copy(), H.copy()
    while True:                                                           # 9: HALS on all of X
        sweep(X, np.ones(n), W, H)
        yield W.copy(), H.copy()


PAGE = Page(
    solver="sketched",
    title="Sketched HALS, finished exactly",
    reference="Ours. The sketches are samples of rows by importance, as in randomized least squares (Larsen and Kolda, "
    "*Practical leverage-based sampling for low-rank tensor decomposition*, SIMAX 2022); samples that double while they teach "
    "are from stochastic optimisation (Daneshmand, Lucchi and Hofmann, *Starting small*, ICML 2016).",
    printed=(sweep, fit_anew, sketched_hals),
    ours=(Sketched, refined, sample_sizes, Importance, Refit),
    table=(
        ("u, chance", "uniform numbers named by (seed, row); π", "`Importance`"),
        ("sizes", "doubling from at least 4 k rows to 128 k, or to a tenth of them", "`sample_sizes`"),
        ("lines 5, 6", "with the accelerated and extrapolated sweeps of `hals`", "`refined`"),
        ("line 7", "clipped least squares, then four sweeps", "`Refit`"),
        ("line 9", "`hals`", "`Sketched.exact`"),
        ("rows", "columns, if these are more", "`Sketched.turned`"),
    ),
    cost="Of the first few, O(s m k) each for up to 30 sweeps on s rows of X; then as HALS. X is read whole for its rows' norms, and "
    "after the samples.",
    good_for="Dense X with at least some forty rows (or columns) for each component, when an error near the best will do. Sparse X, and "
    "few rows for each component, are better served by `hals` ([measured](../sketching.md)); `auto` knows.",
    differences=(
        "The transcription sweeps once a pair and does not extrapolate: `acceleration=1, extrapolate=False`.",
        "A component that is dead, in the sample or in X, is left alone.",
    ),
)


def test_samples_then_all_rows_then_hals():
    X, W, H = start(shape=(90, 30))
    sizes = sample_sizes(90, K, 1, 128)
    assert sizes == (4, 9)
    u = columns(lambda rng, size: rng.random((size, 1)), (1, 90), 0, Purpose.IMPORTANCE)[0]
    theirs = sketched_hals(X, W, H, u, sizes)
    mine = ours("sketched", X, W, H, sample=(1, 128), acceleration=1, extrapolate=False)
    assert_same(mine, [pair for pair, _ in zip(theirs, range(ITERATIONS), strict=False)])


def test_wide_data_are_turned():
    X, W, H = start(shape=(90, 30))
    u = columns(lambda rng, size: rng.random((size, 1)), (1, 90), 0, Purpose.IMPORTANCE)[0]
    theirs = sketched_hals(X, W, H, u, sample_sizes(90, K, 1, 128))
    sampled = [(H.T, W.T) for (W, H), _ in zip(theirs, range(3), strict=False)]
    mine = ours("sketched", X.T, H.T, W.T, iterations=3, sample=(1, 128), acceleration=1, extrapolate=False)
    for (W_here, H_here), (W_there, H_there) in zip(mine, sampled, strict=True):
        np.testing.assert_allclose(W_here, W_there, rtol=1e-7, atol=1e-10)
        np.testing.assert_allclose(H_here, H_there, rtol=1e-7, atol=1e-10)
