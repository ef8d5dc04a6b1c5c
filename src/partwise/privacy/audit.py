"""What an attack proves about a mechanism: a lower bound on its μ, from how often it told two neighbours apart.

Whoever has noise of strength μ or less before him and cries "present" in a share α of the cases where the unit is absent, misses it in a
share β of at least Φ(Φ⁻¹(1 − α) − μ) of those where it is present. So α and β that were seen bound μ from below:

    μ ≥ Φ⁻¹(1 − ᾱ) − Φ⁻¹(β̄),   ᾱ and β̄ being upper bounds on α and β by Clopper & Pearson (1934), each at half the confidence.

The threshold is chosen on one half of the trials and judged on the other, so the bound holds whatever the scores are. It proves only
what this attack can do on these neighbours: a high bound convicts, a low one acquits nobody. docs/privacy.md has the power.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.stats import beta, binom, norm

from partwise.currency import Array
from partwise.errors import OptionError

CONFIDENCE = 0.9999


def mu_lower_bound(absent: Array, present: Array, confidence: float = CONFIDENCE) -> float:
    """A lower bound on μ, false with probability 1 − confidence at most, from scores of trials; high ones speak for presence."""
    absent, present = np.asarray(absent, np.float64), np.asarray(present, np.float64)
    if min(len(absent), len(present)) < 4 or not 0 < confidence < 1:
        raise OptionError(f"{len(absent)} and {len(present)} trials at confidence {confidence}; expected 4 of each at least, and a "
                          "confidence between 0 and 1.")  # fmt: skip
    threshold = _best_threshold(absent[::2], present[::2])
    judged, half = (absent[1::2], present[1::2]), (1 - confidence) / 2
    alarms = upper_bound(int((judged[0] > threshold).sum()), len(judged[0]), half)
    misses = upper_bound(int((judged[1] <= threshold).sum()), len(judged[1]), half)
    return max(0.0, float(norm.ppf(1 - alarms) - norm.ppf(misses)))


def upper_bound(successes: int, trials: int, error: float) -> float:
    """Above the probability of success, but with probability `error` (Clopper & Pearson 1934)."""
    return 1.0 if successes == trials else float(beta.ppf(1 - error, successes + 1, trials - successes))


def power(mu: float, claimed: float, trials: int, confidence: float = CONFIDENCE) -> float:
    """How likely it is that noise whose true strength is `mu`, attacked by its likelihood ratio, is convicted of more than `claimed`.

    `trials` of each kind, the threshold in the middle, as it is about when chosen on the other half.
    """
    count, half = trials // 2, (1 - confidence) / 2
    tried = np.arange(count + 1)
    chance = binom.pmf(tried, count, norm.cdf(-mu / 2))
    bounds = norm.ppf([upper_bound(int(each), count, half) for each in tried])
    convicted = -bounds[:, None] - bounds[None, :] > claimed
    return float(chance @ convicted @ chance)


def _best_threshold(absent: Array, present: Array) -> float:
    """The one between two scores at which alarms and misses together are least; the middle one of several."""
    edges = np.sort(np.concatenate([absent, present]))
    middles = (edges[1:] + edges[:-1]) / 2
    alarms = 1 - np.searchsorted(np.sort(absent), middles, side="right") / len(absent)
    misses = np.searchsorted(np.sort(present), middles, side="right") / len(present)
    best = np.flatnonzero(np.isclose(alarms + misses, (alarms + misses).min(), atol=1e-12))
    return float(middles[best[math.floor(len(best) / 2)]])
