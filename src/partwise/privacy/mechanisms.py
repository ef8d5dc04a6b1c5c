"""Noise of a stated strength: value → (noisy value, the event that an accountant counts).

The lattice mechanisms are the default. A float plus float noise betrays the value by its low bits (Mironov 2012); here value and noise
are whole multiples of a step g, so that every output is possible for every value. Snapping moves neighbours apart by at most √d·g in L2
(d·g in L1), which the sensitivity includes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Protocol, final

import numpy as np

from partwise.currency import Array
from partwise.errors import DataError, OptionError
from partwise.privacy.events import Event, Gaussian, Laplace
from partwise.privacy.lattice import Lattice
from partwise.privacy.noise import NoiseSource

EXACT = 2.0**52  # integers of a float64 up to here are exact
LOSS = 1e-3  # by which snapping may enlarge the sensitivity


class Mechanism(Protocol):
    """Adds noise to a vector of `entries` numbers."""

    @property
    def name(self) -> str: ...

    @property
    def sensitivity(self) -> float:
        """As it is counted: with what snapping adds."""
        ...

    @property
    def scale(self) -> float:
        """σ of a Gaussian, b of a Laplace."""
        ...

    @property
    def deviation(self) -> float:
        """The standard deviation of the noise in every entry."""
        ...

    @property
    def event(self) -> Event: ...

    @property
    def facts(self) -> dict[str, Any]:
        """What a ledger says of it beyond name, sensitivity and scale."""
        ...

    def release(self, value: Array, rng: NoiseSource) -> tuple[Array, Event]: ...


@final
@dataclass(frozen=True)
class LatticeGaussian:
    """round(value/g) + round(N(0, σ²)/g), times g. The same as rounding the value plus continuous noise: post-processing of it."""

    l2_sensitivity: float  # of the value before it is snapped
    scale: float
    entries: int
    step: float  # g, a power of two

    name = "lattice Gaussian"

    def __post_init__(self) -> None:
        check_strength(self.l2_sensitivity, self.scale)
        check_step(self.step, self.scale, self.entries)

    @classmethod
    def of_strength(cls, mu: float, l2_sensitivity: float, entries: int, step: float | None = None) -> LatticeGaussian:
        """The least noise that is μ-private, on a lattice that costs next to nothing, or on the one that a sum is made on."""
        check_strength(l2_sensitivity, 1 / mu if mu > 0 else mu)
        step = fitting_step(l2_sensitivity, math.sqrt(entries)) if step is None else step
        return cls(l2_sensitivity, (l2_sensitivity + math.sqrt(entries) * step) / mu, entries, step)

    @property
    def sensitivity(self) -> float:
        """Δ + √d g."""
        return self.l2_sensitivity + math.sqrt(self.entries) * self.step

    @property
    def deviation(self) -> float:
        return self.scale

    @property
    def event(self) -> Gaussian:
        """Exactly Gaussian."""
        return Gaussian(self.scale / self.sensitivity)

    @property
    def facts(self) -> dict[str, Any]:
        """What makes up the sensitivity."""
        return {"clipped_sensitivity": self.l2_sensitivity, "step": self.step, "entries": self.entries}

    def snap(self, value: Array) -> np.ndarray:
        """(entries,) int64: the value in steps. A party snaps its own sum once; nothing is rescaled after."""
        return snapped(value, self.step, self.entries)

    def noise(self, rng: NoiseSource, share: float = 1.0) -> np.ndarray:
        """(entries,) int64: noise in steps, of variance share·σ². Shares of several parties add up (docs/privacy/derivations.md)."""
        return np.rint(rng.standard_normal(self.entries) * (math.sqrt(share) * self.scale / self.step)).astype(np.int64)

    def release(self, value: Array, rng: NoiseSource) -> tuple[Array, Gaussian]:
        """The noisy value, on the lattice."""
        return (self.snap(value) + self.noise(rng)) * self.step, self.event


@final
@dataclass(frozen=True)
class LatticeLaplace:
    """round(value/g) + round(Laplace(b)/g), times g; with L1 sensitivity."""

    l1_sensitivity: float
    scale: float
    entries: int
    step: float

    name = "lattice Laplace"

    def __post_init__(self) -> None:
        check_strength(self.l1_sensitivity, self.scale)
        check_step(self.step, self.scale, self.entries)

    @classmethod
    def of_strength(cls, epsilon: float, l1_sensitivity: float, entries: int) -> LatticeLaplace:
        """The least noise that is ε-private."""
        check_strength(l1_sensitivity, 1 / epsilon if epsilon > 0 else epsilon)
        step = fitting_step(l1_sensitivity, entries)
        return cls(l1_sensitivity, (l1_sensitivity + entries * step) / epsilon, entries, step)

    @property
    def sensitivity(self) -> float:
        """Δ₁ + d g."""
        return self.l1_sensitivity + self.entries * self.step

    @property
    def deviation(self) -> float:
        return math.sqrt(2) * self.scale

    @property
    def event(self) -> Laplace:
        """1/(b/Δ)-private."""
        return Laplace(self.scale / self.sensitivity)

    @property
    def facts(self) -> dict[str, Any]:
        """What makes up the sensitivity."""
        return {"clipped_sensitivity": self.l1_sensitivity, "step": self.step, "entries": self.entries}

    def release(self, value: Array, rng: NoiseSource) -> tuple[Array, Laplace]:
        """The noisy value, on the lattice."""
        noise = rng.standard_exponential(self.entries) - rng.standard_exponential(self.entries)
        steps = np.rint(noise * (self.scale / self.step)).astype(np.int64)
        return (snapped(value, self.step, self.entries) + steps) * self.step, self.event


@final
@dataclass(frozen=True)
class AnalyticGaussian:
    """value + N(0, σ²) in floating point, calibrated by the exact curve. Only for study: its low bits tell (see above)."""

    sensitivity: float
    scale: float
    entries: int

    name = "analytic Gaussian"

    def __post_init__(self) -> None:
        check_strength(self.sensitivity, self.scale)

    @classmethod
    def of_strength(cls, mu: float, l2_sensitivity: float, entries: int) -> AnalyticGaussian:
        """The least noise that is μ-private."""
        check_strength(l2_sensitivity, 1 / mu if mu > 0 else mu)
        return cls(l2_sensitivity, l2_sensitivity / mu, entries)

    @property
    def deviation(self) -> float:
        return self.scale

    @property
    def event(self) -> Gaussian:
        """Of real numbers; floats are not."""
        return Gaussian(self.scale / self.sensitivity)

    @property
    def facts(self) -> dict[str, Any]:
        """The weakness."""
        return {"entries": self.entries, "warning": "noise in floating point: low bits may tell the value"}

    def release(self, value: Array, rng: NoiseSource) -> tuple[Array, Gaussian]:
        """The noisy value."""
        return checked(value, self.entries) + self.scale * rng.standard_normal(self.entries), self.event


def check_strength(sensitivity: float, scale: float) -> None:
    """Both positive numbers."""
    if not (math.isfinite(sensitivity) and sensitivity > 0):
        raise OptionError(
            f"The sensitivity is {sensitivity}; it must be a positive number, known without looking at the data: clip first."
        )
    if not (math.isfinite(scale) and scale > 0):
        raise OptionError(
            f"The noise has scale {scale}; it must be a positive number. Without noise nothing is private."
        )


def check_step(step: float, scale: float, entries: int) -> None:
    """A power of two, much finer than the noise, and not too fine for exact integers."""
    if entries < 1 or not (step > 0 and math.isfinite(step) and math.frexp(step)[0] == 0.5):
        raise OptionError(
            f"The lattice has step {step} for {entries} entries; expected a power of two, and an entry at least."
        )
    if not 4 * step <= scale <= 2.0**48 * step:
        raise OptionError(
            f"Noise of scale {scale:g} does not fit a lattice of step {step:g}: expected between 4 and 2⁴⁸ steps."
        )


def fitting_step(sensitivity: float, growth: float) -> float:
    """The largest power of two by which snapping costs at most LOSS of the sensitivity."""
    return 2.0 ** math.floor(math.log2(LOSS * sensitivity / growth))


def checked(value: Array, entries: int) -> Array:
    """A flat, finite vector of the stated size."""
    if value.shape != (entries,):
        raise OptionError(f"The value to release has shape {value.shape}; the mechanism was made for ({entries},).")
    if not np.isfinite(value).all():
        raise DataError(
            "The value to release holds numbers that are not finite. Nothing was released; look at the data."
        )
    return value.astype(np.float64)


def snapped(value: Array, step: float, entries: int) -> np.ndarray:
    """(entries,) int64: value/step, rounded once."""
    return Lattice(step, EXACT * step).snap(checked(value, entries))
