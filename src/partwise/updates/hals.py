"""HALS: exact minimisation component by component (Cichocki & Phan 2009), several sweeps on one pair (Gillis & Glineur 2012)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from partwise.currency import Array, NormalEq
from partwise.kernels.hals import hals_ball_sweep, hals_sweeps
from partwise.updates.memoryless import Memoryless


@final
@dataclass(frozen=True)
class Hals(Memoryless):
    """f_j ← max(0, f_j + (cross_j − gram_j F) / gram_jj) for each component j; a dead one (gram_jj = 0) stays as it is.

    The number of sweeps is fixed beforehand, so that the result does not depend on how the columns are cut.
    """

    sweeps: int = 1

    def solve(self, F: Array, eq: NormalEq) -> Array:
        moved = F.copy(order="C")
        hals_sweeps(moved, eq.gram, eq.cross, self.sweeps)
        return moved


@final
@dataclass(frozen=True)
class BallHals(Memoryless):
    """HALS with ‖f_j‖ ≤ 1: each component is still minimised exactly, so the objective still falls.

    For the factor without a penalty when the other one has one: else the penalty is escaped by rescaling. Needs whole components.
    """

    def solve(self, F: Array, eq: NormalEq) -> Array:
        moved = F.copy(order="C")
        hals_ball_sweep(moved, eq.gram, eq.cross)
        return moved
