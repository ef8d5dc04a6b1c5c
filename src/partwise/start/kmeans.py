"""The means of k clusters of rows as components (the DID paper starts so on real data, without saying more).

Clusters are sought among the coordinates of the rows in the leading k singular directions, which keeps distances well (Cohen et
al. 2015): however many steps that takes, X is not read for them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from partwise.currency import Array
from partwise.protocols import Matrix
from partwise.randomness import Purpose, generator
from partwise.start.svd import svd

STEPS = 10  # of Lloyd: more of them do not make a better start
SMOOTHING = 0.01  # of the mean row in each component: a multiplicative update could never leave a zero


def kmeans(X: Matrix, k: int, seed: int) -> Array:
    """H (k, m): the means of the clusters, in the unit √X that suits both factors. The passes of `svd` over X, and one."""
    Ut, s, _ = svd(X, min(k, *X.shape), seed)
    points = Ut.T * (s / (s[0] or 1))  # of length at most one, whatever the unit of X
    label = clusters(points, k, generator(seed, Purpose.KMEANS))
    members = np.zeros((k, len(label)), X.dtype)
    members[label, np.arange(len(label))] = 1
    size = members.sum(axis=1, keepdims=True)
    sums = X.T.times(members)
    means = (1 - SMOOTHING) * (sums / size) + SMOOTHING * (sums.sum(axis=0) / X.dtype.type(len(label)))
    return means / np.sqrt(means.max() or 1)


def clusters(points: Array, k: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """(n,): which of k clusters each of n ≥ k points (n, c) is in; none is empty."""
    label = _assigned(points, points[_seeds(points, k, rng)])
    for _ in range(STEPS):
        member = csr_array(
            (np.ones(len(points), points.dtype), label, np.arange(len(points) + 1)), shape=(len(points), k)
        )
        means = (member.T @ points) / np.bincount(label, minlength=k)[:, None].astype(points.dtype)
        label = _assigned(points, means)
    return label


def _seeds(points: Array, k: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """(k,): points drawn in proportion to their squared distance from those drawn before (k-means++)."""
    seeds = np.zeros(k, np.intp)
    nearest = np.full(len(points), np.inf)
    seeds[0] = rng.integers(len(points))
    for j in range(1, k):
        away = points - points[seeds[j - 1]]
        nearest = np.minimum(nearest, np.einsum("ij,ij->i", away, away, dtype=np.float64))
        reach = np.cumsum(nearest)
        seeds[j] = min(np.searchsorted(reach, rng.random() * reach[-1], side="right"), len(points) - 1)
    return seeds


def _assigned(points: Array, means: Array) -> NDArray[np.intp]:
    """(n,): the nearest mean; a cluster left empty takes the point farthest from its mean."""
    distance = np.einsum("ij,ij->i", means, means) - 2 * (points @ means.T)  # (n, k), up to ‖point‖²
    label = distance.argmin(axis=1)
    counts = np.bincount(label, minlength=len(means))
    if counts.all():
        return label
    left = np.einsum("ij,ij->i", points, points) + distance[np.arange(len(points)), label]
    for empty in np.flatnonzero(counts == 0):
        moved = np.where(counts[label] > 1, left, -np.inf).argmax()
        counts[label[moved]] -= 1
        counts[empty] += 1
        label[moved], left[moved] = empty, -np.inf
    return label
