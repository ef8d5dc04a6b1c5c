"""All components of all parties as points: the starts (k-means++) and distances that k-means and fuzzy c-means share."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from partwise.consensus.plans import sq_distances
from partwise.currency import Array
from partwise.errors import OptionError
from partwise.randomness import Purpose, generator


def points(parts: Sequence[Array], weights: Array) -> tuple[Array, Array]:
    """((P k, m), (P k,)): all components, and their weights."""
    return np.concatenate(parts), np.repeat(weights, len(parts[0]))


def seeds(cloud: Array, weights: Array, k: int, seed: int, attempt: int) -> list[int]:
    """k points drawn in proportion to weight and squared distance from those drawn before (k-means++)."""
    rng = generator(seed, Purpose.BARYCENTER, attempt)
    drawn = [_drawn(rng, weights)]
    nearest = sq_distances(cloud, cloud[drawn])[:, 0]
    for _ in range(1, k):
        drawn.append(_drawn(rng, weights * nearest if (weights * nearest).any() else weights))
        nearest = np.minimum(nearest, sq_distances(cloud, cloud[drawn[-1:]])[:, 0])
    return drawn


def _drawn(rng: np.random.Generator, mass: Array) -> int:
    reach = np.cumsum(mass)
    return int(min(np.searchsorted(reach, rng.random() * reach[-1], side="right"), len(mass) - 1))


def check_search(iterations: int, starts: int) -> None:
    """The options of the search, or a sentence."""
    if iterations < 1 or starts < 1:
        raise OptionError(f"iterations={iterations!r}, starts={starts!r}; expected positive whole numbers.")
