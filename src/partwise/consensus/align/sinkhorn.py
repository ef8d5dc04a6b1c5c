"""SK: soft alignment by entropic transport (Cuturi 2013; FNMF's D₃), in potentials so that a low temperature does not underflow."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from partwise.consensus.plans import sq_distances
from partwise.currency import Array
from partwise.errors import OptionError
from partwise.kernels.transport import scalings

COOLING = 0.25  # each stage's temperature over the one before: cold problems start from the potentials of warmer ones
SCALINGS = 20  # between two absorptions of the scalings into the potentials
MARGINAL = 1e-5  # sum of the rows' deviations, relative to the mass, at which a stage ends
STAGE = 20  # absorptions in the last stage, at most


@final
@dataclass(frozen=True)
class Sinkhorn:
    """P ∈ [0, 1] with rows (and columns) that sum to one, of least ⟨P, ½‖x_i − y_j‖²⟩ − temperature · mean cost · entropy(P)."""

    temperature: float = 0.05
    by_distance = True

    def __post_init__(self) -> None:
        check_temperature(self.temperature)

    def __call__(self, target: Array, source: Array) -> Array:
        costs = 0.5 * sq_distances(target, source)
        k, l = costs.shape  # noqa: E741
        plan = coupling(costs, np.ones(k), np.full(l, k / l), self.temperature * float(costs.mean()))
        return plan / plan.sum(axis=1, keepdims=True)


def coupling(costs: Array, rows: Array, columns: Array, temperature: float) -> Array:
    """(k, l): the coupling of two marginals of one mass with the least cost − temperature · entropy; pairs may cost infinity.

    Each row and each column must have a finite cost.
    """
    if temperature <= 0:  # all costs are zero
        return np.outer(rows, columns) / columns.sum()
    f = costs.min(axis=1)
    g = (costs - f[:, None]).min(axis=0)
    stage = max(float(costs[np.isfinite(costs)].max()), temperature)
    while True:
        stage = max(stage * COOLING, temperature)
        last = stage == temperature
        plan, f, g = _equilibrium(costs, rows, columns, stage, f, g, STAGE if last else 2)
        if last:
            return plan


def _equilibrium(
    costs: Array, rows: Array, columns: Array, temperature: float, f: Array, g: Array, most: int
) -> tuple[Array, Array, Array]:
    """(plan, f, g): scalings u, v of exp((f + g − costs) / temperature), absorbed into f and g before they grow."""
    plan = np.empty_like(costs)
    for _ in range(most):
        f = _balanced(costs - g, temperature) + temperature * np.log(rows)
        kernel = np.exp((f[:, None] + g - costs) / temperature)
        u, v = scalings(kernel, rows, columns, SCALINGS)
        plan = u[:, None] * kernel * v
        f, g = f + temperature * np.log(u), g + temperature * np.log(v)
        if np.abs(plan.sum(axis=0) - columns).sum() <= MARGINAL * columns.sum():
            break
    return plan, f, g


def _balanced(costs: Array, temperature: float) -> Array:
    """(k,): −temperature · log Σ_j exp(−costs / temperature), which no temperature makes overflow."""
    least = costs.min(axis=1)
    return least - temperature * np.log(np.exp((least[:, None] - costs) / temperature).sum(axis=1))


def check_temperature(temperature: float) -> None:
    """The temperature, or a sentence."""
    if not 0 < temperature < np.inf:
        raise OptionError(
            f"temperature={temperature!r}; expected a number above 0, in units of the mean cost of a pair."
        )
