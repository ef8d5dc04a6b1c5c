"""Fuzzy c-means of all components of all parties (Dunn 1974): every component belongs to every centre, more or less."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from partwise.consensus.align.lap import LAP
from partwise.consensus.barycenters.clusters import Cloud, check_search, seeds
from partwise.consensus.barycenters.folded import folded
from partwise.consensus.barycenters.merged import Merged, aligned_with, placed
from partwise.consensus.plans import Alignment, checked_parts
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
        cloud = Cloud.of(small, shares)
        if centres is None:
            centres = cloud.points[seeds(cloud, len(held[0]), self.seed, 0)]
        H = _centres(held, self._settled(cloud, centres))
        return placed(aligned_with(H, held, shares, self.align), first)

    def _settled(self, cloud: Cloud, centres: Array) -> Array:
        """(P k, k): how much each point pulls at each centre, when centres stand still."""
        pull = self._pull(cloud, centres)
        for _ in range(self.iterations):
            before, centres = centres, _centres([cloud.points], pull)
            pull = self._pull(cloud, centres)
            if np.linalg.norm(centres - before) <= self.tol * np.linalg.norm(centres):
                break
        return pull

    def _pull(self, cloud: Cloud, centres: Array) -> Array:
        """(P k, k): weight_i u_ij^fuzzifier with u_ij ∝ ‖v_i − c_j‖^(−2 / (fuzzifier − 1)); a point on a centre belongs to it."""
        distance = cloud.sq_distances(centres)
        least = distance.min(axis=1, keepdims=True)
        near = np.where(distance > 0, np.divide(least, distance, where=distance > 0, out=np.ones_like(distance)), 1)
        near = near ** (1 / (self.fuzzifier - 1))
        near /= near.sum(axis=1, keepdims=True)
        return (cloud.mass[:, None] * near**self.fuzzifier).astype(cloud.points.dtype)


def _centres(parts: Sequence[Array], pull: Array) -> Array:
    """(k, m): the points' means, weighted by how much they pull; part after part, so that nothing of the size of all is made."""
    pulls = pull.reshape(len(parts), -1, pull.shape[1])
    total = sum(pulled.T @ part for part, pulled in zip(parts, pulls, strict=True))
    return total / np.maximum(pull.sum(axis=0), np.finfo(pull.dtype).tiny)[:, None]
