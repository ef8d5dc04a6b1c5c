"""What methods share whose server needs sums alone: round 0, in which parties say ‖X_p‖², so that what they say later has a known range.

A secure sum has to make room for every number before it is said. Σ ‖X_p‖² bounds whatever these methods say from round 1 on, and is
itself a sum.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from partwise.algorithms.federated.study import Federated
from partwise.currency import Array, Arrays, Exchange, Field, Reply, total
from partwise.protocols import Matrix

FLOAT64 = np.dtype(np.float64)
NORM = {"sq_norm": Field((), FLOAT64, nonnegative=True)}
ROOM = 2.0**12  # for parties that were not heard in round 0; the secure sum's step grows with it, to 2⁻⁵¹ of the sum


@dataclass(frozen=True)
class Bounded(Federated):
    """Rounds from 1 on are the method's own: `exchange`, `ranges`, `send`, `move` and `step` say what they are."""

    first = 0
    sums = True

    @abstractmethod
    def exchange(self, t: int) -> Exchange:
        """All that goes in round t ≥ 1."""

    @abstractmethod
    def ranges(self, public: Arrays, most: float) -> Mapping[str, float]:
        """A bound on every number that a party may say; `most` is one on Σ ‖X_p‖²."""

    @abstractmethod
    def send(self, public: Arrays, t: int) -> Arrays:
        """What the server sends to all in round t ≥ 1."""

    @abstractmethod
    def move(self, X: Matrix, private: Arrays, down: Arrays, t: int) -> tuple[Arrays, Arrays]:
        """(stays, goes) of round t ≥ 1."""

    @abstractmethod
    def step(self, public: Arrays, said: Reply, t: int) -> Arrays:
        """What the server knows after round t ≥ 1, given the sum of what parties said."""

    def declare(self, t: int, p: int) -> Exchange:
        return Exchange({}, NORM) if t == 0 else self.exchange(t)

    def reach(self, public: Arrays, t: int) -> Mapping[str, float]:
        if t == 0:
            return {"sq_norm": np.inf}
        bounds = self.ranges(public, float(public["bound"]) * (1 + 1e-6))
        return {name: bounds[name] for name in self.exchange(t).up}

    def down(self, public: Arrays, t: int, p: int) -> Arrays:
        return {} if t == 0 else self.send(public, t)

    def party(self, X: Matrix, private: Arrays, down: Arrays, t: int, p: int) -> tuple[Arrays, Arrays]:
        return (private, {"sq_norm": np.array(X.sq_norm())}) if t == 0 else self.move(X, private, down, t)

    def server(self, public: Arrays, replies: Sequence[Reply], t: int) -> Arrays:
        said = total(replies)
        return {**public, "bound": self._heard(said)} if t == 0 else self.step(public, said, t)

    def _heard(self, said: Reply) -> Array:
        """Σ ‖X_p‖² over those that were heard in round 0; with room for the others, if any was missing."""
        return said.arrays["sq_norm"] * (1.0 if len(said.parties) == self.study.parties else ROOM)
