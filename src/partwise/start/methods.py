"""Every start under its name, with scikit-learn's names and meanings where it has them.

What is missing counts as zero in the products with X that `nndsvd*` and `kmeans` take; the result is then brought to the level
of what was observed.
"""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import ArrayLike

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
    X: Matrix, k: int, method: str | None, seed: int, *, W: ArrayLike | None = None, H: ArrayLike | None = None
) -> tuple[Array, Array]:
    """Wt (k, n) and H (k, m): new arrays, in X's dtype. `W` (n, k) and `H` (k, m) are for "custom", either or both.

    Passes over X: one for its mean, which every method but "nndsvd" and a complete "custom" needs; one more for "custom" with
    one factor; 10 or 16 for nndsvd* (see `svd`; 2 where k + 10 reaches min(n, m)), and 2 more than that for "kmeans".
    None is "nndsvda" where k ≤ min(n, m), "random" otherwise.
    """
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


def random(X: Matrix, k: int, seed: int) -> tuple[Array, Array]:
    """|N(0, 1)| √(mean(X) / k), by blocks of columns, so that a shard of X may draw its own part."""
    n, m = X.shape
    scale = (X.mean() / k) ** 0.5
    Wt = _half_normal((k, n), scale, seed, Purpose.START_W)
    H = _half_normal((k, m), scale, seed, Purpose.START_H)
    return Wt.astype(X.dtype, copy=False), H.astype(X.dtype, copy=False)


def _checked(X: Matrix, k: int, method: str | None) -> str:
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


def _half_normal(shape: tuple[int, int], scale: float, seed: int, purpose: Purpose) -> Array:
    """(k, r): |N(0, 1)| times `scale`."""
    drawn = columns(lambda rng, size: rng.standard_normal((size, shape[0])), shape, seed, purpose)
    np.abs(drawn, out=drawn)
    drawn *= scale
    return drawn


def _levelled(X: Matrix, Wt: Array, H: Array) -> tuple[Array, Array]:
    """With missing entries, which counted as zero: factors scaled so that mean(WH) = mean(X)."""
    model = float(Wt.sum(axis=1, dtype=np.float64) @ H.sum(axis=1, dtype=np.float64)) / (Wt.shape[1] * H.shape[1])
    if X.traceable or model == 0:
        return Wt, H
    scale = Wt.dtype.type((X.mean() / model) ** 0.5)
    return Wt * scale, H * scale


def _filled(X: Matrix, method: str, seed: int, Wt: Array, H: Array) -> tuple[Array, Array]:
    """The zeros of both factors, which a multiplicative update could never leave, replaced as the method says."""
    if method == "nndsvd":
        return Wt, H
    level = X.mean()
    for F, purpose in ((Wt, Purpose.START_W), (H, Purpose.START_H)):
        zeros = F == 0
        if method == "nndsvda":
            F[zeros] = level
        else:
            F[zeros] = _half_normal(F.shape, SMALL * level, seed, purpose)[zeros]
    return Wt, H
