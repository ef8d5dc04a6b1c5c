"""FNMF (Dalleiger & Gionis, Algorithms 1 and 2): parties are drawn to their own alignment of H, the server takes a barycenter.

    paper                             here                          held by
    X_j (n_j, m), U_j                 X_p, W_p                      party, never sent
    V_j                               H_p                           party, sent
    V̄                                 H                             server, sent
    P̂ = arg D_p(V_j, V̄)               align(H_p, H)                 party
    prox(V_j) = (γ P̂V̄ + V_j)/(1+γ)    pulled(H_p, P̂, H, proximity)
    BARYCENTER                        `barycenter`                  server

Components that an alignment leaves out keep their own value. A party keeps its own order of components: where the paper sets V_j ← V̄,
and so pairs U_j with components in another order, H_p ← P̂ H (`own_order`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from partwise.algorithms.federated.averaging import begun, received
from partwise.algorithms.federated.local import Local
from partwise.algorithms.federated.study import Federated, fitted_W
from partwise.consensus.barycenters import Barycenter
from partwise.consensus.plans import Alignment, pulled
from partwise.currency import Array, Arrays, Reply
from partwise.protocols import Matrix


@final
@dataclass(frozen=True)
class Fnmf(Federated):
    """Message: m k numbers up and down."""

    local: Local
    align: Alignment
    barycenter: Barycenter
    proximity: float = 0.1  # γ
    own_starts: bool = False
    own_order: bool = True
    personal: bool = False  # the alignment may leave components out: parties end with their own version of H

    def begin(self, X: Matrix, p: int) -> Arrays:
        return begun(self, X, p, self.own_starts)

    def party(self, X: Matrix, private: Arrays, down: Arrays, t: int, p: int) -> tuple[Arrays, Arrays]:
        shared = down["H"]
        Wt, H = self.local(X, private["Wt"], self.synchronised(private["H"], shared, t),
                           lambda H: pulled(H, self.align(H, shared), shared, self.proximity))  # fmt: skip
        return {"Wt": Wt, "H": H}, {"H": H}

    def server(self, public: Arrays, replies: Sequence[Reply], t: int) -> Arrays:
        parts, weights = received(replies, self.study.weights())
        return {"H": self.barycenter(parts, weights, public["H"] if t > self.first or not self.own_starts else None).H}

    def finish(self, X: Matrix, private: Arrays, down: Arrays, p: int) -> Arrays:
        ended = super().finish(X, private, down, p)
        if not self.personal:
            return {"Wt": ended["Wt"]}
        H = pulled(private["H"], self.align(private["H"], down["H"]), down["H"], np.inf)
        return {"Wt": ended["Wt"], "H": H, "Wt_own": fitted_W(X, H, private["Wt"])}

    def synchronised(self, own: Array, shared: Array, t: int) -> Array:
        """H_p at the beginning of a round."""
        if t == self.first and self.own_starts:
            return own
        return pulled(own, self.align(own, shared), shared, np.inf) if self.own_order else shared
