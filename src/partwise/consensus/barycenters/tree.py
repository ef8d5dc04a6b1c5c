"""Pairs of parties merged, then pairs of pairs, and so on. FNMF's Algorithm 4 is not in our copy of the paper: this is ours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

from partwise.consensus.align.lap import LAP
from partwise.consensus.barycenters.greedy import Weighed, joined, leaf
from partwise.consensus.barycenters.merged import Merged, aligned_with, placed
from partwise.consensus.plans import Alignment, checked_parts
from partwise.currency import Array


@final
@dataclass(frozen=True)
class Tree:
    """A balanced tree over the parties in their order; each merger is a mean weighted by what lies below it."""

    align: Alignment = LAP

    def __call__(
        self, parts: Sequence[Array], weights: Sequence[float] | Array | None = None, first: Array | None = None
    ) -> Merged:
        held, shares = checked_parts(parts, weights)
        H = self._merged([leaf(part, float(weight)) for part, weight in zip(held, shares, strict=True)]).H
        return placed(aligned_with(H, held, shares, self.align), first)

    def _merged(self, leaves: list[Weighed]) -> Weighed:
        if len(leaves) == 1:
            return leaves[0]
        middle = len(leaves) // 2
        return joined(self._merged(leaves[:middle]), self._merged(leaves[middle:]), self.align)
