"""The values that travel between rooms, and nothing else.

Factors are **component-major**: `H` is (k, m) and `Wt`, the transpose of W, is (k, n), both C-ordered. So an update of either
factor sees the same thing: an array `F` (k, r) of r independent columns.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.floating]
Carry = tuple[Array, ...]  # what an update remembers of a factor: arrays of the factor's shape (k, r)
Memory = Mapping[str, Array | float]  # what an algorithm remembers: named, so that a checkpoint can hold it


class RatioEq(NamedTuple):
    """What a multiplicative update may know of the data."""

    numerator: Array  # (k, r)
    denominator: Array  # (k, r)

    def plus(self, other: RatioEq) -> RatioEq:
        """The pair of two shards together."""
        return RatioEq(self.numerator + other.numerator, self.denominator + other.denominator)


class NormalEq(NamedTuple):
    """All that a least-squares update of F may know of the data: min_F ½⟨F, gram F⟩ − ⟨F, cross⟩."""

    gram: Array  # (k, k)
    cross: Array  # (k, r)

    def plus(self, other: NormalEq) -> NormalEq:
        """The pair of two shards together."""
        return NormalEq(self.gram + other.gram, self.cross + other.cross)

    def gradient(self, F: Array) -> Array:
        """(k, r): gram F − cross."""
        return self.gram @ F - self.cross

    def ratio(self, F: Array) -> RatioEq:
        """The same pair in the form that multiplicative updates take."""
        return RatioEq(self.cross, self.gram @ F)


class State(NamedTuple):
    """Where an algorithm stands after an iteration."""

    Wt: Array  # (k, n)
    H: Array  # (k, m)
    loss: float = float("nan")  # of (Wt, H): the data's part of the objective, ½‖X − WH‖² or the divergence
    penalty: float = 0.0  # of (Wt, H): the rest of the objective
    violation: float = float(
        "nan"
    )  # projected gradient met on the way here (‖·‖₁ over both factors); NaN: not measured
    carry_W: Carry = ()  # what the update of W remembers
    carry_H: Carry = ()
    memory: Memory = {}  # noqa: RUF012  (a NamedTuple's default; never written to)

    @property
    def objective(self) -> float:
        """Loss and penalty together: what the methods make small."""
        return self.loss + self.penalty
