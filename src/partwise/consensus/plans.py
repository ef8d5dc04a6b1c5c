"""What alignments and barycenters share: checked parts, distances of components, and plans applied to them.

A *plan* P (k, l) says which components of a source (l, m) make each component of a target (k, m): target ≈ P source. Its rows sum to
one, or to zero where a component of the target is left unaligned.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from partwise.currency import Array
from partwise.errors import DataError, OptionError


class Alignment(Protocol):
    """A strategy D_p of aligning components (FNMF, Definition 2)."""

    @property
    def by_distance(self) -> bool:
        """Whether only distances between components matter, so that columns may be folded."""
        ...

    def __call__(self, target: Array, source: Array) -> Array:
        """(k, l): the plan P with target (k, m) ≈ P source (l, m)."""
        ...


def transport(plan: Array, source: Array) -> Array:
    """(k, m): P source; a permutation moves rows instead of multiplying them."""
    chosen = plan.argmax(axis=1)
    if np.array_equal(plan[np.arange(len(plan)), chosen], np.ones(len(plan))) and np.count_nonzero(plan) == len(plan):
        return source[chosen]
    return plan.astype(source.dtype, copy=False) @ source


def aligned(plan: Array) -> NDArray[np.bool_]:
    """(k,): which components of the target the plan reaches."""
    return np.asarray(plan.any(axis=1))


def pulled(own: Array, plan: Array, shared: Array, strength: float) -> Array:
    """(k, m): own components moved towards their partners among the shared ones: (strength · P shared + own) / (1 + strength).

    Components without a partner keep their own value. An endless strength replaces them.
    """
    partners = transport(plan, shared)
    share = own.dtype.type(strength / (1 + strength) if np.isfinite(strength) else 1.0)
    return np.where(aligned(plan)[:, None], share * partners + (1 - share) * own, own)


def sq_distances(target: Array, source: Array) -> Array:
    """(k, l): ‖x_i − y_j‖² in float64, never below zero."""
    cross = (target @ source.T).astype(np.float64, copy=False)
    return np.maximum(sq_lengths(target)[:, None] + sq_lengths(source) - 2 * cross, 0)


def correlations(target: Array, source: Array) -> Array:
    """(k, l): Pearson's r of components over features in float64; NaN where a component is constant."""
    x, y = (F - F.mean(axis=1, keepdims=True) for F in (target, source))
    lengths = np.sqrt(np.outer(sq_lengths(x), sq_lengths(y)))
    flat = np.sqrt(np.outer(sq_lengths(target), sq_lengths(source))) * np.sqrt(np.finfo(target.dtype).eps)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(lengths > flat, np.clip((x @ y.T) / lengths, -1, 1), np.nan)


def mismatch(target: Array, plan: Array, source: Array) -> float:
    """‖target − P source‖², where what the plan leaves out on either side counts as if it were paired with zero."""
    gap = target - transport(plan, source)  # a component that is not reached is compared with zero
    lost = float(np.einsum("ij,ij->", gap, gap, dtype=np.float64))
    unused = source[~plan.any(axis=0)]
    return lost + float(np.einsum("ij,ij->", unused, unused, dtype=np.float64))


def checked_parts(parts: Sequence[Array], weights: Sequence[float] | Array | None) -> tuple[list[Array], Array]:
    """The matrices H_p (k, m) of the parties, all of one shape, and their weights, which sum to one; or a sentence."""
    if not len(parts):
        raise DataError("There are no components to merge; expected the H (k, m) of one party at least.")
    held = [np.asarray(part) for part in parts]
    for p, part in enumerate(held):
        if part.ndim != 2 or part.shape != held[0].shape or 0 in part.shape:
            raise DataError(
                f"The components of party {p} have shape {part.shape}; expected {held[0].shape}, as those of party 0 have."
                if p and held[0].ndim == 2
                else f"The components of party {p} have shape {part.shape}; expected (components, features)."
            )
        if part.dtype.kind not in "fiub" or not np.isfinite(part.sum(dtype=np.float64)):
            raise DataError(f"The components of party {p} hold NaN, infinities or no numbers; expected finite numbers.")
    dtype = np.result_type(np.float32, *held)
    return [part.astype(dtype, copy=False) for part in held], _shares(weights, len(held))


def _shares(weights: Sequence[float] | Array | None, count: int) -> Array:
    if weights is None:
        return np.full(count, 1 / count)
    held = np.asarray(weights, dtype=np.float64)
    if held.shape != (count,) or not np.isfinite(held).all() or (held < 0).any() or not held.sum() > 0:
        raise OptionError(
            f"The weights {weights!r} do not fit {count} parties; expected one number ≥ 0 for each, not all zero."
        )
    return held / held.sum()


def sq_lengths(F: Array) -> Array:
    """(k,): ‖f_i‖² in float64."""
    return np.einsum("ij,ij->i", F, F, dtype=np.float64)
