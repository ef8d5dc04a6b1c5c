"""What releases have cost together. Gaussian noise is counted exactly by ourselves, the rest by dp-accounting (extra [dp])."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, final

from partwise.errors import OptionError
from partwise.privacy import oracle
from partwise.privacy.events import Discrete, Event, Gaussian, Laplace, Sampled, refused
from partwise.privacy.gaussian import delta_of, epsilon_of, mu_of

Neighbours = Literal["replace", "add-remove"]
NEIGHBOURS: tuple[Neighbours, ...] = ("replace", "add-remove")
SLACK = 1e-9  # of a budget: shares that add up to it exactly must not fail by rounding


@final
@dataclass(frozen=True)
class Accountant:
    """Composes events; a value, which `after` makes anew. `mu_squared` is of the Gaussian part, `others` the rest, counted."""

    neighbours: Neighbours = "replace"
    mu_squared: float = 0.0
    others: tuple[tuple[Event, int], ...] = ()

    def __post_init__(self) -> None:
        check_neighbours(self.neighbours)

    def after(self, event: Event, times: int = 1) -> Accountant:
        """What it will be when `event` has happened `times` times more."""
        if isinstance(event, Gaussian):
            return Accountant(self.neighbours, self.mu_squared + times / event.noise_multiplier**2, self.others)
        if not isinstance(event, (Discrete, Laplace, Sampled)):
            raise refused(event)
        if isinstance(event, Sampled) and self.neighbours != "add-remove":
            raise OptionError(
                "Poisson sampling is counted for neighbours='add-remove' only: whether a record was drawn is hidden, its "
                "replacement in every draw is not. Choose those neighbours, or count the release as if it were not sampled."
            )
        counted = Counter(dict(self.others))
        counted[event] += times
        return Accountant(self.neighbours, self.mu_squared, tuple(counted.items()))

    def epsilon(self, delta: float) -> float:
        """The total ε for this δ."""
        check_delta(delta)
        if not self.others:
            return epsilon_of(delta, math.sqrt(self.mu_squared))
        return oracle.epsilon(self.events(), delta)

    def delta(self, epsilon: float) -> float:
        """The total δ for this ε."""
        if not self.others:
            return delta_of(epsilon, math.sqrt(self.mu_squared))
        return oracle.delta(self.events(), epsilon)

    def events(self) -> list[tuple[Event, int]]:
        """Everything, the Gaussian part as the one event that it equals."""
        whole = [(Gaussian(1 / math.sqrt(self.mu_squared)), 1)] if self.mu_squared else []
        return [*whole, *self.others]


@final
@dataclass(frozen=True)
class Budget:
    """What may be spent in all."""

    epsilon: float
    delta: float

    def __post_init__(self) -> None:
        check_epsilon(self.epsilon)
        check_delta(self.delta)

    @property
    def mu(self) -> float:
        """As the strength of Gaussian noise."""
        return mu_of(self.epsilon, self.delta)

    def allows(self, epsilon: float) -> bool:
        """Whether a total is within it."""
        return epsilon <= self.epsilon * (1 + SLACK)

    def split(self, shares: Sequence[float]) -> list[float]:
        """μ of each Gaussian release, whose squares are these shares of the whole: together they spend the budget exactly."""
        if not shares or not all(math.isfinite(share) and share > 0 for share in shares):
            raise OptionError(
                f"Shares of a budget are positive numbers, one for each release; they are {list(shares)}. "
                "A run of no rounds publishes nothing: ask for one at least."
            )
        return [self.mu * math.sqrt(share / math.fsum(shares)) for share in shares]

    def rounds(self, rounds: int, start_share: float = 0.0) -> tuple[float, float]:
        """(μ of the start, μ of each of the rounds) when the start takes a share of μ²."""
        if rounds < 1:
            raise OptionError(
                f"rounds is {rounds}; a private run makes 1 or more, a number that must not depend on the data."
            )
        if not 0 <= start_share < 1:
            raise OptionError(f"The start's share of the budget is in [0, 1); it is {start_share}.")
        return self.mu * math.sqrt(start_share), self.mu * math.sqrt((1 - start_share) / rounds)


def check_epsilon(epsilon: float) -> None:
    """A positive number."""
    if not (math.isfinite(epsilon) and epsilon > 0):
        raise OptionError(
            f"epsilon is {epsilon}; it must be a positive number: 1 is strong, 10 is weak. Nothing was released."
        )


def check_delta(delta: float, count: int | None = None) -> None:
    """In (0, 1), and below 1/count where the number of units is at hand."""
    if not 0 < delta < 1:
        raise OptionError(
            f"delta is {delta}; it must be above 0 and far below 1/n, such as 1e-5. Nothing was released."
        )
    if count is not None and delta * count >= 1:
        raise OptionError(
            f"delta is {delta:g}, which is not below 1/n = {1 / count:.3g}: publishing one record at random would keep such a promise. "
            f"Take {0.1 / count:.1g} or less. Nothing was released."
        )


def check_neighbours(neighbours: str) -> None:
    """One of two."""
    if neighbours not in NEIGHBOURS:
        raise OptionError(
            f"neighbours is {neighbours!r}; expected 'replace' (one record is another) or 'add-remove' (one record is there or not)."
        )
