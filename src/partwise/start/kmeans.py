"""The means of k clusters of rows as components (the DID paper starts so on real data, without saying more).

Clusters are sought among the coordinates of the rows in the leading k singular directions, which keeps distances well (Cohen et
al. 2015): however many steps that takes, X is not read for them. Over ranks each keeps the points of its own rows.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from partwise.algorithms.distributed.products import Products
from partwise.comm import Side
from partwise.currency import Array
from partwise.randomness import Purpose, generator
from partwise.start.svd import svd

STEPS = 10  # of Lloyd: more of them do not make a better start
SMOOTHING = 0.01  # of the mean row in each component: a multiplicative update could never leave a zero


def kmeans(X: Products, k: int, seed: int) -> Array:
    """H (k, m): the means of the clusters, in the unit √X that suits both factors. The passes of `svd` over X, and one."""
    Ut, s, _ = svd(X, min(k, *X.shape), seed)
    points = Ut.T * (s / (s[0] or 1))  # of length at most one, whatever the unit of X
    label = clusters(points, k, generator(seed, Purpose.KMEANS), X.rows)
    members = np.zeros((k, len(label)), X.dtype)
    members[label, np.arange(len(label))] = 1
    size = X.rows.sum(members.sum(axis=1, keepdims=True)).astype(X.dtype)
    sums = X.T.times(members)
    means = (1 - SMOOTHING) * (sums / size) + SMOOTHING * (sums.sum(axis=0) / X.dtype.type(X.rows.size))
    return means / X.dtype.type(X.columns.most(means) ** 0.5 or 1)


def clusters(points: Array, k: int, rng: np.random.Generator, side: Side) -> NDArray[np.intp]:
    """(n_p,): which of k clusters each of this rank's points (n_p, c) is in, of n ≥ k everywhere; none is empty."""
    label = _assigned(points, _seeds(points, k, rng, side), side)
    for _ in range(STEPS):
        member = csr_array(
            (np.ones(len(points), points.dtype), label, np.arange(len(points) + 1)), shape=(len(points), k)
        )
        sums = side.sum(np.column_stack([member.T @ points, np.bincount(label, minlength=k)]))
        label = _assigned(points, (sums[:, :-1] / sums[:, -1:]).astype(points.dtype), side)
    return label


def _seeds(points: Array, k: int, rng: np.random.Generator, side: Side) -> Array:
    """(k, c): points drawn in proportion to their squared distance from those drawn before (k-means++)."""
    seeds = np.zeros((k, points.shape[1]), points.dtype)
    nearest = np.full(len(points), np.inf)
    first = int(rng.integers(side.size)) - side.part.start
    seeds[0] = _shown(points, first if 0 <= first < len(points) else None, side)
    for j in range(1, k):
        away = points - seeds[j - 1]
        nearest = np.minimum(nearest, np.einsum("ij,ij->i", away, away, dtype=np.float64))
        seeds[j] = _shown(points, _drawn(np.cumsum(nearest), rng.random(), side), side)
    return seeds


def _drawn(reach: Array, chance: float, side: Side) -> int | None:
    """Where `chance` of the way along everyone's distances ends, `reach` being the sums of this rank's; None: with another rank."""
    ends = np.cumsum(side.each(reach[-1] if len(reach) else 0.0))
    last = int(np.flatnonzero(side.widths)[-1])
    owner = min(int(np.searchsorted(ends, chance * ends[-1], side="right")), last)
    if owner != side.comm.rank:
        return None
    before = ends[owner - 1] if owner else 0.0
    return min(int(np.searchsorted(reach, chance * ends[-1] - before, side="right")), len(reach) - 1)


def _shown(points: Array, mine: int | None, side: Side) -> Array:
    """(c,): one point, of whichever rank it is."""
    return side.sum(np.zeros(points.shape[1]) if mine is None else points[mine]).astype(points.dtype)


def _assigned(points: Array, means: Array, side: Side) -> NDArray[np.intp]:
    """(n_p,): the nearest mean; a cluster left empty takes the point farthest from its mean."""
    distance = np.einsum("ij,ij->i", means, means) - 2 * (points @ means.T)  # (n_p, k), up to ‖point‖²
    label = distance.argmin(axis=1)
    counts = side.sum(np.bincount(label, minlength=len(means)))
    if counts.all():
        return label
    left = np.einsum("ij,ij->i", points, points) + distance[np.arange(len(points)), label]
    for empty in np.flatnonzero(counts == 0):
        open_to = np.where(counts[label] > 1, left, -np.inf)
        farthest = side.each(float(open_to.max(initial=-np.inf)))
        leaves = np.zeros(len(means))
        if int(farthest.argmax()) == side.comm.rank:
            moved = int(open_to.argmax())
            leaves[label[moved]] = 1
            label[moved], left[moved] = empty, -np.inf
        counts -= side.sum(leaves)
        counts[empty] += 1
    return label
