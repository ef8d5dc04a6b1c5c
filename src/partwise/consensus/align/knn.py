"""k-NN: each component goes with the mean of its nearest neighbours, which several may share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from partwise.consensus.plans import sq_distances
from partwise.currency import Array
from partwise.errors import OptionError


@final
@dataclass(frozen=True)
class Knn:
    """Row i of P has 1 / q at the q components of the source that are nearest to component i."""

    neighbours: int = 1
    by_distance = True

    def __post_init__(self) -> None:
        if isinstance(self.neighbours, bool) or not isinstance(self.neighbours, int) or self.neighbours < 1:
            raise OptionError(f"neighbours={self.neighbours!r}; expected a positive whole number.")

    def __call__(self, target: Array, source: Array) -> Array:
        q = min(self.neighbours, len(source))
        nearest = np.argsort(sq_distances(target, source), axis=1, kind="stable")[:, :q]
        plan = np.zeros((len(target), len(source)))
        np.put_along_axis(plan, nearest, 1 / q, axis=1)
        return plan
