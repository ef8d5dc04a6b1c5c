"""What private methods between parties share: what is promised, whose noise it is, and what they never say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from partwise.algorithms.federated.study import Federated, fitted_W
from partwise.currency import Array, Arrays, Reply, total
from partwise.errors import RunError
from partwise.privacy.ledger import Release
from partwise.privacy.mechanisms import LatticeGaussian
from partwise.privacy.noise import NoiseSource, noise_source
from partwise.privacy.sharing import NoiseShares
from partwise.privacy.terms import Terms
from partwise.protocols import Matrix

FLOAT64 = np.dtype(np.float64)
SAID = "steps"  # what a party says: whole numbers, in steps of the mechanism's lattice


@dataclass(frozen=True)
class Noised(Federated):
    """A method whose parties say nothing without noise."""

    shares: NoiseShares
    terms: Terms

    @property
    def promise(self) -> Terms:  # type: ignore[override]
        return self.terms

    def reach(self, public: Arrays, t: int) -> Mapping[str, float]:
        return {SAID: self.shares.reach}

    def measure(self, X: Matrix, private: Arrays, down: Arrays, p: int) -> Arrays:
        raise RunError(
            f"Party {p} was asked how well its own data fit, in a private study: no noise would hide a record in that."
        )

    def begin(self, X: Matrix, p: int) -> Arrays:
        return {}

    def finish(self, X: Matrix, private: Arrays, down: Arrays, p: int) -> Arrays:
        return {**private, "Wt": fitted_W(X, down["H"])}

    def noise(self, t: int, p: int) -> NoiseSource:
        """Party p's, in round t."""
        return noise_source(self.terms.insecure_seed, t, 1 + p)

    def told(self, what: str, mechanism: LatticeGaussian) -> Release:
        """For the ledger."""
        return Release(what, mechanism, ("the server", "all parties"), self.shares.facts)

    def heard(self, replies: Sequence[Reply], mechanism: LatticeGaussian) -> tuple[Array, float, tuple[int, ...]]:
        """(the noisy sum, the deviation of its noise, whose sum it is)"""
        said = total(replies)
        scale = self.shares.scale(mechanism, len(said.parties))
        return said.arrays[SAID] * mechanism.step, scale, said.parties
