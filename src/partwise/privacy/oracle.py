"""The only door to dp-accounting: composition by privacy loss distributions, independent of our own formulas."""

from __future__ import annotations

from collections.abc import Iterable
from importlib.util import find_spec
from typing import Any

from partwise.errors import MissingExtraError
from partwise.privacy.events import Discrete, Event, Gaussian, Laplace, Sampled, refused

FINEST = 1e-4  # dp-accounting's own default
LOSSES, RENYI = "privacy loss distributions", "Rényi divergences"
Counted = Iterable[tuple[Event, int]]


def available() -> bool:
    """Whether dp-accounting is installed."""
    return find_spec("dp_accounting") is not None


def epsilon(events: Counted, delta: float) -> float:
    """The total ε, by the tightest way there is."""
    counted = list(events)
    return float(_composed(counted, way(counted)).get_epsilon(delta))


def delta(events: Counted, epsilon: float) -> float:
    """The total δ, likewise."""
    counted = list(events)
    return float(_composed(counted, way(counted)).get_delta(epsilon))


def way(events: Counted) -> str:
    """By privacy loss distributions, or Rényi divergences where something is known to be zCDP and no more."""
    return RENYI if any(isinstance(event, Discrete) for event, _ in events) else LOSSES


def epsilon_by_rdp(events: Counted, delta: float) -> float:
    """The total ε by Rényi divergences: a looser bound, which is cheap for any number of different events."""
    return float(_composed(events, RENYI).get_epsilon(delta))


def _composed(events: Counted, by: str) -> Any:
    if not available():
        raise MissingExtraError(
            "Counting Laplace noise, sampling, or an independent recomputation", "dp-accounting", "dp"
        )
    from dp_accounting import pld, rdp

    counted = list(events)
    accountant = rdp.RdpAccountant() if by == RENYI else pld.PLDAccountant(value_discretization_interval=_grid(counted))
    for event, times in counted:
        accountant.compose(_theirs(event), times)
    return accountant


def _grid(events: list[tuple[Event, int]]) -> float:
    """Of the privacy loss, which ranges over some multiples of μ and μ²: a fixed grid would take seconds where ε is large."""
    multiplier = [
        event.event.noise_multiplier if isinstance(event, Sampled) else event.noise_multiplier for event, _ in events
    ]
    return FINEST * max(1.0, sum(times / m**2 for m, (_, times) in zip(multiplier, events, strict=True)) ** 0.5)


def _theirs(event: Event) -> Any:
    from dp_accounting import dp_event

    match event:
        case Gaussian(multiplier):
            return dp_event.GaussianDpEvent(multiplier)
        case Discrete(multiplier):
            return dp_event.ZCDpEvent(1 / (2 * multiplier**2))
        case Laplace(multiplier):
            return dp_event.LaplaceDpEvent(multiplier)
        case Sampled(probability, inner):
            return dp_event.PoissonSampledDpEvent(probability, _theirs(inner))
    raise refused(event)
