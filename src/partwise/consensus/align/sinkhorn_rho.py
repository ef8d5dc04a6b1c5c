"""SK_ρ: soft alignment where the correlation is significant, with a node for what stays unaligned."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from partwise.consensus.align.personal import check_test, personal_costs
from partwise.consensus.align.sinkhorn import check_temperature, coupling
from partwise.currency import Array


@final
@dataclass(frozen=True)
class SinkhornRho:
    """Entropic transport at cost 1 − r over the pairs that pass Fisher's z-test; a component may go to the unaligned node instead.

    A component more than half of which went there is left unaligned; rows of the others are scaled to sum to one.
    """

    temperature: float = 0.05
    level: float = 0.05
    floor: float = 0.0
    by_distance = False

    def __post_init__(self) -> None:
        check_temperature(self.temperature)
        check_test(self.level, self.floor)

    def __call__(self, target: Array, source: Array) -> Array:
        k, l = len(target), len(source)  # noqa: E741
        costs, unaligned = personal_costs(target, source, self.level, self.floor)
        finite = costs[np.isfinite(costs)]
        table = np.block([[costs, np.full((k, 1), unaligned)], [np.full((1, l), unaligned), np.zeros((1, 1))]])
        rows, columns = np.append(np.ones(k), l), np.append(np.ones(l), k)
        typical = float(finite.mean()) if finite.size else 1.0
        plan = coupling(table, rows, columns, self.temperature * typical)[:k, :l]
        mass = plan.sum(axis=1, keepdims=True)
        return np.divide(plan, mass, out=np.zeros_like(plan), where=mass > 0.5)
