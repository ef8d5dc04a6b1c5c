"""Components of length at most one: for the factor without a penalty, lest the other's is escaped by rescaling."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np

from partwise.currency import Array, Carry
from partwise.protocols import Update


def ball(F: Array) -> Array:
    """The nearest nonnegative F whose components (rows, (k, r)) have length at most one, in place."""
    np.maximum(F, 0, out=F)
    lengths = np.sqrt(np.square(F, dtype=np.float64).sum(axis=1, keepdims=True))
    F /= np.maximum(lengths, 1).astype(F.dtype)
    return F


@final
@dataclass(frozen=True)
class Ball:
    """An update, then the nearest point of the ball: for updates that cannot take the ball into their step."""

    update: Update

    def init(self, F: Array) -> Carry:
        return self.update.init(F)

    def __call__(self, F: Array, eq: Any, carry: Carry) -> tuple[Array, Carry]:
        moved, carry = self.update(F, eq, carry)
        return ball(moved), carry
