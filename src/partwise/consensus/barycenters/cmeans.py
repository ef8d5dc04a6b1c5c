"""Fuzzy c-means of all components of all parties (Dunn 1974): every component belongs to every centre, more or less."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from partwise.consensus.align.lap import LAP
from partwise.consensus.barycenters.clusters import check_search, points, seeds
from partwise.consensus.barycenters.folded import folded
from partwise.consensus.barycenters.merged import Merged, aligned_with, placed
from partwise.consensus.plans import Alignment, checked_parts, sq_distances
from partwise.currency import Array
from partwise.errors import OptionError


@final
@dataclass(frozen=True)
class Cmeans:
    """H: the centres c minimising Σ_i weight_i Σ_j u_ij^fuzzifier ‖v_i − c_j‖², with Σ_j u_ij = 1."""

    align: Alignment = LAP
    iterations: int = 60
    fuzzifier: float = 1.5
    tol: float = 1e-5  # of the centres' size: they stand still
    seed: int = 0

    def __post_init__(self) -> None:
        check_search(self.iterations, 1)
        if not 1 < self.fuzzifier < np.inf:
            raise OptionError(f"fuzzifier={self.fuzzifier!r}; expected a number above 1.")

    def __call__(
        self, parts: Sequence[Array], weights: Sequence[float] | Array | None = None, first: Array | None = None
    ) -> Merged:
        held, shares = checked_parts(parts, weights)
        small, centres = folded(held, first, self.seed)
        cloud, mass = points(small, shares)
        if centres is None:
            centres = cloud[seeds(cloud, mass, len(held[0]), self.seed, 0)]
        pull = self._settled(cloud, mass, centres)
        if small is not held:
            cloud, _ = points(held, shares)
        return placed(aligned_with(_centres(cloud, pull), held, shares, self.align), first)

    def _settled(self, cloud: Array, mass: Array, centres: Array) -> Array:
        """(P k, k): how much each point pulls at each centre, when centres stand still."""
        pull = self._pull(cloud, mass, centres)
        for _ in range(self.iterations):
            before, centres = centres, _centres(cloud, pull)
            pull = self._pull(cloud, mass, centres)
            if np.linalg.norm(centres - before) <= self.tol * np.linalg.norm(centres):
                break
        return pull

    def _pull(self, cloud: Array, mass: Array, centres: Array) -> Array:
        return (mass[:, None] * self._memberships(cloud, centres) ** self.fuzzifier).astype(cloud.dtype)

    def _memberships(self, cloud: Array, centres: Array) -> Array:
        """(P k, k): u_ij ∝ ‖v_i − c_j‖^(−2 / (fuzzifier − 1)); a point on a centre belongs to it."""
        distance = sq_distances(cloud, centres)
        least = distance.min(axis=1, keepdims=True)
        nearness = np.where(distance > 0, np.divide(least, distance, where=distance > 0, out=np.ones_like(distance)), 1)
        nearness **= 1 / (self.fuzzifier - 1)
        return nearness / nearness.sum(axis=1, keepdims=True)


def _centres(cloud: Array, pull: Array) -> Array:
    """(k, m): the points' means, weighted by how much they pull."""
    return (pull.T @ cloud) / np.maximum(pull.sum(axis=0), np.finfo(cloud.dtype).tiny)[:, None]
