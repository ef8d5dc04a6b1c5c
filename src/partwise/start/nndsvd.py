"""Nonnegative double SVD (Boutsidis & Gallopoulos 2008): of each singular pair, the better half."""

from __future__ import annotations

import numpy as np

from partwise.currency import Array
from partwise.protocols import Matrix
from partwise.start.svd import svd

NEGLIGIBLE = (
    1e-6  # of the largest entry of a factor: below it, zero (scikit-learn's is absolute, so depends on X's unit)
)


def nndsvd(X: Matrix, k: int, seed: int) -> tuple[Array, Array]:
    """Wt (k, n) and H (k, m). A pair (u, v) is s(u₊v₊ᵀ + u₋v₋ᵀ) where that is positive: the term of larger norm stays."""
    Ut, s, V = svd(X, k, seed)
    Ut[0], V[0] = np.abs(Ut[0]), np.abs(V[0])  # one sign throughout, but for rounding
    u_plus, v_plus = np.maximum(Ut, 0), np.maximum(V, 0)
    u_minus, v_minus = np.maximum(-Ut, 0), np.maximum(-V, 0)
    plus = _norms(u_plus) * _norms(v_plus) >= _norms(u_minus) * _norms(v_minus)
    Wt, H = np.where(plus, u_plus, u_minus), np.where(plus, v_plus, v_minus)
    return _balanced(Wt, H, s), _balanced(H, Wt, s)


def _balanced(F: Array, other: Array, s: Array) -> Array:
    """Rows of F, scaled so that both factors have equal norms in each component."""
    own, others = _norms(F), _norms(other)
    scaled = F * np.sqrt(s[:, None] * others / np.where(own > 0, own, 1))
    return np.where(scaled >= NEGLIGIBLE * scaled.max(), scaled, 0)


def _norms(F: Array) -> Array:
    """(k, 1): the lengths of the rows."""
    return np.linalg.norm(F, axis=1, keepdims=True)
