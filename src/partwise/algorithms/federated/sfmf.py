"""SFMF (Chai, Wang, Chen & Yang 2020): gradients of H are shared under additive encryption, the server takes the step.

    paper                          here                                          held by
    user vectors u_i               rows of W_p, by projected gradient steps      party, never sent
    item gradients, encrypted      W_pᵀ(W_p H − X_p), under the secure sum       party; the server sees the sum
    learning rate γ                1 / Σ_p λ_max(W_pᵀW_p), no larger than 1 / λ_max of the sum

The paper's fixed learning rate has to be searched for each data set; curvatures add up like gradients, so they are shared as one more
number. In round 0 the parties say ‖X_p‖², whose sum bounds every number that is said later: with rows of H of length one and
‖X_p − W_p H‖ ≤ ‖X_p‖, no entry of a gradient exceeds 2 ‖X_p‖², nor does a curvature exceed 4 ‖X_p‖².
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from partwise.algorithms.federated.exact import FLOAT64, bound, heard, unit_rows
from partwise.algorithms.federated.study import Federated
from partwise.currency import Array, Arrays, Exchange, Field, NormalEq, Reply, total
from partwise.protocols import Matrix
from partwise.updates import Pgd
from partwise.updates.gradient import curvature


@final
@dataclass(frozen=True)
class Sfmf(Federated):
    """Message: m k + k numbers down, m k + 1 up, of which the server needs the sum alone."""

    w_steps: int = 10

    first = 0
    sums = True

    def declare(self, t: int, p: int) -> Exchange:
        k, m = self.study.k, self.study.m
        if t == 0:
            return Exchange({}, {"sq_norm": Field((), FLOAT64, nonnegative=True)})
        down = {**self.study.model, "lengths": Field((k,), np.dtype(self.study.dtype), nonnegative=True)}
        return Exchange(down, {"gradient": Field((k, m), FLOAT64), "curvature": Field((), FLOAT64, nonnegative=True)})

    def reach(self, public: Arrays, t: int) -> Mapping[str, float]:
        if t == 0:
            return {"sq_norm": np.inf}
        most = bound(public, t)
        return {"gradient": 2 * most, "curvature": 4 * most}

    def opening(self) -> Arrays:
        return {"H": unit_rows(self.study.start()), "lengths": np.ones(self.study.k, self.study.dtype)}

    def down(self, public: Arrays, t: int, p: int) -> Arrays:
        return {} if t == 0 else {"H": public["H"], "lengths": public["lengths"]}

    def party(self, X: Matrix, private: Arrays, down: Arrays, t: int, p: int) -> tuple[Arrays, Arrays]:
        if t == 0:
            return private, {"sq_norm": np.array(X.sq_norm())}
        H = down["H"]
        eq = X.normal_eq(H, private["Wt"])
        Wt = levelled(private["Wt"] * down["lengths"][:, None], eq)
        Wt, _ = Pgd(self.w_steps)(Wt, eq, ())
        pair = X.T.normal_eq(Wt, H)
        said = {"gradient": pair.gradient(H).astype(FLOAT64), "curvature": np.array(curvature(pair.gram), FLOAT64)}
        return {**private, "Wt": Wt}, said

    def server(self, public: Arrays, replies: Sequence[Reply], t: int) -> Arrays:
        said = total(replies).arrays
        if t == 0:
            return {**public, "bound": heard(replies, self.study.parties)}
        step = 1 / max(float(said["curvature"]), float(np.finfo(FLOAT64).tiny))
        H = np.maximum(public["H"] - step * said["gradient"], 0)
        lengths = np.linalg.norm(H, axis=1)
        dtype = self.study.dtype
        return {**public, "H": unit_rows(H).astype(dtype), "lengths": np.where(lengths > 0, lengths, 1).astype(dtype)}


def levelled(Wt: Array, eq: NormalEq) -> Array:
    """W at the level that fits X best, so that ‖X − WH‖ ≤ ‖X‖ whatever W was."""
    fitted, size = float(np.vdot(Wt, eq.cross)), float(np.vdot(Wt, eq.gram @ Wt))
    return Wt * Wt.dtype.type(max(fitted, 0.0) / size if size > 0 else 0.0)
