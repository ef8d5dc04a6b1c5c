"""LAP_ρ: one for one where the correlation is significant; other components stay the party's own (FNMF's D₂)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from scipy.optimize import linear_sum_assignment

from partwise.consensus.align.lap import chosen
from partwise.consensus.align.personal import check_test, personal_costs
from partwise.currency import Array


@final
@dataclass(frozen=True)
class LapRho:
    """The partial permutation P that makes Σ (1 − r) least over the pairs that pass Fisher's z-test at `level`."""

    level: float = 0.05
    floor: float = 0.0  # correlations must be significantly above this
    by_distance = False

    def __post_init__(self) -> None:
        check_test(self.level, self.floor)

    def __call__(self, target: Array, source: Array) -> Array:
        k, l = len(target), len(source)  # noqa: E741
        costs, unaligned = personal_costs(target, source, self.level, self.floor)
        rows, columns = linear_sum_assignment(np.hstack([costs, np.full((k, k), unaligned)]))
        pairs = columns < l
        return chosen(rows[pairs], columns[pairs], (k, l))
