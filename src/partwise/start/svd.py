"""The leading singular triplets of X from products with X and Xᵀ alone, so of any Matrix, in O((n + m) k) memory."""

from __future__ import annotations

import numpy as np

from partwise.currency import Array
from partwise.protocols import Matrix
from partwise.randomness import Purpose, columns

OVERSAMPLING = 10


def svd(X: Matrix, k: int, seed: int) -> tuple[Array, Array, Array]:
    """Ut (k, n), s (k,), V (k, m) with X ≈ U diag(s) V, by subspace iteration (Halko, Martinsson & Tropp 2011).

    2 + 2q passes over X, with q = 7 iterations for k < min(n, m) / 10 and 4 otherwise, as scikit-learn has it; none where the
    subspace is all there is. Signs are as they come: nothing here depends on them.
    """
    n, m = X.shape
    size = min(k + OVERSAMPLING, n, m)
    test = columns(lambda rng, rows: rng.standard_normal((rows, size)), (size, m), seed, Purpose.RANGE)
    Q = _orthonormal(X.times(test.astype(X.dtype)))
    for _ in range(_iterations(k, min(n, m), size)):
        Q = _orthonormal(X.times(_orthonormal(X.T.times(Q))))
    left, s, V = np.linalg.svd(X.T.times(Q), full_matrices=False)
    return left.T[:k] @ Q, s[:k], V[:k]


def _iterations(k: int, rank: int, size: int) -> int:
    if size == rank:
        return 0
    return 7 if k < 0.1 * rank else 4


def _orthonormal(F: Array) -> Array:
    """(k, r): an orthonormal basis of the rows of F (k ≤ r)."""
    return np.ascontiguousarray(np.linalg.qr(F.T).Q.T)
