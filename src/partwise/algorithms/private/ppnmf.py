"""PPNMF (Saha & Imtiaz, Algorithm 2): projected gradient steps on noisy normal equations, without and with outliers.

    paper                          here                                         held by
    V (D, N), W, H, R              Xᵀ, Hᵀ, Wᵀ, Rᵀ                               records; H alone is public
    (H_t, R_t) = argmin            the exact w (and r) of each record           `records.statistics`
    Ā, B̄ (line 3)                  A, B of the mean over records, + noise       `Query`
    η_W, P_C (lines 4 and 5)       step, `ball`                                 `learn`

As published: A and B with Δ_A = 2/n and Δ_B = 2/n (4/n with outliers), the same multiple of noise on each, that multiple being
what their formula of Rényi privacy gives for the total ε. Repaired: one joint release with the sensitivity that it has, counted
exactly. In both, rows are clipped in code and w is exact for the published H alone: of the paper's rows, whose largest entry is 1,
no ε could be stated.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import final

import numpy as np

from partwise.algorithms.private.query import Knowledge, Query, random_components, unit_rows
from partwise.algorithms.private.records import Clips, Outlying, cleaned_statistics, statistics
from partwise.currency import Array, Arrays, NormalEq
from partwise.privacy.clip import Statistics, rounding_allowance
from partwise.privacy.gaussian import epsilon_of
from partwise.privacy.vectors import pack, unpack
from partwise.protocols import Matrix
from partwise.updates import Pgd
from partwise.updates.ball import ball


@final
@dataclass(frozen=True)
class Ppnmf:
    """Message: k (k + 1) / 2 + k m numbers a round (k² + k m as published)."""

    known: Knowledge
    rounds: int = 100
    step: float = 1.0  # η_W; λ_max of A is at most its trace, which is at most 1
    steps: int = 1  # of projected gradient on each pair
    outlying: Outlying | None = None
    start: Array | None = None  # (k, m), if it is not the random one

    def opening(self) -> Arrays:
        return {"H": random_components(self.known) if self.start is None else self.start}

    def needs(self, t: int) -> Mapping[str, tuple[int, ...]]:
        return {"H": (self.known.k, self.known.m)}

    def entries(self, t: int) -> int:
        return self.known.k * (self.known.k + 1) // 2 + self.known.k * self.known.m

    def query(self, public: Arrays, t: int) -> Query:
        """A third of the round's μ² for A, whose numbers are few, the rest for B."""
        known, bounds = self.known, self._bounds()
        sensitivity = bounds.joint * (1 + 1e-9) + rounding_allowance(known.n + known.k, 3.0)

        def answer(X: Matrix) -> Array:
            A, B = _pair(X, known, public["H"], self.outlying)
            return pack(A / bounds.gram_scale, B / bounds.cross_scale)

        return Query("statistics", self.entries(t), sensitivity, 1 / self.rounds, answer)

    def learn(self, public: Arrays, noisy: Array, scale: float, t: int) -> Arrays:
        bounds, (A, B) = self._bounds(), unpack(noisy, self.known.k)
        pair = NormalEq(A * bounds.gram_scale, B * bounds.cross_scale)
        H, _ = Pgd(self.steps, self.step, ball)(public["H"], pair, ())
        return {"H": H}

    def components(self, public: Arrays) -> Array:
        return unit_rows(public["H"], np.full(self.known.m, self.known.m**-0.5))

    def _bounds(self) -> Statistics:
        return Statistics(self.known.n, 1.0, 1.0, False, self.known.neighbours, math.sqrt(3.0), math.sqrt(1.5))


@final
@dataclass(frozen=True)
class PpnmfAsPublished:
    """Algorithm 2 with the noise that the paper's own accounting asks for; compare with it, do not use it."""

    known: Knowledge
    rounds: int = 100
    step: float = 1.0
    steps: int = 1
    outlying: Outlying | None = None
    start: Array | None = None

    def opening(self) -> Arrays:
        return {"H": random_components(self.known) if self.start is None else self.start}

    def needs(self, t: int) -> Mapping[str, tuple[int, ...]]:
        return {"H": (self.known.k, self.known.m)}

    def entries(self, t: int) -> int:
        return self.known.k * (self.known.k + self.known.m)

    def query(self, public: Arrays, t: int) -> Query:
        """Their Δ_A and Δ_B count as if A and B moved independently; exact counting finds less than the budget spent."""
        known = self.known
        claimed = math.hypot(2, 2) / known.n  # of (A, B / ratio): 2/n each
        share = (published_mu(known) / known.mu) ** 2 / self.rounds

        def answer(X: Matrix) -> Array:
            A, B = _pair(X, known, public["H"], self.outlying)
            return np.concatenate([A.ravel(), B.ravel() / self._ratio])

        return Query("statistics, as published", self.entries(t), claimed, share, answer)

    def learn(self, public: Arrays, noisy: Array, scale: float, t: int) -> Arrays:
        k = self.known.k
        A, B = noisy[: k * k].reshape(k, k), noisy[k * k :].reshape(k, -1) * self._ratio
        H, _ = Pgd(self.steps, self.step, ball)(public["H"], NormalEq(A.T, B), ())
        return {"H": H}

    def components(self, public: Arrays) -> Array:
        return unit_rows(public["H"], np.full(self.known.m, self.known.m**-0.5))

    @property
    def _ratio(self) -> float:
        """Δ_B / Δ_A: (14) has twice as much with outliers."""
        return 2.0 if self.outlying else 1.0


def published_mu(known: Knowledge) -> float:
    """μ² = Σ Δ²/σ² for which their ε = α μ²/2 + ln(1/δ)/(α − 1), α = 1 + √(2 ln(1/δ))/μ, is the total ε (§3.3)."""
    epsilon, log = epsilon_of(known.delta, known.mu), math.log(1 / known.delta)
    return math.sqrt(2) * (math.sqrt(epsilon + log) - math.sqrt(log))  # ε = ρ + 2√(ρ ln 1/δ), ρ = μ²/2


def _pair(X: Matrix, known: Knowledge, H: Array, outlying: Outlying | None) -> NormalEq:
    """Line 2 exactly, and line 3 without its noise."""
    if outlying is None:
        return statistics(X, known, H, Clips(1.0)).pair  # type: ignore[arg-type]
    return cleaned_statistics(X, known, H, outlying)  # type: ignore[arg-type]
