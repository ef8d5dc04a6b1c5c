"""Nonnegative double SVD (Boutsidis & Gallopoulos 2008): of each singular pair, the better half."""

from __future__ import annotations

import numpy as np

from partwise.algorithms.distributed.products import Products
from partwise.comm import Side
from partwise.currency import Array
from partwise.start.svd import svd

NEGLIGIBLE = (
    1e-6  # of the largest entry of a factor: below it, zero (scikit-learn's is absolute, so depends on X's unit)
)


def nndsvd(X: Products, k: int, seed: int) -> tuple[Array, Array]:
    """Wt (k, n) and H (k, m). A pair (u, v) is s(u₊v₊ᵀ + u₋v₋ᵀ) where that is positive: the term of larger norm stays."""
    Ut, s, V = svd(X, k, seed)
    Ut[0], V[0] = np.abs(Ut[0]), np.abs(V[0])  # one sign throughout, but for rounding
    u_plus, v_plus = np.maximum(Ut, 0), np.maximum(V, 0)
    u_minus, v_minus = np.maximum(-Ut, 0), np.maximum(-V, 0)
    norms_u, norms_v = _norms(X.rows, u_plus, u_minus), _norms(X.columns, v_plus, v_minus)
    plus = norms_u[0] * norms_v[0] >= norms_u[1] * norms_v[1]
    Wt, H = np.where(plus, u_plus, u_minus), np.where(plus, v_plus, v_minus)
    own, others = np.where(plus, *norms_u), np.where(plus, *norms_v)
    return _balanced(Wt, X.rows, own, others, s), _balanced(H, X.columns, others, own, s)


def _balanced(F: Array, side: Side, own: Array, others: Array, s: Array) -> Array:
    """Rows of F, of lengths `own`, scaled so that both factors have equal norms in each component."""
    scaled = F * np.sqrt(s[:, None] * others / np.where(own > 0, own, 1)).astype(F.dtype)
    return np.where(scaled >= NEGLIGIBLE * side.most(scaled), scaled, 0)


def _norms(side: Side, *factors: Array) -> Array:
    """(factors, k, 1): the lengths of the rows."""
    squares = [np.square(F, dtype=np.float64).sum(axis=1, keepdims=True) for F in factors]
    return np.sqrt(side.sum(squares))
