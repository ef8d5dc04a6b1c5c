"""The leading singular triplets of X from products with X and Xᵀ alone, so of any X on any ranks, in O((n + m) k) memory."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import linalg

from partwise.algorithms.distributed.products import Products
from partwise.comm import Side
from partwise.currency import Array
from partwise.randomness import Purpose, columns

OVERSAMPLING = 10


def svd(X: Products, k: int, seed: int) -> tuple[Array, Array, Array]:
    """Ut (k, n), s (k,), V (k, m) with X ≈ U diag(s) V, by subspace iteration (Halko, Martinsson & Tropp 2011).

    2 + 2q passes over X, with q = 7 iterations for k < min(n, m) / 10 and 4 otherwise, as scikit-learn has it; none where the
    subspace is all there is. Signs are as they come: nothing here depends on them. Of U and V a rank gets its parts.
    """
    n, m = X.shape
    size = min(k + OVERSAMPLING, n, m)
    test = columns(
        lambda rng, rows: rng.standard_normal((rows, size)), (size, X.columns.width), seed, Purpose.RANGE,
        start=X.columns.part.start,
    )  # fmt: skip
    rows = X.times(test.astype(X.dtype))
    for _ in range(_iterations(k, min(n, m), size)):
        rows = X.times(_independent(X.T.times(_independent(rows, X.rows)), X.columns))
    Q = _orthonormal(rows, X.rows)[0]
    basis, R = _orthonormal(X.T.times(Q), X.columns)
    left, s, right = np.linalg.svd(R.T)
    return left.T[:k] @ Q, s[:k], right[:k] @ basis


def _iterations(k: int, rank: int, size: int) -> int:
    if size == rank:
        return 0
    return 7 if k < 0.1 * rank else 4


def _independent(F: Array, side: Side) -> Array:
    """(k, r): other rows that span what those of F do, well apart: LU does that at a tenth of the time of QR."""
    factors: Any = linalg.lu(F.T, permute_l=True, check_finite=False) if F.size else _nothing(F)
    lead, top = factors
    return np.ascontiguousarray(lead.T) if side.comm.size == 1 else _joined(lead, top, side)[0]


def _orthonormal(F: Array, side: Side) -> tuple[Array, Array]:
    """An orthonormal basis (k, r) of the rows of F (k ≤ r), and R (k, k) with F = Rᵀ basis. NumPy's would work in float64."""
    factors: Any = linalg.qr(F.T, mode="economic", check_finite=False) if F.size else _nothing(F)
    lead, top = factors
    return (np.ascontiguousarray(lead.T), top) if side.comm.size == 1 else _joined(lead, top, side)


def _joined(lead: Array, top: Array, side: Side) -> tuple[Array, Array]:
    """Q (k, r) and R (k, k) of F, this rank's part of Fᵀ being lead (r, c) top (c, k): the ranks' tops under one another have a QR that
    every rank makes for itself (Demmel, Grigori, Hoemmen & Langou 2012, with a tree of one level).
    """
    k, (_, c) = top.shape[1], lead.shape
    heights = [min(width, k) for width in side.widths]
    tops = side.comm.gather(np.ascontiguousarray(top.T), heights)
    factors: Any = linalg.qr(tops.T, mode="economic", check_finite=False)
    Q, R = factors
    above = sum(heights[: side.comm.rank])
    return np.ascontiguousarray((lead @ Q[above : above + c]).T), R


def _nothing(F: Array) -> tuple[Array, Array]:
    """The factors of a part without columns."""
    return np.empty((0, 0), F.dtype), np.empty((0, len(F)), F.dtype)
