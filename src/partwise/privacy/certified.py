"""The one door to OpenDP: discrete Gaussian noise whose making others have verified. Extra [opendp].

On the lattice of `mechanisms`, value and noise are whole numbers; OpenDP adds exact discrete Gaussian noise (Canonne, Kamath & Steinke
2020) and says what that is worth: ρ-zCDP, which we hold it to. It is counted as that, by Rényi divergences, and not as a Gaussian: that
needs some percent more noise for the same (ε, δ).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from typing import Any, final

import numpy as np

from partwise.currency import Array
from partwise.errors import MissingExtraError, OptionError, RunError
from partwise.privacy import oracle
from partwise.privacy.accountant import Budget
from partwise.privacy.events import Discrete
from partwise.privacy.mechanisms import LatticeGaussian
from partwise.privacy.noise import NoiseSource, SystemNoise

CLOSE = 1e-9
SEEDLESS = "OpenDP draws its own noise, which no seed repeats: leave insecure_seed None, or take mechanism='lattice'."


def library() -> Any:
    """OpenDP, or how to get it."""
    try:
        dp: Any = import_module("opendp.prelude")
    except ImportError:
        raise MissingExtraError("mechanism='opendp'", "opendp", "opendp") from None
    dp.enable_features("contrib")
    return dp


@lru_cache(maxsize=32)
def concentrated_mu(budget: Budget) -> float:
    """√(2ρ) for the most ρ-zCDP that a budget allows, rounded down."""
    low, high = 0.0, budget.mu  # zCDP says less than the Gaussian curve, so it allows less
    while high - low > CLOSE * high:
        middle = (low + high) / 2
        enough = oracle.epsilon([(Discrete(1 / middle), 1)], budget.delta) <= budget.epsilon
        low, high = (middle, high) if enough else (low, middle)
    return low * (1 - CLOSE)


@final
@dataclass(frozen=True)
class OpenDPGaussian:
    """(round(value/g) + N_ℤ(0, σ²/g²)) g, the noise being OpenDP's; lattice and sensitivity are those of `LatticeGaussian`."""

    lattice: LatticeGaussian

    name = "OpenDP discrete Gaussian"

    @classmethod
    def of_strength(cls, mu: float, l2_sensitivity: float, entries: int) -> OpenDPGaussian:
        """The least noise that is μ²/2-zCDP."""
        library()  # says now if it is missing, before anything is written down
        return cls(LatticeGaussian.of_strength(mu, l2_sensitivity, entries))

    @property
    def sensitivity(self) -> float:
        """Δ + √d g."""
        return self.lattice.sensitivity

    @property
    def scale(self) -> float:
        """σ."""
        return self.lattice.scale

    @property
    def deviation(self) -> float:
        return self.lattice.deviation

    @property
    def event(self) -> Discrete:
        """(Δ/σ)²/2-zCDP."""
        return Discrete(self.scale / self.sensitivity)

    @property
    def facts(self) -> dict[str, Any]:
        """What makes up the sensitivity."""
        return self.lattice.facts

    def release(self, value: Array, rng: NoiseSource) -> tuple[Array, Discrete]:
        """The noisy value, on the lattice; OpenDP has a cryptographic generator of its own."""
        if not isinstance(rng, SystemNoise):
            raise OptionError(SEEDLESS)
        noisy = self._measurement()([int(step) for step in self.lattice.snap(value)])
        return np.array(noisy, np.float64) * self.lattice.step, self.event

    def _measurement(self) -> Any:
        """OpenDP's, after asking it what it is worth."""
        dp, step = library(), self.lattice.step
        domain = dp.vector_domain(dp.atom_domain(T="i64"))
        made = dp.m.make_gaussian(domain, dp.l2_distance(T="f64"), scale=self.scale / step)
        rho = made.map(self.sensitivity / step)
        if not rho <= (self.sensitivity / self.scale) ** 2 / 2 * (1 + 1e-9):
            raise RunError(
                f"OpenDP says that this noise is {rho:g}-zCDP, more than was to be spent; nothing was released."
            )
        return made
