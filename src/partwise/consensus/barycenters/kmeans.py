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
from partwise.consensus.barycenters.clusters import check_search, points, seeds
from partwise.consensus.barycenters.folded import folded
from partwise.consensus.barycenters.merged import Merged, aligned_with, placed
from partwise.consensus.plans import Alignment, checked_parts, sq_distances
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
        cloud, mass = points(small, shares)
        begin = [] if small_first is None else [small_first]
        begin += [cloud[seeds(cloud, mass, len(held[0]), self.seed, attempt)] for attempt in range(self.starts)]
        label, _ = min((self._lloyd(cloud, mass, centres) for centres in begin), key=lambda found: found[1])
        if small is not held:
            cloud, mass = points(held, shares)
        H = _means(cloud, mass, label, held[0] if first is None else first)
        return placed(aligned_with(H, held, shares, self.align), first)

    def _lloyd(self, cloud: Array, mass: Array, centres: Array) -> tuple[NDArray[np.intp], float]:
        """(whose centre each point is at, Σ weight · squared distance); a cluster without members keeps its centre."""
        label = np.full(len(cloud), -1)
        for _ in range(self.iterations):
            before, distance = label, sq_distances(cloud, centres)
            label = distance.argmin(axis=1)
            if np.array_equal(label, before):
                break
            centres = _means(cloud, mass, label, centres)
        return label, float(mass @ sq_distances(cloud, centres).min(axis=1))


def _means(cloud: Array, mass: Array, label: NDArray[np.intp], centres: Array) -> Array:
    """(k, m): the weighted mean of each cluster."""
    rows = np.arange(len(cloud))
    member = csr_array((mass.astype(cloud.dtype), (label, rows)), shape=(len(centres), len(cloud)))
    held = np.bincount(label, weights=mass, minlength=len(centres))[:, None].astype(cloud.dtype)
    return np.where(held > 0, (member @ cloud) / np.where(held > 0, held, 1), centres)
