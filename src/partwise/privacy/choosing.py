"""The mechanisms by name, each made for what one release may cost."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import NamedTuple

from partwise.errors import OptionError
from partwise.privacy.accountant import Budget
from partwise.privacy.certified import OpenDPGaussian, concentrated_mu
from partwise.privacy.mechanisms import AnalyticGaussian, LatticeGaussian, LatticeLaplace, Mechanism

CAUTION = 1e-3  # of a budget that is counted numerically: dp-accounting rounds up on a grid


class Spend(NamedTuple):
    """What a release may cost: as Gaussian noise, and out of which budget."""

    mu: float
    budget: Budget | None

    def share(self) -> tuple[Budget, float]:
        """(the budget, the release's share of its μ²)"""
        if self.budget is None:
            raise OptionError("Noise that is not plainly Gaussian is made for a budget: set epsilon.")
        return self.budget, (self.mu / self.budget.mu) ** 2


def lattice(spend: Spend, l2: float, entries: int) -> Mechanism:
    """The default."""
    return LatticeGaussian.of_strength(spend.mu, l2, entries)


def analytic(spend: Spend, l2: float, entries: int) -> Mechanism:
    """In floating point."""
    return AnalyticGaussian.of_strength(spend.mu, l2, entries)


def laplace(spend: Spend, l2: float, entries: int) -> Mechanism:
    """The release's share of ε; ‖·‖₁ ≤ √d ‖·‖₂."""
    budget, share = spend.share()
    return LatticeLaplace.of_strength(budget.epsilon * share * (1 - CAUTION), math.sqrt(entries) * l2, entries)


def opendp(spend: Spend, l2: float, entries: int) -> Mechanism:
    """The release's share of the zCDP that the budget allows."""
    budget, share = spend.share()
    return OpenDPGaussian.of_strength(concentrated_mu(budget) * math.sqrt(share), l2, entries)


MECHANISMS: Mapping[str, Callable[[Spend, float, int], Mechanism]] = {
    "lattice": lattice, "opendp": opendp, "laplace": laplace, "analytic": analytic,
}  # fmt: skip
