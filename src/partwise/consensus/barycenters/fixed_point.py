"""The fixed-point barycenter (FNMF, Algorithm 1): align all parts with H, average them, and again.

    paper                     here
    V_j, V̄, 𝒫                 parts[p], H, plans
    P_j ← arg D_p(V̄, V_j)     align(H, parts[p])
    V̄ ← 1/|𝒫| Σ P_j V_j       mean_of(plans, …), weighted

The plain mean, which the paper starts from, is a poor start where parts are permuted. So it is one of several; the others are what
H was before and some of the parties. They compete on folded columns, which keep distances well, and the best is finished on all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from partwise.consensus.align.lap import LAP
from partwise.consensus.barycenters.folded import folded
from partwise.consensus.barycenters.merged import Merged, mean_of, measured, placed
from partwise.consensus.plans import Alignment, checked_parts
from partwise.currency import Array
from partwise.errors import OptionError

STILL = 1e-4  # a plan whose entries move less stands still
SETTLED = 1e-3  # an H that moves by less of its length: soft plans go on trembling


@final
@dataclass(frozen=True)
class FixedPoint:
    """Algorithm 1 from several starts; the lowest objective is kept."""

    align: Alignment = LAP
    iterations: int = 30
    starts: int = 3  # parties that are starts, beside the mean
    seed: int = 0

    def __post_init__(self) -> None:
        if self.iterations < 1 or self.starts < 0:
            raise OptionError(
                f"iterations={self.iterations!r}, starts={self.starts!r}; expected at least 1 and at least 0."
            )

    def __call__(
        self, parts: Sequence[Array], weights: Sequence[float] | Array | None = None, first: Array | None = None
    ) -> Merged:
        held, shares = checked_parts(parts, weights)
        small, small_first = folded(held, first, self.seed) if self.align.by_distance else (held, first)
        tried = [self._fixed_point(plans, small, shares) for plans in self._starts(small, shares, small_first)]
        best = min(tried, key=lambda merged: merged.objective)
        return placed(best if small is held else self._fixed_point(best.plans, held, shares), first)

    def _starts(self, parts: list[Array], weights: Array, first: Array | None) -> list[Sequence[Array]]:
        """Plans to begin with: of the mean, of the H before, and of the parties that weigh most."""
        heaviest = np.argsort(-weights, kind="stable")[: self.starts]
        models = ([] if first is None else [first]) + [parts[p] for p in heaviest]
        return [[np.eye(len(parts[0]))] * len(parts), *([self.align(H, part) for part in parts] for H in models)]

    def _fixed_point(self, plans: Sequence[Array], parts: list[Array], weights: Array) -> Merged:
        H = mean_of(plans, parts, weights, parts[0])
        for _ in range(self.iterations):
            before = plans
            plans = [self.align(H, part) for part in parts]
            if all(np.abs(new - old).max() <= STILL for new, old in zip(plans, before, strict=True)):
                break
            last, H = H, mean_of(plans, parts, weights, H)
            if np.linalg.norm(H - last) <= SETTLED * np.linalg.norm(H):
                break
        return measured(H, parts, weights, plans)
