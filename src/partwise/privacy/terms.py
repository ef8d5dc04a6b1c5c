"""The terms of a private run: what is promised to whom, as a ledger's first line says it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, final

from partwise.errors import DataError, OptionError
from partwise.privacy.accountant import Accountant, Budget, Neighbours, check_delta, check_epsilon, check_neighbours

TRUSTED_CURATOR = (
    "anybody who sees everything that is published, knows all other records and the method, and has any computing power; "
    "the one who runs the method is trusted with the data"
)


@final
@dataclass(frozen=True)
class Terms:
    """Who is protected, against whom, how far."""

    delta: float
    count: int | None  # of units; public knowledge
    epsilon: float | None = None  # the budget; None: only counted, never stopped
    unit: str = "record"
    neighbours: Neighbours = "replace"
    adversary: str = TRUSTED_CURATOR
    method: str = ""
    insecure_seed: int | None = None  # noise that can be repeated, and subtracted by whoever knows the seed

    def __post_init__(self) -> None:
        check_neighbours(self.neighbours)
        if self.count is None:
            raise OptionError(
                f"How many {self.unit}s there are must be public knowledge, since sums are divided by it: "
                "give n_records. It is not read from the data."
            )
        if self.count < 2:
            raise OptionError(
                f"There is {self.count} {self.unit}: what is published of it alone cannot hide it. Expected two or more."
            )
        check_delta(self.delta, self.count)
        if self.epsilon is not None:
            check_epsilon(self.epsilon)

    @property
    def budget(self) -> Budget | None:
        """What may be spent, if that is limited."""
        return None if self.epsilon is None else Budget(self.epsilon, self.delta)

    def accountant(self) -> Accountant:
        """One that has counted nothing yet."""
        return Accountant(self.neighbours)

    def to_json(self) -> dict[str, Any]:
        """As the first line of a ledger has it."""
        return asdict(self)

    @classmethod
    def from_json(cls, said: Mapping[str, Any]) -> Terms:
        """From the first line of a ledger; what promises nothing is refused."""
        kinds = {"delta": float, "count": int, "epsilon": float | int | None, "insecure_seed": int | None}
        names = {each.name for each in fields(cls)}
        if not isinstance(said, Mapping) or set(said) != names:
            raise DataError(f"the terms are {said}; expected {', '.join(sorted(names))}")
        for name, value in said.items():
            if not isinstance(value, kinds.get(name, str)):
                raise DataError(f"{name} is {value!r} in the terms")
        return cls(**said)
