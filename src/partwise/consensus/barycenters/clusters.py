"""All components of all parties as points: the starts (k-means++) and distances that k-means and fuzzy c-means share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from partwise.consensus.plans import sq_lengths
from partwise.currency import Array
from partwise.errors import OptionError
from partwise.randomness import Purpose, generator


class Cloud(NamedTuple):
    """The components of P parties, one under the other; distances need their lengths, which are measured once."""

    points: Array  # (P k, m)
    mass: Array  # (P k,): the parties' weights
    squares: Array  # (P k,): ‖v_i‖² in float64

    @classmethod
    def of(cls, parts: Sequence[Array], weights: Array) -> Cloud:
        """Of the parties' H_p, weighted."""
        points = np.concatenate(parts)
        return cls(points, np.repeat(weights, len(parts[0])), sq_lengths(points))

    def sq_distances(self, centres: Array) -> Array:
        """(P k, l): ‖v_i − c_j‖² in float64, never below zero."""
        distance = (self.points @ centres.T).astype(np.float64, copy=False)
        distance *= -2
        distance += self.squares[:, None]
        distance += sq_lengths(centres)
        return np.maximum(distance, 0, out=distance)


def seeds(cloud: Cloud, k: int, seed: int, attempt: int) -> list[int]:
    """k points drawn in proportion to weight and squared distance from those drawn before (k-means++)."""
    rng, mass = generator(seed, Purpose.BARYCENTER, attempt), cloud.mass
    drawn = [_drawn(rng, mass)]
    nearest = cloud.sq_distances(cloud.points[drawn])[:, 0]
    for _ in range(1, k):
        drawn.append(_drawn(rng, mass * nearest if (mass * nearest).any() else mass))
        nearest = np.minimum(nearest, cloud.sq_distances(cloud.points[drawn[-1:]])[:, 0])
    return drawn


def _drawn(rng: np.random.Generator, mass: Array) -> int:
    reach = np.cumsum(mass)
    return int(min(np.searchsorted(reach, rng.random() * reach[-1], side="right"), len(mass) - 1))


def check_search(iterations: int, starts: int) -> None:
    """The options of the search, or a sentence."""
    if iterations < 1 or starts < 1:
        raise OptionError(f"iterations={iterations!r}, starts={starts!r}; expected positive whole numbers.")
