"""What a release did, as an accountant counts it: which noise, how large compared with the sensitivity."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, final

from partwise.errors import DataError, OptionError


@final
@dataclass(frozen=True)
class Gaussian:
    """Gaussian noise: `noise_multiplier` is σ by the L2 sensitivity."""

    noise_multiplier: float

    def __post_init__(self) -> None:
        _check_multiplier(self.noise_multiplier)


@final
@dataclass(frozen=True)
class Discrete:
    """Discrete Gaussian noise on whole numbers (Canonne, Kamath & Steinke 2020): 1/(2 noise_multiplier²)-zCDP, and counted so."""

    noise_multiplier: float

    def __post_init__(self) -> None:
        _check_multiplier(self.noise_multiplier)


@final
@dataclass(frozen=True)
class Laplace:
    """Laplace noise: `noise_multiplier` is its scale by the L1 sensitivity; alone it is 1/noise_multiplier-private."""

    noise_multiplier: float

    def __post_init__(self) -> None:
        _check_multiplier(self.noise_multiplier)


@final
@dataclass(frozen=True)
class Sampled:
    """`event`, on a Poisson sample: each record is in it with `probability`, independently, and nobody sees who is in it."""

    probability: float
    event: Gaussian | Laplace

    def __post_init__(self) -> None:
        if not 0 < self.probability <= 1:
            raise OptionError(
                f"A sampling probability is in (0, 1]; it is {self.probability}. Give the public rate at which each record is drawn."
            )


Event = Gaussian | Discrete | Laplace | Sampled


def _check_multiplier(value: float) -> None:
    if not (math.isfinite(value) and value > 0):
        raise OptionError(
            f"Noise by sensitivity must be a positive number; it is {value}. A release without noise, or of something of "
            "unbounded or unknown sensitivity, is not private and cannot be counted: note it in the ledger as not private."
        )


def to_json(event: Event) -> dict[str, Any]:
    """As it stands in a ledger."""
    match event:
        case Gaussian(multiplier):
            return {"noise": "gaussian", "noise_multiplier": multiplier}
        case Discrete(multiplier):
            return {"noise": "discrete-gaussian", "noise_multiplier": multiplier}
        case Laplace(multiplier):
            return {"noise": "laplace", "noise_multiplier": multiplier}
        case Sampled(probability, inner):
            return {"sampled": probability, **to_json(inner)}
    raise refused(event)


def from_json(said: Mapping[str, Any]) -> Event:
    """From a ledger's line; what is not known is refused."""
    kinds = {"gaussian": Gaussian, "discrete-gaussian": Discrete, "laplace": Laplace}
    if not _wellformed(said) or said["noise"] not in kinds:
        raise DataError(f"The event {said} is not one that this version can count. Use the version that wrote it.")
    event = kinds[said["noise"]](float(said["noise_multiplier"]))
    if "sampled" not in said:
        return event
    if isinstance(event, Discrete):
        raise DataError(f"The event {said} is not one that this version can count. Use the version that wrote it.")
    return Sampled(float(said["sampled"]), event)


def _wellformed(said: Mapping[str, Any]) -> bool:
    if not isinstance(said, Mapping) or not {"noise", "noise_multiplier"} <= set(said) <= {
        "noise",
        "noise_multiplier",
        "sampled",
    }:
        return False
    return isinstance(said["noise"], str) and all(
        isinstance(said[name], (int, float)) for name in said if name != "noise"
    )


def refused(event: object) -> OptionError:
    """What is said of an event that nobody can count."""
    return OptionError(
        f"{event!r} is no event that the accountant knows: it counts Gaussian, discrete Gaussian, Laplace and Poisson-sampled noise. "
        "What cannot be counted is not released."
    )
