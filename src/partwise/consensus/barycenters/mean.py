"""The plain mean: components are taken to be in the same order everywhere (FedAvg)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from partwise.consensus.barycenters.merged import Merged, mean_of, measured
from partwise.consensus.plans import checked_parts
from partwise.currency import Array


@final
@dataclass(frozen=True)
class Mean:
    """H = Σ_p weight_p H_p; every plan is the identity."""

    def __call__(
        self, parts: Sequence[Array], weights: Sequence[float] | Array | None = None, first: Array | None = None
    ) -> Merged:
        held, shares = checked_parts(parts, weights)
        plans = [np.eye(len(held[0]))] * len(held)
        return measured(mean_of(plans, held, shares, held[0]), held, shares, plans)
