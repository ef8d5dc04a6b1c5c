"""k-means of all components of all parties (Lloyd 1982), which nothing keeps from putting two components of one party together.

Clusters are sought on folded columns; the centres are means on all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from partwise.consensus.align.lap import LAP
from partwise.consensus.barycenters.clusters import Cloud, check_search, seeds
from partwise.consensus.barycenters.folded import folded
from partwise.consensus.barycenters.merged import Merged, aligned_with, placed
from partwise.consensus.plans import Alignment, checked_parts
from partwise.currency import Array


@final
@dataclass(frozen=True)
class Kmeans:
    """H: the centres. The alignment has no say in them; it tells afterwards whose component is where."""

    align: Alignment = LAP
    iterations: int = 50
    starts: int = 2  # draws of k-means++, beside the H before
    seed: int = 0

    def __post_init__(self) -> None:
        check_search(self.iterations, self.starts)

    def __call__(
        self, parts: Sequence[Array], weights: Sequence[float] | Array | None = None, first: Array | None = None
    ) -> Merged:
        held, shares = checked_parts(parts, weights)
        small, small_first = folded(held, first, self.seed)
        cloud = Cloud.of(small, shares)
        begin = [] if small_first is None else [small_first]
        begin += [cloud.points[seeds(cloud, len(held[0]), self.seed, attempt)] for attempt in range(self.starts)]
        label, _ = min((self._lloyd(cloud, centres) for centres in begin), key=lambda found: found[1])
        H = _means(held, cloud.mass, label, held[0] if first is None else first)
        return placed(aligned_with(H, held, shares, self.align), first)

    def _lloyd(self, cloud: Cloud, centres: Array) -> tuple[NDArray[np.intp], float]:
        """(whose centre each point is at, Σ weight · squared distance); a cluster without members keeps its centre."""
        label, distance = np.full(len(cloud.points), -1), cloud.sq_distances(centres)
        for _ in range(self.iterations):
            before, label = label, distance.argmin(axis=1)
            if np.array_equal(label, before):
                break
            centres = _means([cloud.points], cloud.mass, label, centres)
            distance = cloud.sq_distances(centres)
        return label, float(cloud.mass @ distance.min(axis=1))


def _means(parts: Sequence[Array], mass: Array, label: NDArray[np.intp], centres: Array) -> Array:
    """(k, m): the mean of each cluster, weighted by `mass` (P k,); part after part, so that nothing of the size of all is made."""
    total = np.zeros_like(centres)
    held = np.bincount(label, weights=mass, minlength=len(centres))[:, None].astype(centres.dtype)
    each = len(label) // len(parts)
    for part, labels, masses in zip(parts, label.reshape(-1, each), mass.reshape(-1, each), strict=True):
        member = csr_array((masses.astype(part.dtype), (labels, np.arange(each))), shape=(len(centres), each))
        total += member @ part
    return np.where(held > 0, total / np.where(held > 0, held, 1), centres)
