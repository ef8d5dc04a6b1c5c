"""One party after another into a running mean, the heaviest first. FNMF's Algorithm 3 is not in our copy of the paper: this is ours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import NamedTuple, final

import numpy as np

from partwise.consensus.align.lap import LAP
from partwise.consensus.barycenters.merged import Merged, aligned_with, placed
from partwise.consensus.plans import Alignment, checked_parts, transport
from partwise.currency import Array


class Weighed(NamedTuple):
    """Components, and how much each of them weighs already."""

    H: Array  # (k, m)
    mass: Array  # (k,)


@final
@dataclass(frozen=True)
class Greedy:
    """H ← H + weight_p (P_p H_p − H) / (weight so far), each party aligned with what there is."""

    align: Alignment = LAP

    def __call__(
        self, parts: Sequence[Array], weights: Sequence[float] | Array | None = None, first: Array | None = None
    ) -> Merged:
        held, shares = checked_parts(parts, weights)
        heaviest = np.argsort(-shares, kind="stable")
        leaves = [leaf(held[p], float(shares[p])) for p in heaviest]
        H = reduce(lambda so_far, one: joined(so_far, one, self.align), leaves).H
        return placed(aligned_with(H, held, shares, self.align), first)


def leaf(part: Array, weight: float) -> Weighed:
    """One party's components."""
    return Weighed(part, np.full(len(part), weight))


def joined(a: Weighed, b: Weighed, align: Alignment) -> Weighed:
    """Each component of a, and its partner in b, averaged by what they weigh; a component without a partner stays."""
    plan = align(a.H, b.H)
    arriving = plan @ b.mass
    total = a.mass + arriving
    share = np.divide(arriving, total, out=np.zeros_like(total), where=total > 0)[:, None].astype(a.H.dtype)
    return Weighed(a.H + share * (transport(plan, b.H) - a.H), total)
