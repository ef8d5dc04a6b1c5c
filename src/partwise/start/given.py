"""A start of one's own: checked, and completed where only one factor is given. Messages in scikit-learn's words."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from partwise.algorithms.distributed.products import Products
from partwise.currency import Array
from partwise.errors import OptionError

STEPS = 20  # multiplicative, on one pair: they cost no pass over X


def given(X: Products, k: int, W: ArrayLike | None, H: ArrayLike | None) -> tuple[Array, Array]:
    """Wt (k, n) and H (k, m), copied from W (n, k) and H (k, m); of each a rank takes its part."""
    if W is None and H is None:
        raise OptionError("init='custom' needs W, H or both, but neither was given.")
    n, m = X.shape
    checked_H = None if H is None else _checked(np.asarray(H), (k, m), "NMF (input H)", X)[:, X.columns.part]
    checked_W = None if W is None else _checked(np.asarray(W), (n, k), "NMF (input W)", X)[X.rows.part].T
    Wt, H = (None if F is None else np.array(F, order="C") for F in (checked_W, checked_H))
    return completed(X, Wt, H)


def completed(X: Products, Wt: Array | None, H: Array | None) -> tuple[Array, Array]:
    """The factor that is None, fitted to the other; one pass over X."""
    if Wt is None and H is not None:
        return _fitted(X, H), H
    if H is None and Wt is not None:
        return Wt, _fitted(X.T, Wt)
    return Wt, H  # type: ignore[return-value]


def _fitted(X: Products, other: Array) -> Array:
    """F (k, n) with X ≈ Fᵀ other (k, m): from a constant at the level of X, multiplicative steps, so it stays positive."""
    total = float(X.columns.sum(other.sum(dtype=np.float64)))
    F = np.full((len(other), X.rows.width), X.mean() * X.shape[1] / max(total, np.finfo(X.dtype).tiny), X.dtype)
    pair = X.pair(other, F)
    for _ in range(STEPS):
        numerator, denominator = pair.ratio(F)
        ratio = np.divide(numerator, denominator, out=np.ones_like(F), where=denominator > 0)
        F = F * np.maximum(ratio, 0)
    return F


def _checked(A: Array, shape: tuple[int, int], whom: str, X: Products) -> Array:
    """A, if it can be a start."""
    for axis, word in enumerate(("first", "second")):
        if A.ndim != 2 or A.shape[axis] != shape[axis]:
            seen = A.shape[axis] if A.ndim == 2 else f"an array with {A.ndim} dimensions"
            raise OptionError(
                f"Array with wrong {word} dimension passed to {whom}. Expected {shape[axis]}, but got {seen}."
            )
    if A.dtype != X.dtype:
        raise TypeError(f"H and W should have the same dtype as X, {X.dtype}. Got {A.dtype} in {whom}: use astype.")
    if not np.isfinite(A).all():
        raise OptionError(f"{whom} contains NaN or infinity; a start must be finite.")
    if (A < 0).any():
        raise OptionError(f"Negative values in data passed to {whom}; a start must be >= 0.")
    if not A.any():
        raise OptionError(f"Array passed to {whom} is full of zeros; nothing could ever grow from there.")
    return A
