"""How much one record can change what is released: clips, and the sensitivities that follow from them.

A record gives φ = (w wᵀ, w yᵀ) to A = WᵀW/n and B = WᵀY/n, w ≥ 0, ‖w‖ ≤ C_w, ‖y‖ ≤ C_y, n a public number. w and y are functions of
that record and of what was published before, of no other record, and are clipped **separately**. Derivations, and the search that
checked them: docs/privacy/derivations.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import final

import numpy as np

from partwise.currency import Array
from partwise.errors import OptionError
from partwise.privacy.accountant import Neighbours, check_neighbours


def clip_scales(norms: Array, limit: float) -> Array:
    """Factors ≤ 1 that bring rows of these norms to at most `limit`; a little less, so that rounding cannot lift one above it."""
    check_limit("a clip", limit)
    safe = limit * (1 - 4 * float(np.finfo(norms.dtype).eps))
    with np.errstate(divide="ignore"):
        return np.minimum(1.0, safe / norms).astype(norms.dtype)


def clip_columns(F: Array, limit: float) -> Array:
    """F (k, n) with the norm of each column at most `limit`: records are columns of component-major factors."""
    return F * clip_scales(np.sqrt(np.einsum("kn,kn->n", F, F, dtype=np.float64)).astype(F.dtype), limit)


def check_limit(name: str, limit: float) -> None:
    """A positive number."""
    if not (math.isfinite(limit) and limit > 0):
        raise OptionError(
            f"{name} is {limit}; it must be a positive number that does not depend on the data, such as 1.0."
        )


@final
@dataclass(frozen=True)
class Statistics:
    """What is released of n records: A/a and B/b, together or alone; and what bounds a record's share in them."""

    n: int  # public
    w: float  # C_w
    y: float  # C_y, or C_e of residuals
    signed: bool = False  # whether y may be negative: residuals, data with negative entries
    neighbours: Neighbours = "replace"
    gram_scale: float = 1.0  # a
    cross_scale: float = 1.0  # b

    def __post_init__(self) -> None:
        check_neighbours(self.neighbours)
        if self.n < 2:
            raise OptionError(
                f"n is {self.n}; what is published of a single record cannot hide it. Expected two records or more."
            )
        for name, limit in (
            ("the clip of w", self.w),
            ("the clip of y", self.y),
            ("a", self.gram_scale),
            ("b", self.cross_scale),
        ):
            check_limit(name, limit)

    @property
    def gram_alone(self) -> float:
        """Δ of A/a."""
        return self._root(2 if self._replace else 1, self._wA)

    @property
    def cross_alone(self) -> float:
        """Δ of B/b: two signed y may be opposite, two nonnegative ones are at worst orthogonal."""
        return self._root((4 if self.signed else 2) if self._replace else 1, self._wB)

    @property
    def joint(self) -> float:
        """Δ of (A/a, B/b) released at once, in the norm √(‖A/a‖² + ‖B/b‖²)."""
        wA, wB = self._wA, self._wB
        if not self._replace:
            return self._root(1, wA + wB)
        if not self.signed:
            return self._root(2, wA + wB)
        cosine = min(1.0, wB / (2 * wA))  # of the angle between the two w's of the worst pair
        return self._root(1, 2 * wA * (1 - cosine**2) + 2 * wB * (1 + cosine))

    @property
    def _replace(self) -> bool:
        return self.neighbours == "replace"

    @property
    def _wA(self) -> float:
        return (self.w**2 / self.gram_scale) ** 2

    @property
    def _wB(self) -> float:
        return (self.w * self.y / self.cross_scale) ** 2

    def _root(self, factor: float, squared: float) -> float:
        return math.sqrt(factor * squared) / self.n


def sum_sensitivity(bound: float, neighbours: Neighbours) -> float:
    """Δ of a sum of vectors, one for each unit, clipped to norm `bound`: of whole updates of parties, say."""
    check_neighbours(neighbours)
    check_limit("the clip of a unit's vector", bound)
    return bound * (2.0 if neighbours == "replace" else 1.0)


def rounding_allowance(n: int, magnitude: float) -> float:
    """What float64 sums of n terms may add to a sensitivity, since rounding depends on all data, in whatever order one sums.

    `magnitude` bounds the norm of the sum of the terms' absolute values. Each of two neighbours' sums is off by at most γ_n of it
    (Higham 2002, §3.1).
    """
    unit = n * float(np.finfo(np.float64).eps) / 2
    return 2 * unit / (1 - unit) * magnitude
