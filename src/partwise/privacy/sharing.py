"""Who adds the noise of what parties say together: each a share, under the secure sum; or each all of it, in the open.

Under the secure sum nobody sees more than the sum, so the parties' noises need only add up. Each adds variance σ²/(P − t), t being how
many parties may vanish or collude: those that are left, and keep their noise to themselves, have added σ² together. In the open each
party's own words must be noisy enough: P parties add P σ², so that the sum is √P times as noisy.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from partwise.currency import Array
from partwise.errors import OptionError
from partwise.privacy.mechanisms import EXACT, LatticeGaussian
from partwise.privacy.noise import NoiseSource

FEWEST = 3  # parties of a secure sum: of the sum of two each would know the other's part


@final
@dataclass(frozen=True)
class NoiseShares:
    """How P parties make the noise of their sum. `colluders`: a party knows its own noise, so one of them is to be reckoned with."""

    parties: int
    secure: bool
    dropouts: int = 0
    colluders: int = 1

    def __post_init__(self) -> None:
        for name in ("dropouts", "colluders"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 0:
                raise OptionError(f"{name}={value!r}; expected a whole number ≥ 0 of parties.")
        if not self.secure:
            return
        if self.parties < FEWEST:
            raise OptionError(f"A secure sum needs {FEWEST} parties at least and has {self.parties}. With secure_sum=False every party "
                              "adds all of the noise itself, which costs a factor √P.")  # fmt: skip
        if self.parties - self.dropouts < FEWEST or self.parties - self.dropouts - self.colluders < 1:
            raise OptionError(
                f"Of {self.parties} parties, {self.dropouts} may vanish and {self.colluders} collude: too few are left to make the noise. "
                f"Expected {FEWEST} parties that stay, one of them honest."
            )

    @property
    def share(self) -> float:
        """Of σ², what each party adds."""
        return 1.0 / (self.parties - self.dropouts - self.colluders) if self.secure else 1.0

    @property
    def least(self) -> int:
        """How many parties a sum must have."""
        return self.parties - self.dropouts if self.secure else 1

    def said(self, vector: Array, mechanism: LatticeGaussian, rng: NoiseSource) -> Array:
        """(entries,) whole numbers: a party's vector in steps of the lattice, rounded once, and its noise. Sums of these are exact."""
        deviation = math.sqrt(self.share) * mechanism.scale
        if deviation < 4 * mechanism.step:
            raise OptionError(f"A share of the noise has deviation {deviation:g}, too little for a lattice of step {mechanism.step:g}: "
                              "fewer parties, or a smaller epsilon.")  # fmt: skip
        return (mechanism.snap(vector) + mechanism.noise(rng, self.share)).astype(np.float64)

    def scale(self, mechanism: LatticeGaussian, members: int) -> float:
        """The standard deviation of the noise in a sum of so many parties: at least what is promised."""
        return mechanism.scale * math.sqrt(self.share * members)

    @property
    def reach(self) -> float:
        """The largest number of steps that a party may say: sums of P such are exact."""
        return EXACT // self.parties

    @property
    def adversary(self) -> str:
        """Whom the noise protects against."""
        if not self.secure:
            return (
                "anybody who sees everything that leaves a party (the server and the other parties do), knows all other records and the "
                "method, and has any computing power; a party is trusted with its own data only"
            )
        return (
            f"the server and {self.colluders} of the {self.parties} parties together, who follow the protocol, know all other records "
            "and see every noisy sum; what a single party says stays hidden by the secure sum, and so by cryptography"
        )

    @property
    def facts(self) -> dict[str, Any]:
        """For a ledger."""
        if not self.secure:
            how = f"local: each of {self.parties} parties adds all of it, so that the sum is √{self.parties} times as noisy"
            return {"noise_added": how, "parties": self.parties, "secure_sum": False}
        how = f"in shares through the secure sum: each party adds 1/{self.parties - self.dropouts - self.colluders} of the variance"
        return {"noise_added": how, "parties": self.parties, "secure_sum": True, "dropouts": self.dropouts,
                "colluders": self.colluders, "least": self.least}  # fmt: skip
