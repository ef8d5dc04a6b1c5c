"""Private alternating least squares: every round releases the normal equations of H, and many free steps follow (ours).

    start   groups of records by public random directions; the noisy sums of x in each group are the first H
    round   w = exact nonnegative least squares for each record x;   y = x ("plain") or the residual x − w H ("residual")
            A = mean of w wᵀ, B = mean of w yᵀ, w and y clipped each on its own, + noise
            running averages of A and B over the rounds;  A's positive part;  the noise in B made small (for free);
            several sweeps of HALS on (A, B);  rows of H of length one, so that ‖w‖ ≤ ‖x‖ ≤ 1

Residuals are small where H fits, and so may be clipped tightly: the noise shrinks as the fit gets better. Their clip follows a
noisy share of the records that are inside of it. Of sparse data a residual is dense and as long as the row itself: there "plain"
is better, with B's entries below a multiple of the noise set to zero.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import final

import numpy as np

from partwise.algorithms.private.query import Knowledge, Query, apart, random_components, unit_rows
from partwise.algorithms.private.records import Clips, group_sums, statistics
from partwise.algorithms.private.shrinkage import cleaned_rectangular, positive_part
from partwise.currency import Array, Arrays, NormalEq
from partwise.privacy.clip import Statistics, rounding_allowance
from partwise.privacy.vectors import pack, unpack
from partwise.protocols import Matrix
from partwise.updates import Hals

INSIDE = 0.3  # the share of records whose residual should be within its clip
COUNTED = 0.3  # how much the noisy share of those may cost, beside the statistics
FIRST_CLIP = 0.5  # of residuals, before anything is known of them


@final
@dataclass(frozen=True)
class Iterated:
    """Message: (k + 1) k / 2 + k m numbers a round, one more for "residual"."""

    known: Knowledge
    residual: bool
    rounds: int = 20  # the start among them
    start_share: float = 0.1
    gram_share: float = 0.25  # of each round's μ², for A; "residual" has A for nothing
    w_clip: float = 0.5
    threshold: float = 0.0  # of the entries of B, in standard deviations of their noise: for sparse H
    forget: float = 0.3  # weight of the newest statistics, once there are enough
    sweeps: int = 10

    def opening(self) -> Arrays:
        return {"H": random_components(self.known), "clip": np.array(FIRST_CLIP)}

    def needs(self, t: int) -> Mapping[str, tuple[int, ...]]:
        if self._starts(t):
            return {}
        return {"H": (self.known.k, self.known.m)} | ({"clip": ()} if self.residual else {})

    def entries(self, t: int) -> int:
        k, m = self.known.k, self.known.m
        return k * m if self._starts(t) else k * (k + 1) // 2 + k * m + self.residual

    def query(self, public: Arrays, t: int) -> Query:
        known = self.known
        if self._starts(t):
            sensitivity = Statistics(known.n, 1.0, 1.0, neighbours=known.neighbours).cross_alone
            return Query(
                "sums of groups", self.entries(t), sensitivity + rounding_allowance(known.n, 1.0), self.start_share,
                lambda X: group_sums(X, known).ravel(),
            )  # fmt: skip
        share = (1 - self.start_share) / (self.rounds - (self.start_share > 0))
        bounds, counted = self._bounds(public), COUNTED / known.n if self.residual else 0.0
        sensitivity = float(np.hypot(bounds.joint, counted)) + rounding_allowance(
            known.n + known.k, 3.0 / bounds.cross_scale
        )
        what = "statistics of residuals" if self.residual else "statistics"
        return Query(what, self.entries(t), sensitivity, share, lambda X: self._answer(X, public, bounds))

    def learn(self, public: Arrays, noisy: Array, scale: float, t: int) -> Arrays:
        known = self.known
        if self._starts(t):
            B = noisy.reshape(known.k, known.m)
            return {
                **public,
                "H": unit_rows(np.where(self.threshold * scale < B, np.maximum(B, 0.0), 0.0), public["H"]),
            }
        bounds, clip = self._bounds(public), public["clip"]
        if self.residual:
            inside, noisy = float(noisy[-1]) / COUNTED, noisy[:-1]
            clip = np.array(np.clip(clip * np.exp(INSIDE - min(max(inside, 0.0), 1.0)), 1e-3, 1.0))
        A, B = unpack(noisy, known.k)
        A, B = A * bounds.gram_scale, B * bounds.cross_scale
        deviation = scale * bounds.cross_scale
        averaged = self._averaged(public, A, A @ public["H"] + B if self.residual else B, deviation**2)
        return {**public, **averaged, "clip": clip, "H": self._moved(public["H"], averaged)}

    def components(self, public: Arrays) -> Array:
        return public["H"]

    def _starts(self, t: int) -> bool:
        """Whether round t is the start."""
        return self.start_share > 0 and t == 1

    def _bounds(self, public: Arrays) -> Statistics:
        """What one record may do. Scales are chosen so that A costs nothing ("residual"), or its share."""
        w, neighbours = self.w_clip, self.known.neighbours
        if self.residual:
            clip = float(public["clip"])
            return Statistics(self.known.n, w, clip, True, neighbours, 2**0.5 * w**2, w * clip)
        return Statistics(
            self.known.n, w, 1.0, False, neighbours, w**2 / self.gram_share**0.5, w / (1 - self.gram_share) ** 0.5
        )

    def _answer(self, X: Matrix, public: Arrays, bounds: Statistics) -> Array:
        clips = Clips(bounds.w, bounds.y if self.residual else None)
        (A, B), inside = statistics(X, self.known, public["H"], clips)  # type: ignore[arg-type]
        packed = pack(A / bounds.gram_scale, B / bounds.cross_scale)
        return np.append(packed, COUNTED * inside) if self.residual else packed

    def _averaged(self, public: Arrays, A: Array, B: Array, variance: float) -> dict[str, Array]:
        """Running averages, and the variance of the noise in B's."""
        if "gram" not in public:
            return {"gram": A, "cross": B, "variance": np.array(variance), "age": np.array(1.0)}
        age = float(public["age"]) + 1
        new = max(self.forget, 1 / age)
        return {
            "gram": (1 - new) * public["gram"] + new * A,
            "cross": (1 - new) * public["cross"] + new * B,
            "variance": (1 - new) ** 2 * public["variance"] + new**2 * variance,
            "age": np.array(age),
        }

    def _moved(self, H: Array, seen: Arrays) -> Array:
        """HALS on the averages, cleaned: of B the part that H does not explain yet."""
        gram = positive_part(seen["gram"]) + 1e-9 * np.eye(len(H))
        deviation = float(seen["variance"]) ** 0.5
        if self.residual:
            news = cleaned_rectangular(seen["cross"] - seen["gram"] @ H, deviation)
            moved, _ = Hals(self.sweeps)(H, NormalEq(gram, gram @ H + news), ())
        else:
            cross = np.where(seen["cross"] > self.threshold * deviation, seen["cross"], 0.0)
            moved, _ = Hals(self.sweeps)(H, NormalEq(gram, cross), ())
        return apart(unit_rows(moved, H), self.known)
