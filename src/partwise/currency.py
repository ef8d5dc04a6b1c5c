"""The values that travel between rooms, and nothing else.

Factors are **component-major**: `H` is (k, m) and `Wt`, the transpose of W, is (k, n), both C-ordered. So an update of either
factor sees the same thing: an array `F` (k, r) of r independent columns.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

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


class Message(NamedTuple):
    """A collective, as a method for a cluster declares it before it is called."""

    kind: str  # sum, gather, sum_scatter or broadcast: the word of `Comm`
    numbers: int  # in the array that is summed, or in the result of the gathering
    ranks: int  # that take part
    wide: bool = False  # numbers in float64, whatever the data are in


Arrays = Mapping[str, NDArray[Any]]  # what a party keeps, what the server knows, what a message holds: arrays by name


class Field(NamedTuple):
    """One array of a message, as a method declares it."""

    shape: tuple[int, ...]
    dtype: Any
    nonnegative: bool = False


class Exchange(NamedTuple):
    """What goes between the server and one party in one round: all of it, by name."""

    down: Mapping[str, Field]
    up: Mapping[str, Field]  # empty: the party computes, but says nothing


class Disclosure(NamedTuple):
    """A sketch of the data themselves that is shown: S X, for an S (n, d) that everyone can draw."""

    kind: str  # of sketch
    name: str  # what S is drawn from; the same name is the same S
    d: int
    n: int  # rows that it is of: with n independent sketched rows, X is known
    allowance: float = 0.0  # the share of n that the study allows to be shown


class Reply(NamedTuple):
    """What one party said; or, where only sums are shown, the sum of what these parties said."""

    parties: tuple[int, ...]
    arrays: Arrays


def total(replies: Sequence[Reply]) -> Reply:
    """The sum of replies, in the order of the parties, whoever came first: so the bits don't depend on it."""
    ordered = sorted(replies, key=lambda reply: reply.parties)
    sums = {name: np.array(array) for name, array in ordered[0].arrays.items()}
    for reply in ordered[1:]:
        for name, array in reply.arrays.items():
            sums[name] = sums[name] + array
    return Reply(tuple(sorted(p for reply in ordered for p in reply.parties)), sums)
