"""Rows drawn by importance, each for itself: samples that contain the smaller ones, the same whoever draws which rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from partwise.currency import Array
from partwise.randomness import Purpose, columns

EVEN = 0.5  # of the importance is the same for every row, so that no weight exceeds n / (EVEN · size)


@final
@dataclass(frozen=True, eq=False)
class Importance:
    """Row i is in the sample of `size` iff u_i < π_i, where π_i = min(1, size q_i), and counts 1/π_i there.

    q_i = ½ / n + ½ ‖x_i‖² / ‖X‖² and u_i is uniform, named by (seed, i). So a sum over the sample, weighted, is right on average; a row
    that holds much of X is surely there; and a rank needs to know of the others' rows only n and ‖X‖².
    """

    sq_norms: Array  # (r,): ‖x_i‖² of the rows at hand
    n: int  # rows of the whole X
    sq_norm: float  # ‖X‖² of the whole X
    seed: int
    start: int = 0  # the first of the rows at hand
    run: int = 1  # neighbours that are drawn together, where single rows are dear to read

    def sample(self, size: float) -> tuple[NDArray[np.intp], Array]:
        """(which of the rows at hand, ascending; their weights 1/π). Expected are `size` rows of the whole X, or somewhat fewer."""
        r = len(self.sq_norms)
        run = (self.start + np.arange(r)) // self.run - self.start // self.run
        first, count = self.start // self.run, int(run[-1]) + 1 if r else 0
        of_norm = self.sq_norms / self.sq_norm if self.sq_norm > 0 else np.full(r, 1 / self.n)
        importance = np.bincount(run, EVEN / self.n + (1 - EVEN) * of_norm, count)
        chance = np.minimum(1.0, size / self.run * importance)
        drawn = columns(
            lambda rng, block: rng.random((block, 1)), (1, count), self.seed, Purpose.IMPORTANCE, start=first
        )
        index = np.flatnonzero((drawn[0] < chance)[run])
        return index, 1 / chance[run[index]]
