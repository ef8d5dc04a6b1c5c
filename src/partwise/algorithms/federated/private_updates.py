"""FedAvg, FedProx and FNMF under a promise to whole parties: what a party would say of H, clipped as a whole, and noise.

    party p      H_p ← the method's own round, from H and the exact W for it;   U_p = H_p − H, shortened to ‖U_p‖ ≤ C
                 says round(U_p / (P g)) + its share of the noise, in whole steps g
    server       under the secure sum: H ← [H + the mean update]₊
                 in the open: [H + U_p]₊ of each party goes to the method's own server, to be aligned and averaged for free

H has rows of length one throughout, so that C, a share of ‖H‖ = √k, is public. Replacing a party moves the mean update by at most 2C/P.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from typing import final

import numpy as np

from partwise.algorithms.federated.averaging import FedAvg
from partwise.algorithms.federated.exact import unit_rows
from partwise.algorithms.federated.fnmf import Fnmf
from partwise.algorithms.federated.noised import FLOAT64, SAID, Noised
from partwise.algorithms.federated.study import fitted_W
from partwise.currency import Array, Arrays, Exchange, Field, Reply
from partwise.privacy.clip import clip_scales, sum_sensitivity
from partwise.privacy.ledger import Release
from partwise.privacy.mechanisms import LatticeGaussian
from partwise.protocols import Matrix


@final
@dataclass(frozen=True)
class PrivateUpdates(Noised):
    """Message: m k numbers up and down."""

    inner: FedAvg | Fnmf
    mu: float  # of all rounds together
    clip: float  # C, as a share of √k

    @property
    def sums(self) -> bool:  # type: ignore[override]
        """A mean can be had from a sum; an alignment needs to see what each party says, noisy as it is."""
        return isinstance(self.inner, FedAvg)

    def declare(self, t: int, p: int) -> Exchange:
        return Exchange(self.study.model, {SAID: Field((self.study.k * self.study.m,), FLOAT64)})

    def opening(self) -> Arrays:
        return {"H": unit_rows(self.study.start())}

    def begin(self, X: Matrix, p: int) -> Arrays:
        return {"H": self.opening()["H"]}

    def release(self, down: Arrays, t: int, p: int) -> Release:
        return self.told("update of H, clipped as a whole", self._mechanism())

    def party(self, X: Matrix, private: Arrays, down: Arrays, t: int, p: int) -> tuple[Arrays, Arrays]:
        H = down["H"]
        stays, goes = self.inner.party(X, {**private, "Wt": fitted_W(X, H, private.get("Wt"))}, down, t, p)
        update = (goes["H"] - H).astype(FLOAT64)
        update *= clip_scales(np.array([np.linalg.norm(update)]), self._limit)
        said = self.shares.said(update.ravel() / self.shares.parties, self._mechanism(), self.noise(t, p))
        return stays, {SAID: said}

    def server(self, public: Arrays, replies: Sequence[Reply], t: int) -> Arrays:
        if self.sums:
            noisy, _, parties = self.heard(replies, self._mechanism())
            moved = self._moved(public["H"], noisy / len(parties))
        else:
            step = self._mechanism().step
            seen = [Reply(r.parties, {"H": self._moved(public["H"], r.arrays[SAID] * step)}) for r in replies]
            moved = self.inner.server(public, seen, t)["H"]
        return {"H": unit_rows(np.where(moved.any(axis=1, keepdims=True), moved, public["H"]))}

    def finish(self, X: Matrix, private: Arrays, down: Arrays, p: int) -> Arrays:
        return self.inner.finish(X, {**private, "Wt": fitted_W(X, down["H"], private.get("Wt"))}, down, p)

    @property
    def _limit(self) -> float:
        return self.clip * sqrt(self.study.k)

    def _mechanism(self) -> LatticeGaussian:
        """The same in every round, of which each costs as much."""
        sensitivity = sum_sensitivity(self._limit, self.terms.neighbours) / self.shares.parties
        return LatticeGaussian.of_strength(self.mu / sqrt(self.study.rounds), sensitivity, self.study.k * self.study.m)

    def _moved(self, H: Array, update: Array) -> Array:
        """[H + P times a P-th of an update]₊"""
        return np.maximum(H + self.shares.parties * update.reshape(H.shape), 0.0).astype(self.study.dtype)
