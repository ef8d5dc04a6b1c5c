"""The leading singular triplets of X from products with X and Xᵀ alone, so of any Matrix, in O((n + m) k) memory."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import linalg

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
    rows = X.times(test.astype(X.dtype))
    for _ in range(_iterations(k, min(n, m), size)):
        rows = X.times(_independent(X.T.times(_independent(rows))))
    Q = _orthonormal(rows)[0]
    basis, R = _orthonormal(X.T.times(Q))
    left, s, right = np.linalg.svd(R.T)
    return left.T[:k] @ Q, s[:k], right[:k] @ basis


def _iterations(k: int, rank: int, size: int) -> int:
    if size == rank:
        return 0
    return 7 if k < 0.1 * rank else 4


def _independent(F: Array) -> Array:
    """(k, r): other rows that span what those of F do, well apart: LU does that at a tenth of the time of QR."""
    factors: Any = linalg.lu(F.T, permute_l=True, check_finite=False)
    return np.ascontiguousarray(factors[0].T)


def _orthonormal(F: Array) -> tuple[Array, Array]:
    """An orthonormal basis (k, r) of the rows of F (k ≤ r), and R (k, k) with F = Rᵀ basis. NumPy's would work in float64."""
    factors: Any = linalg.qr(F.T, mode="economic", check_finite=False)
    return np.ascontiguousarray(factors[0].T), factors[1]
