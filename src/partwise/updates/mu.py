"""Multiplicative updates (Lee & Seung 2001; Févotte & Idier 2011 for the exponent)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from partwise.currency import Array, Carry, RatioEq

TINY = float(np.finfo(np.float32).eps)  # a denominator of zero is taken as this, as in scikit-learn


@final
@dataclass(frozen=True)
class Mu:
    """F ← F ∘ (numerator / denominator)^γ; γ ≠ 1 keeps the loss falling for β outside [1, 2]."""

    exponent: float = 1.0

    def init(self, F: Array) -> Carry:
        return ()

    def __call__(self, F: Array, eq: RatioEq, carry: Carry) -> tuple[Array, Carry]:
        ratio = np.divide(eq.numerator, np.where(eq.denominator == 0, F.dtype.type(TINY), eq.denominator))
        if self.exponent != 1:
            ratio **= self.exponent
        return F * ratio, carry


def exponent_for(beta: float) -> float:
    """γ(β) of Févotte & Idier, which makes the update a majorisation–minimisation step."""
    if beta < 1:
        return 1 / (2 - beta)
    return 1 / (beta - 1) if beta > 2 else 1.0
