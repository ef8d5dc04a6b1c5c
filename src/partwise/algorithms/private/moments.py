"""Private parts from second moments: five releases, and everything after them is free (ours).

    1     b = mean of x + noise. Of many features only those with the largest b are kept, fewer the more noise there is;
          u = [b]₊ / ‖[b]₊‖ is what all records share
    2, 4  a histogram of ‖z‖, z = x with its known directions made short; C = the length that some records do not reach
    3, 5  S = mean of z zᵀ, ‖z‖ ≤ C, + noise. The first knows only u; the second all directions that stood out of the first, so
          that its clip is tighter and its noise less. Of both together the eigenvalues that stand out of the noise, cleaned,
          give the second moment of x

then rows are simulated that have this mean and second moment, and NMF of the simulated rows gives H.

The least-squares objective of NMF sees little of the data but its second moment. And while every round of an iteration must be paid
for, these releases are made once; how many iterations are made on the simulated rows costs nothing. What each choice here was
measured against: docs/decisions/0014-private-defaults.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import final

import numpy as np

from partwise.algorithms.private.query import Knowledge, Query, apart, unit_rows
from partwise.algorithms.private.records import mean
from partwise.algorithms.private.shrinkage import cleaned_symmetric, edge
from partwise.algorithms.private.simulation import parts_of_simulated
from partwise.algorithms.private.views import View, length_histogram, moment, shrinks
from partwise.currency import Array, Arrays
from partwise.privacy.clip import Statistics, rounding_allowance
from partwise.privacy.vectors import pack, unpack_gram

MEAN, LENGTHS, MOMENT, LENGTHS_AGAIN, MOMENT_AGAIN = range(1, 6)
EDGES = np.geomspace(0.05, 1.0, 20)  # of the histogram: a row is no longer than 1
COUNTING = 0.005  # share of μ² of each histogram
WIDE = 2000  # features: of more, only some are kept, and no more than this
FEWEST = 64  # features that are kept in any case
KEPT = 0.1  # times n μ: how many others
DIRECTIONS = 64  # made short, at most; rows of zeros stand for those that were not seen


@final
@dataclass(frozen=True)
class Moments:
    """Message: m, 20 and l (l + 1) / 2 numbers, and these two once more; l ≤ 2000 features are kept. Memory: some l²."""

    known: Knowledge
    start_share: float = 0.1  # of μ², for the mean
    first_share: float = 0.2  # of what is left for the moments, for the first of the two
    quantile: float = 0.25  # of the records that are not clipped

    rounds = 5

    def opening(self) -> Arrays:
        return {}

    @property
    def width(self) -> int:
        """l: how many features are kept. Public before anything is released, as parties must know what will be asked."""
        if self.known.m <= WIDE:
            return self.known.m
        return int(min(max(KEPT * self.known.n * self.known.mu, FEWEST), WIDE))

    def needs(self, t: int) -> Mapping[str, tuple[int, ...]]:
        if t == MEAN:
            return {}
        r = 1 if t in (LENGTHS, MOMENT) else min(DIRECTIONS, self.width)
        view = {"features": (self.width,), "basis": (r, self.width), "shrink": (r,)}
        return view if t in (LENGTHS, LENGTHS_AGAIN) else {**view, "clip": ()}

    def entries(self, t: int) -> int:
        if t == MEAN:
            return self.known.m
        return len(EDGES) if t in (LENGTHS, LENGTHS_AGAIN) else self.width * (self.width + 1) // 2

    def query(self, public: Arrays, t: int) -> Query:
        known, share = self.known, self._share(t)
        sensitivity = self._sensitivity(1.0) + rounding_allowance(known.n, 1.0)
        if t == MEAN:
            return Query("mean", self.entries(t), sensitivity, share, lambda X: mean(X, known))  # type: ignore[arg-type]
        view = View.of(public)
        if t in (LENGTHS, LENGTHS_AGAIN):  # one record leaves a bin and enters another
            return Query("histogram of lengths", self.entries(t), sensitivity, share,
                         lambda X: length_histogram(X, known, view, EDGES))  # type: ignore[arg-type]  # fmt: skip
        clip = float(public["clip"])
        sensitivity = self._sensitivity(clip**2) + rounding_allowance(known.n + 4 * view.width, 1.0)
        return Query("second moment", self.entries(t), sensitivity, share,
                     lambda X: pack(moment(X, known, view, clip), None))  # type: ignore[arg-type]  # fmt: skip

    def learn(self, public: Arrays, noisy: Array, scale: float, t: int) -> Arrays:
        if t == MEAN:
            return self._direction(noisy, scale)
        if t in (LENGTHS, LENGTHS_AGAIN):
            return {**public, "clip": self._clip(noisy)}
        if t == MOMENT:
            return self._directions(public, noisy, scale)
        return self._parts(public, noisy, scale)

    def components(self, public: Arrays) -> Array:
        """(k, m), zero for features that were not kept."""
        found = parts_of_simulated(public["root"], public["direction"], self.known)
        H = np.zeros((self.known.k, self.known.m))
        H[:, public["features"].astype(np.int64)] = apart(unit_rows(found, public["direction"]), self.known)
        return unit_rows(H, H)

    def _direction(self, noisy: Array, scale: float) -> Arrays:
        """Which features are kept, and u."""
        features = np.sort(np.argsort(-noisy, kind="stable")[: self.width])
        b = np.maximum(noisy[features], 0.0)
        length = float(np.linalg.norm(b))
        u = b / length if length > 0 else np.full(len(b), len(b) ** -0.5)
        common = min(max(float(b @ b) - len(b) * scale**2, 0.05), 1.0)  # of ‖x‖² ≤ 1, along u
        shrink = shrinks(np.array([common]), 1 - common, self._noise(len(b), MOMENT), EDGES[0])
        return {**View(features, u[None], shrink).public(), "direction": u}

    def _clip(self, noisy: Array) -> Array:
        """The edge below which `quantile` of the records lie, as far as a noisy histogram tells."""
        cumulated = np.cumsum(np.maximum(noisy, 0.0))
        place = int(np.searchsorted(cumulated, self.quantile * max(cumulated[-1], np.finfo(float).tiny)))
        return np.array(EDGES[min(place, len(EDGES) - 1)])

    def _directions(self, public: Arrays, noisy: Array, scale: float) -> Arrays:
        """All that stood out of the first moment, to be made short in the second."""
        view = View.of(public)
        S = unpack_gram(noisy, view.width)
        seen = cleaned_symmetric(S, scale)
        rest = max(float(np.trace(S)) - float(seen.values.sum()), 0.0)
        root = view.unshrunk(seen.vectors * np.sqrt(seen.values)[:, None])
        _, lengths, found = np.linalg.svd(root, full_matrices=False)
        r = min(DIRECTIONS, view.width)
        values, basis = np.zeros(r), np.zeros((r, view.width))
        values[: len(lengths)], basis[: len(lengths)] = lengths[:r] ** 2, found[:r]
        shrink = shrinks(values, rest, self._noise(view.width, MOMENT_AGAIN), EDGES[0])
        return {
            **public,
            **View(view.features, basis, shrink).public(),
            "first": view.back(S),
            "scale": np.array(scale),
        }

    def _parts(self, public: Arrays, noisy: Array, scale: float) -> Arrays:
        """Both moments, each weighed by how little noise it has, cleaned; and what is simulated after them."""
        view, first = View.of(public), float(public["scale"]) ** 2
        weight = first / (first + scale**2)
        S = weight * unpack_gram(noisy, view.width) + (1 - weight) * view.of_moment(public["first"])
        seen = cleaned_symmetric(S, weight**0.5 * scale)
        root = view.unshrunk(seen.vectors * np.sqrt(seen.values)[:, None])
        return {"features": view.features, "direction": public["direction"], "root": root}

    def _share(self, t: int) -> float:
        """Of μ²."""
        moments = 1 - self.start_share - 2 * COUNTING
        return {
            MEAN: self.start_share, LENGTHS: COUNTING, LENGTHS_AGAIN: COUNTING, MOMENT: self.first_share * moments,
            MOMENT_AGAIN: (1 - self.first_share) * moments,
        }[t]  # fmt: skip

    def _sensitivity(self, bound: float) -> float:
        """Of a mean of nonnegative things no longer than `bound`."""
        return Statistics(self.known.n, 1.0, bound, neighbours=self.known.neighbours).cross_alone

    def _noise(self, width: int, t: int) -> float:
        """The edge of a second moment's noise, for a clip of one."""
        return edge(self._sensitivity(1.0) / (self.known.mu * self._share(t) ** 0.5), width)
