"""What both personalised alignments stand on: correlation distance, and Fisher's test of which pairs are worth aligning."""

from __future__ import annotations

import numpy as np
from scipy.special import ndtri

from partwise.consensus.plans import correlations
from partwise.currency import Array
from partwise.errors import OptionError


def personal_costs(target: Array, source: Array, level: float, floor: float) -> tuple[Array, float]:
    """((k, l), the cost of staying unaligned): 1 − r, infinite where r is not significantly above `floor`.

    Fisher: atanh(r) is nearly normal about atanh(floor) with variance 1 / (m − 3). Staying unaligned costs as much as the dearest
    pair that may be had.
    """
    r = correlations(target, source)
    if r.size and target.shape[1] < 4:
        raise OptionError(
            f"The components have {target.shape[1]} features, and Fisher's test needs 4 at least; use alignment='lap'."
        )
    with np.errstate(divide="ignore"):
        z = (np.arctanh(r) - np.arctanh(floor)) * np.sqrt(target.shape[1] - 3)
    costs = np.where(z > -ndtri(level), 1 - r, np.inf)
    finite = costs[np.isfinite(costs)]
    return costs, float(finite.max()) if finite.size else 1.0


def check_test(level: float, floor: float) -> None:
    """The options of the test, or a sentence."""
    if not 0 < level < 1:
        raise OptionError(f"level={level!r}; expected the test's level, between 0 and 1.")
    if not -1 < floor < 1:
        raise OptionError(f"floor={floor!r}; expected a correlation between -1 and 1.")
