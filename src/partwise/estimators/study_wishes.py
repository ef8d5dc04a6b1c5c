"""What may be wished of a study between parties, but its data: checked, and made into a method."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, final

import numpy as np

from partwise.algorithms.federated.merging import ONE_ROUND
from partwise.algorithms.federated.methods import method
from partwise.algorithms.federated.private_methods import Asked
from partwise.algorithms.federated.study import Study
from partwise.drivers.safety import Safety
from partwise.errors import OptionError
from partwise.estimators.hiding import Hiding
from partwise.estimators.privacy_wishes import Privacy
from partwise.privacy.sharing import FEWEST
from partwise.protocols import Round

ROUNDS = 30


@final
@dataclass(frozen=True)
class Wishes:
    """Every wish but the data."""

    n_components: int
    method: str = "exact"
    rounds: int | None = None  # None: 30, or as many as the private method makes
    tol: float = 0.0
    seed: int = 0
    secure_sum: bool | str = False  # nobody, not even the server, sees what one party says: see `Hiding`
    speeds: str = "equal"  # of simulated parties: "equal" or "uniform:1..10"
    dropout: float = 0.0  # probability that a party vanishes in a round
    measure_every: int = (
        1  # rounds between measurements, where a method does not know its error; none under a secure sum
    )
    options: Mapping[str, Any] = field(default_factory=dict)  # the method's own
    privacy: Privacy | None = None  # what is promised; then sums are secure as it says, and nobody measures the error

    def __post_init__(self) -> None:
        for name in ("n_components", "rounds"):
            value = getattr(self, name)
            if name == "rounds" and value is None:
                continue
            if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 1:
                raise OptionError(f"{name}={value!r}; expected a positive whole number.")
        if not isinstance(self.tol, (int, float, np.number)) or not 0 <= self.tol < math.inf:
            raise OptionError(f"tol={self.tol!r}; expected a number ≥ 0.")
        if isinstance(self.measure_every, bool) or not isinstance(self.measure_every, int) or self.measure_every < 0:
            raise OptionError(
                f"measure_every={self.measure_every!r}; expected rounds between measurements, or 0 for none."
            )
        if not 0 <= self.seed < 2**63:
            raise OptionError(f"seed={self.seed!r}; expected a whole number from 0 to 2⁶³ − 1.")
        hiding = Hiding.of(self.secure_sum)
        if self.privacy is not None and hiding is not None and hiding.by != "masks":
            raise OptionError(f"secure_sum={self.secure_sum!r} is for comparing methods without noise; a private study has the secure sum "
                              "by itself: leave it out.")  # fmt: skip
        if self.privacy is not None and hiding is not None and not self.privacy.secure_sum:
            raise OptionError("secure_sum=True, and secure_sum=False under privacy: say it once, under privacy.")
        if self.privacy is not None and self.tol:
            raise OptionError(f"tol={self.tol!r} would stop by an error that depends on every record. A private study makes a number of "
                              "rounds that is settled beforehand: leave tol=0, and set rounds.")  # fmt: skip

    def round_method(self, shape: tuple[int, Sequence[int]], dtype: Any) -> Round:
        """The method for m features and parties of these sizes."""
        m, sizes = shape
        if self.privacy is not None:
            return self.privacy.round_method(
                Asked(self.method, int(self.n_components), m, sizes, self.rounds, self.seed, self.options)
            )
        study = Study(int(self.n_components), m, len(sizes), self.last, self.seed, np.dtype(dtype), tuple(sizes))
        chosen = method(self.method, study, self.options)
        if self.secure_sum and not chosen.sums:
            raise OptionError(
                f"method={self.method!r} needs to see what each party says, so it cannot have secure_sum; take method='exact'."
            )
        return chosen

    def safety(self, parties: int) -> Safety:
        """What all parties insist on: sums only, if they are to be secure, and of enough parties to make the noise."""
        if self.privacy is None:
            hiding = Hiding.of(self.secure_sum)
            return Safety(parties) if hiding is None else Safety(parties, True, hiding.by, key_bits=hiding.key_bits)
        shares = self.privacy.shares(parties)
        return Safety(parties, only_sums=shares.secure, fewest=max(FEWEST, shares.least) if shares.secure else FEWEST)

    @property
    def last(self) -> int:
        """The last round."""
        return 1 if self.method in ONE_ROUND else int(self.rounds or ROUNDS)
