"""LAP: one component for one component, by the linear assignment problem (FNMF's D₁)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from partwise.currency import Array


@final
@dataclass(frozen=True)
class Lap:
    """The permutation P that makes ‖target − P source‖² least, in O(k³): of lengths that P only moves, so ⟨target, P source⟩ decides."""

    by_distance = True

    def __call__(self, target: Array, source: Array) -> Array:
        rows, columns = linear_sum_assignment(target @ source.T, maximize=True)
        return chosen(rows, columns, (len(target), len(source)))


LAP = Lap()


def chosen(rows: NDArray[np.intp], columns: NDArray[np.intp], shape: tuple[int, int]) -> Array:
    """(k, l): a one for each pair."""
    plan = np.zeros(shape)
    plan[rows, columns] = 1
    return plan
