"""Every start under its name, with scikit-learn's names and meanings where it has them; the same on one machine and over ranks.

What is missing counts as zero in the products with X that `nndsvd*` and `kmeans` take; the result is then brought to the level
of what was observed.
"""

from __future__ import annotations

import math
import warnings

import numpy as np
from numpy.typing import ArrayLike

from partwise.algorithms.distributed.products import Products, alone
from partwise.comm import Side
from partwise.currency import Array
from partwise.errors import OptionError
from partwise.protocols import Matrix
from partwise.randomness import Purpose, columns
from partwise.start.given import completed, given
from partwise.start.kmeans import kmeans
from partwise.start.nndsvd import nndsvd

METHODS = ("random", "nndsvd", "nndsvda", "nndsvdar", "kmeans", "custom")
SMALL = 0.01  # of the level of X: what replaces the zeros in nndsvdar


def start(
    X: Matrix | Products,
    k: int,
    method: str | None,
    seed: int,
    *,
    W: ArrayLike | None = None,
    H: ArrayLike | None = None,
) -> tuple[Array, Array]:
    """Wt (k, n) and H (k, m): new arrays, in X's dtype. `W` (n, k) and `H` (k, m) are for "custom", either or both.

    An X that is `Products` over ranks gives each its parts of what one machine would get, to rounding; "random" to the bit.

    Passes over X: one for its mean, which every method but "nndsvd" and a complete "custom" needs; one more for "custom" with
    one factor; 10 or 16 for nndsvd* (see `svd`; 2 where k + 10 reaches min(n, m)), and 2 more than that for "kmeans".
    None is "nndsvda" where k ≤ min(n, m), "random" otherwise.
    """
    X = X if isinstance(X, Products) else alone(X)
    name = _checked(X, k, method)
    if name == "custom":
        return given(X, k, W, H)
    if W is not None or H is not None:
        warnings.warn(
            "When init!='custom', provided W or H are ignored. Set init='custom' to use them as initialization.",
            RuntimeWarning,
            stacklevel=2,
        )
    if name == "random":
        return random(X, k, seed)
    if name == "kmeans":
        return completed(X, None, kmeans(X, k, seed))
    return _filled(X, name, seed, *_levelled(X, *nndsvd(X, k, seed)))


def random(X: Products, k: int, seed: int) -> tuple[Array, Array]:
    """|N(0, 1)| √(mean(X) / k), by blocks of columns, so that a rank may draw its own part."""
    scale = (_rounded(X.mean()) / k) ** 0.5
    Wt = _half_normal(k, X.rows, scale, seed, Purpose.START_W)
    H = _half_normal(k, X.columns, scale, seed, Purpose.START_H)
    return Wt.astype(X.dtype, copy=False), H.astype(X.dtype, copy=False)


def _rounded(mean: float) -> float:
    """To 24 bits, on which all orders of adding up X agree: so a random start is the same bits however X is cut."""
    mantissa, exponent = math.frexp(mean)
    return math.ldexp(round(mantissa * 2**24), exponent - 24)


def _checked(X: Products, k: int, method: str | None) -> str:
    """The method's name, if it exists and k suits it."""
    n, m = X.shape
    if method is None:
        return "nndsvda" if k <= min(n, m) else "random"
    if method not in METHODS:
        raise OptionError(f"init={method!r} does not exist; choose one of {', '.join(METHODS)}, or None.")
    if method.startswith("nndsvd") and k > min(n, m):
        raise OptionError(
            f"init = '{method}' can only be used when n_components <= min(n_samples, n_features), but n_components={k} and X "
            f"is {n} × {m}; use fewer components or init='random'."
        )
    if method == "kmeans" and k > n:
        raise OptionError(
            f"init = 'kmeans' can only be used when n_components <= n_samples, but n_components={k} and X has {n} rows; use "
            "fewer components or init='random'."
        )
    return method


def _half_normal(k: int, side: Side, scale: float, seed: int, purpose: Purpose) -> Array:
    """(k, r): |N(0, 1)| times `scale`, of this rank's part."""
    drawn = columns(
        lambda rng, size: rng.standard_normal((size, k)), (k, side.width), seed, purpose, start=side.part.start
    )
    np.abs(drawn, out=drawn)
    drawn *= scale
    return drawn


def _levelled(X: Products, Wt: Array, H: Array) -> tuple[Array, Array]:
    """With missing entries, which counted as zero: factors scaled so that mean(WH) = mean(X)."""
    if X.traceable:
        return Wt, H
    sums = (side.sum(F.sum(axis=1, dtype=np.float64)) for side, F in ((X.rows, Wt), (X.columns, H)))
    model = float(np.vdot(*sums)) / (X.rows.size * X.columns.size)
    if model == 0:
        return Wt, H
    scale = Wt.dtype.type((X.mean() / model) ** 0.5)
    return Wt * scale, H * scale


def _filled(X: Products, method: str, seed: int, Wt: Array, H: Array) -> tuple[Array, Array]:
    """The zeros of both factors, which a multiplicative update could never leave, replaced as the method says."""
    if method == "nndsvd":
        return Wt, H
    level = X.mean()
    for F, side, purpose in ((Wt, X.rows, Purpose.START_W), (H, X.columns, Purpose.START_H)):
        zeros = F == 0
        if method == "nndsvda":
            F[zeros] = level
        else:
            F[zeros] = _half_normal(len(F), side, SMALL * level, seed, purpose)[zeros]
    return Wt, H
