"""What Gaussian noise promises: the exact curve between ε and δ.

A release whose noise has σ and whose sensitivity is Δ is as hard to see through as telling N(0, 1) from N(μ, 1), μ = Δ/σ. Many
releases, each of which may be chosen by what the earlier ones said, are together as telling N(0, 1) from N(μ, 1) with μ² = Σ Δ²/σ²
(Dong, Roth & Su 2022, Cor. 3.3). Then (Balle & Wang 2018, Thm 8)

    δ(ε) = Φ(μ/2 − ε/μ) − e^ε Φ(−μ/2 − ε/μ).

docs/privacy/derivations.md has the derivation and what it was checked against. All results are rounded to the safe side: ε up, μ down.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from scipy.special import erfcx, ndtr

CLOSE = 1e-13  # relative width at which a bisection ends
MOST_MU = 1e6  # beyond, nothing is hidden and δ is 1 to all digits


def delta_of(epsilon: float, mu: float) -> float:
    """The least δ for which noise of strength μ is (ε, δ)-private."""
    if mu <= 0:
        return 0.0
    near, far = epsilon / mu - mu / 2, epsilon / mu + mu / 2
    # e^ε Φ(−far) = ½ e^{−near²/2} erfcx(far/√2): nothing overflows and nothing cancels in the tails
    subtracted = erfcx(far / math.sqrt(2))
    if near < 0:
        return max(float(ndtr(-near) - 0.5 * math.exp(-near * near / 2) * subtracted), 0.0)
    return max(float(0.5 * math.exp(-near * near / 2) * (erfcx(near / math.sqrt(2)) - subtracted)), 0.0)


def epsilon_of(delta: float, mu: float) -> float:
    """The least ε for which noise of strength μ is (ε, δ)-private, rounded up."""
    if mu <= 0 or delta_of(0.0, mu) <= delta:
        return 0.0
    enough = mu * mu / 2 + mu * math.sqrt(-2 * math.log(delta))  # ρ + 2√(ρ ln 1/δ), ρ = μ²/2: valid, and loose
    return _bisect(lambda epsilon: delta_of(epsilon, mu) > delta, 0.0, enough)[1]


def mu_of(epsilon: float, delta: float) -> float:
    """The greatest μ that is (ε, δ)-private, rounded down."""
    most = 1.0
    while delta_of(epsilon, most) <= delta and most < MOST_MU:
        most *= 2
    return _bisect(lambda mu: delta_of(epsilon, mu) <= delta, 0.0, most)[0]


def _bisect(low_side: Callable[[float], bool], low: float, high: float) -> tuple[float, float]:
    """Two neighbouring numbers between which `low_side` changes from True to False."""
    while high - low > CLOSE * high:
        middle = (low + high) / 2
        if middle in (low, high):
            break
        low, high = (middle, high) if low_side(middle) else (low, middle)
    return low, high
