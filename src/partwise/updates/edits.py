"""What only edits the pair before an update sees it, so that every update gets it for free: penalties, proximity, fixed components."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from partwise.currency import Array, Carry, NormalEq, RatioEq
from partwise.protocols import Update


@final
@dataclass(frozen=True)
class Penalised:
    """The objective plus l1 ‖F‖₁ + ½ l2 ‖F‖²."""

    update: Update
    l1: float = 0.0
    l2: float = 0.0

    def init(self, F: Array) -> Carry:
        return self.update.init(F)

    def __call__(self, F: Array, eq: NormalEq | RatioEq, carry: Carry) -> tuple[Array, Carry]:
        l1, l2 = F.dtype.type(self.l1), F.dtype.type(self.l2)
        if isinstance(eq, RatioEq):
            edited: NormalEq | RatioEq = RatioEq(eq.numerator, eq.denominator + l1 + l2 * F)
        else:
            edited = NormalEq(eq.gram + l2 * np.eye(len(eq.gram), dtype=F.dtype), eq.cross - l1)
        return self.update(F, edited, carry)


@final
@dataclass(frozen=True)
class AsRatio:
    """Lets a multiplicative update, penalised or not, be used where the pair is that of least squares."""

    update: Update

    def init(self, F: Array) -> Carry:
        return self.update.init(F)

    def __call__(self, F: Array, eq: NormalEq, carry: Carry) -> tuple[Array, Carry]:
        return self.update(F, eq.ratio(F), carry)


@final
@dataclass(frozen=True)
class Proximal:
    """The objective plus ½ weight ‖F − anchor‖²; without an anchor, the F at hand (proximal coordinate descent)."""

    update: Update
    weight: float
    anchor: Array | None = None

    def init(self, F: Array) -> Carry:
        return self.update.init(F)

    def __call__(self, F: Array, eq: NormalEq, carry: Carry) -> tuple[Array, Carry]:
        weight, anchor = F.dtype.type(self.weight), F if self.anchor is None else self.anchor
        gram = eq.gram + weight * np.eye(len(eq.gram), dtype=F.dtype)
        return self.update(F, NormalEq(gram, eq.cross + weight * anchor), carry)


@final
@dataclass(frozen=True)
class Fixed:
    """The first `count` components stay as they are; the others are updated against what those leave over."""

    update: Update
    count: int

    def init(self, F: Array) -> Carry:
        return self.update.init(F[self.count :])

    def __call__(self, F: Array, eq: NormalEq | RatioEq, carry: Carry) -> tuple[Array, Carry]:
        held, free = F[: self.count], F[self.count :]
        if not len(free):
            return F, carry
        if isinstance(eq, RatioEq):
            left: NormalEq | RatioEq = RatioEq(eq.numerator[self.count :], eq.denominator[self.count :])
        else:
            gram = eq.gram[self.count :]
            left = NormalEq(gram[:, self.count :], eq.cross[self.count :] - gram[:, : self.count] @ held)
        moved, carry = self.update(free, left, carry)
        return np.concatenate([held, moved]), carry
