"""Private parts from the second moment of the data: three releases, and everything after them is free (ours).

    1   b = mean of x + noise; u = [b]₊ / ‖[b]₊‖ is what all records share
    2   a histogram of ‖z‖, z = x with its part along u made short; C = the length that a quarter of the records do not reach
    3   S = mean of z zᵀ, ‖z‖ ≤ C, + noise; the eigenvalues of S that stand out of the noise, cleaned, give the second moment of x

    then rows are simulated that have this mean and second moment, and NMF of the simulated rows gives H.

The least-squares objective of NMF sees little of the data but its second moment: with no noise at all, the parts of simulated
faces fit the real ones as well as parts fitted to them do, to 5 % (docs/private.md). And while every round of an iteration must be
paid for, these three releases are made once; how many iterations are made on the simulated rows costs nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from partwise.algorithms.private.query import Knowledge, Query, random_components, unit_rows
from partwise.algorithms.private.records import Metric, length_histogram, mean, moment
from partwise.algorithms.private.shrinkage import cleaned_symmetric, edge, positive_part
from partwise.algorithms.single.methods import Problem, method
from partwise.currency import Array, Arrays
from partwise.data import as_matrix
from partwise.privacy.clip import Statistics, rounding_allowance
from partwise.privacy.vectors import pack, unpack_gram
from partwise.randomness import Purpose, generator

MEAN, HISTOGRAM, MOMENT = 1, 2, 3
EDGES = np.geomspace(0.1, 1.0, 16)  # of the histogram: a row is no longer than 1
MARGIN = 2.5  # by how much the part along u must stand out of the noise of release 3
STEPS = 100  # of HALS on the simulated rows


@final
@dataclass(frozen=True)
class Moments:
    """Message: m, 16 and m (m + 1) / 2 numbers. Memory: m². For wide data take "residual" or "plain"."""

    known: Knowledge
    shares: tuple[float, float, float] = (0.1, 0.01, 0.89)  # of μ²: mean, histogram, second moment
    quantile: float = 0.25

    rounds = 3

    def opening(self) -> Arrays:
        return {}

    def needs(self, t: int) -> Mapping[str, tuple[int, ...]]:
        asked = {"direction": (self.known.m,), "shrink": (), "clip": ()}
        return {} if t == MEAN else {name: asked[name] for name in list(asked)[:t]}

    def entries(self, t: int) -> int:
        m = self.known.m
        return {MEAN: m, HISTOGRAM: len(EDGES), MOMENT: m * (m + 1) // 2}[t]

    def query(self, public: Arrays, t: int) -> Query:
        known, share = self.known, self.shares[t - 1]
        if t == MEAN:
            sensitivity = Statistics(known.n, 1.0, 1.0, neighbours=known.neighbours).cross_alone
            return Query(
                "mean", self.entries(t), sensitivity + rounding_allowance(known.n, 1.0), share, lambda X: mean(X, known)
            )
        metric = Metric(public["direction"][None], public["shrink"][None])
        if t == HISTOGRAM:  # one record leaves a bin and enters another
            worst = 2**0.5 if known.neighbours == "replace" else 1.0
            sensitivity = worst / known.n + rounding_allowance(known.n, 1.0)
            return Query(
                "histogram of lengths",
                self.entries(t),
                sensitivity,
                share,
                lambda X: length_histogram(X, known, metric, EDGES),
            )
        clip = float(public["clip"])
        sensitivity = Statistics(known.n, clip, 1.0, neighbours=known.neighbours).gram_alone
        allowance = rounding_allowance(known.n + 4 * known.m, 1.0)
        return Query(
            "second moment", self.entries(t), sensitivity + allowance, share,
            lambda X: pack(moment(X, known, metric, clip), None),
        )  # fmt: skip

    def learn(self, public: Arrays, noisy: Array, scale: float, t: int) -> Arrays:
        if t == MEAN:
            return self._direction(noisy, scale)
        if t == HISTOGRAM:
            return {**public, "clip": self._clip(noisy)}
        metric = Metric(public["direction"][None], public["shrink"][None])
        seen = cleaned_symmetric(unpack_gram(noisy, self.known.m), scale)
        root = metric.unshrunk(seen.vectors * np.sqrt(seen.values)[:, None])
        return {**public, "root": root}

    def components(self, public: Arrays) -> Array:
        """NMF of simulated rows, by the steps of plain HALS; the seed is public."""
        k, seed = self.known.k, self.known.seed
        X = as_matrix(simulated(public["root"], public["direction"], max(1000, 40 * k), seed))
        hals = method("hals", Problem(X.shape, X.nnz, k, seed=seed), {})
        Wt = np.full((k, X.shape[0]), 1.0 / k)
        state = hals.init(X, Wt, random_components(self.known))
        for t in range(1, STEPS + 1):
            state = hals.step(X, state, t)
        return unit_rows(state.H, public["direction"])

    def _direction(self, noisy: Array, scale: float) -> dict[str, Any]:
        """u, and by how much to shorten what lies along it: so that it still stands out of the noise to come."""
        known = self.known
        b = np.maximum(noisy, 0.0)
        length = float(np.linalg.norm(b))
        u = b / length if length > 0 else np.full(known.m, known.m**-0.5)
        common = min(max(float(noisy @ noisy) - known.m * scale**2, 0.05), 1.0)  # of ‖x‖² ≤ 1, along u
        noise, shrink = 0.0, 1.0
        for _ in range(20):  # the clip will be about the length that is left, and the noise as the clip's square
            left = shrink**2 * common + 1 - common
            strength = known.mu * self.shares[MOMENT - 1] ** 0.5
            noise = edge(
                Statistics(known.n, left**0.5, 1.0, neighbours=known.neighbours).gram_alone / strength, known.m
            )
            shrink = min(1.0, max(EDGES[0], (MARGIN * noise / common) ** 0.5))  # the clip is no shorter, either
        return {"direction": u, "shrink": np.array(shrink)}

    def _clip(self, noisy: Array) -> Array:
        """The edge below which `quantile` of the records lie, as far as a noisy histogram tells."""
        cumulated = np.cumsum(np.maximum(noisy, 0.0))
        place = int(np.searchsorted(cumulated, self.quantile * max(cumulated[-1], np.finfo(float).tiny)))
        return np.array(EDGES[min(place, len(EDGES) - 1)])


def simulated(root: Array, direction: Array, count: int, seed: int) -> Array:
    """(count, m): nonnegative rows with the second moment rootᵀ root, about a mean along its strongest direction."""
    S = root.T @ root
    if not len(root):
        return np.tile(direction, (count, 1))
    along = np.linalg.eigh(S)[1][:, -1]
    along = along * (1.0 if along @ direction >= 0 else -1.0)
    centre = S @ along / np.sqrt(along @ S @ along)  # E[x a]/√E[a²], a = x·along, which varies little
    values, vectors = np.linalg.eigh(positive_part(S - np.outer(centre, centre)))
    some = values > 1e-12 * max(values[-1], 0.0)
    spread = vectors[:, some] * np.sqrt(values[some])
    draws = generator(seed, Purpose.SIMULATE).standard_normal((count, spread.shape[1]))
    return np.maximum(centre + draws @ spread.T, 0.0)
