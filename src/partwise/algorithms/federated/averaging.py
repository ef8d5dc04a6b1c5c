"""Local iterations, then a weighted mean: FedAvg (McMahan et al. 2017), FedProx (Li et al. 2020) and averages taken only once.

    FedAvg, FedProx        here                                      held by
    w_t                    H                                         server, sent
    w_t^k after E epochs   H_p after `local_steps` of the local solver   party, sent
    n_k / n                weights, where sizes are published        server
    μ/2 ‖w − w_t‖²         proximity, relative to mean(diag W_pᵀW_p)

As FNMF's authors have them, the local solver is iPALM; FedProx with proximity 0 is FedAvg.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from partwise.algorithms.federated.local import Anchored, Local
from partwise.algorithms.federated.study import Federated, fitted_W
from partwise.consensus.barycenters import Mean
from partwise.currency import Array, Arrays, Reply
from partwise.protocols import Matrix
from partwise.randomness import Purpose, columns


@final
@dataclass(frozen=True)
class FedAvg(Federated):
    """Message: m k numbers up and down. With `proximity` it is FedProx."""

    local: Local
    proximity: float = 0.0
    own_starts: bool = False  # parties begin apart: what one-shot averages, and studies of alignment, want

    def begin(self, X: Matrix, p: int) -> Arrays:
        return begun(self, X, p, self.own_starts)

    def party(self, X: Matrix, private: Arrays, down: Arrays, t: int, p: int) -> tuple[Arrays, Arrays]:
        H = private["H"] if t == self.first and self.own_starts else down["H"]
        local = self.local
        if self.proximity:
            local = Local(local.update_W, Anchored(local.update_H, self.proximity, down["H"]), local.steps)
        Wt, H = local(X, private["Wt"], H)
        return {"Wt": Wt, "H": H}, {"H": H}

    def server(self, public: Arrays, replies: Sequence[Reply], t: int) -> Arrays:
        parts, weights = received(replies, self.study.weights())
        return {"H": Mean()(parts, weights).H}


def begun(method: Federated, X: Matrix, p: int, own_starts: bool) -> Arrays:
    """What party p keeps first: H, the common start or its own, and the exact W for it."""
    H = own_start(method, p) if own_starts else method.study.start()
    return {"H": H, "Wt": fitted_W(X, H)}


def own_start(method: Federated, p: int) -> Array:
    """(k, m): a start that only party p has."""
    k, m = method.study.k, method.study.m
    drawn = columns(lambda rng, size: rng.random((size, k)), (k, m), method.study.seed, Purpose.LOCAL_START, t=p)
    return drawn.astype(method.study.dtype)


def received(replies: Sequence[Reply], weights: Array) -> tuple[list[Array], Array]:
    """The H_p that came, and the weights of their parties."""
    parts = [reply.arrays["H"] for reply in replies]
    held = np.array([weights[list(reply.parties)].sum() for reply in replies])
    return parts, held if held.any() else np.ones(len(parts))
