"""ADMM on one pair (Zhang 2010; Huang, Sidiropoulos & Liavas 2016): the dual is carried from call to call."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from partwise.currency import Array, Carry, NormalEq


@final
@dataclass(frozen=True)
class Admm:
    """min ½⟨U, gram U⟩ − ⟨U, cross⟩ with U = F, F ≥ 0, and the scaled dual D of that constraint.

    `penalty` ρ; None takes trace(gram)/k, which makes the steps independent of the data's scale.
    """

    penalty: float | None = None
    steps: int = 5

    def init(self, F: Array) -> Carry:
        return (np.zeros_like(F),)

    def __call__(self, F: Array, eq: NormalEq, carry: Carry) -> tuple[Array, Carry]:
        (D,) = carry
        k = len(eq.gram)
        level = float(np.trace(eq.gram)) / k
        penalty = F.dtype.type(self.penalty or (level if level >= np.finfo(F.dtype).tiny else 1.0))
        inverse = np.linalg.inv(eq.gram + penalty * np.eye(k, dtype=F.dtype))  # well conditioned by the penalty
        for _ in range(self.steps):
            U = inverse @ (eq.cross + penalty * (F - D))  # U: the unconstrained copy
            F = np.maximum(U + D, 0)
            D = D + U - F
        return F, (D,)
