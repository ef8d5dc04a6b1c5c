"""FedAvg, FedProx and FNMF under a promise to records: each party fits its own H to noisy statistics of its own records.

    party p      (H_p, its averages) ← one round of a private method on its own records, from H as it is aligned with it;
                 H_p is pulled towards H as the method has it;   says H_p
    server       aligns and averages the H_p, as ever

A factor that was fitted to the records themselves has no usable sensitivity: replacing one of 243 records moved it by 5.3 after 100 local
steps, where the statistics move by 0.006. So the noise is in the statistics; whatever a party makes of them is free. A record lies at one
party only, so its privacy is that of its own party's releases. Each party adds all of the noise for its own number of records, which is
public: fewer records, more noise.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from partwise.algorithms.federated.averaging import FedAvg
from partwise.algorithms.federated.exact import unit_rows
from partwise.algorithms.federated.fnmf import Fnmf
from partwise.algorithms.federated.noised import Noised
from partwise.algorithms.private.query import PrivateMethod, Query, random_components
from partwise.consensus.plans import pulled
from partwise.currency import Array, Arrays, Reply
from partwise.errors import DataError
from partwise.privacy.ledger import Release
from partwise.privacy.mechanisms import LatticeGaussian
from partwise.protocols import Matrix

STATE = "asked."  # of the private method, among what a party keeps


@final
@dataclass(frozen=True)
class PrivateLocal(Noised):
    """Message: m k numbers up and down."""

    inner: FedAvg | Fnmf
    asked: tuple[PrivateMethod, ...]  # of each party

    def opening(self) -> Arrays:
        return {"H": random_components(self.asked[0].known).astype(self.study.dtype)}

    def begin(self, X: Matrix, p: int) -> Arrays:
        if X.shape[0] != self.asked[p].known.n:
            raise DataError(f"Party {p} has {X.shape[0]} records, and published {self.asked[p].known.n}.")
        return {"H": self.opening()["H"], **_kept(self.asked[p].opening())}

    def release(self, down: Arrays, t: int, p: int) -> Release:
        query, mechanism = self._asked(down, t, p)
        told = self.told(f"{query.what}, at each party, as what follows from them for H", mechanism)
        return told._replace(also={**told.also, "as_of_party": p})

    def party(self, X: Matrix, private: Arrays, down: Arrays, t: int, p: int) -> tuple[Arrays, Arrays]:
        shared = down["H"]
        state = {name.removeprefix(STATE): held for name, held in private.items() if name.startswith(STATE)}
        state["H"] = self._begun(private["H"], shared, t)
        query, mechanism = self._asked(state, t, p)
        noisy, _ = mechanism.release(query.answer(X), self.noise(t, p))
        learned = self.asked[p].learn(state, noisy, mechanism.scale, t)
        H = unit_rows(self._drawn(learned["H"], shared)).astype(self.study.dtype)
        return {"H": H, **_kept(learned)}, {"H": H}

    def server(self, public: Arrays, replies: Sequence[Reply], t: int) -> Arrays:
        return {"H": unit_rows(self.inner.server(public, replies, t)["H"]).astype(self.study.dtype)}

    def finish(self, X: Matrix, private: Arrays, down: Arrays, p: int) -> Arrays:
        return self.inner.finish(X, {**super().finish(X, private, down, p), "H": private["H"]}, down, p)

    def _asked(self, public: Arrays, t: int, p: int) -> tuple[Query, LatticeGaussian]:
        query = self.asked[p].query(public, t)
        strength = self.asked[p].known.mu * query.share**0.5
        return query, LatticeGaussian.of_strength(strength, query.sensitivity, query.entries)

    def _begun(self, own: Array, shared: Array, t: int) -> Array:
        """H_p at the beginning of a round."""
        return self.inner.synchronised(own, shared, t) if isinstance(self.inner, Fnmf) else shared

    def _drawn(self, H: Array, shared: Array) -> Array:
        """H_p pulled towards its alignment of H (FNMF), or towards H (FedProx)."""
        if isinstance(self.inner, Fnmf):
            return pulled(H, self.inner.align(H, shared), shared, self.inner.proximity)
        return pulled(H, np.eye(len(H)), shared, self.inner.proximity) if self.inner.proximity else H


def _kept(state: Arrays) -> dict[str, Array]:
    return {STATE + name: held for name, held in state.items() if name != "H"}
