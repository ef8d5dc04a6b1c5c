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

from collections.abc import Mapping
from dataclasses import dataclass
from typing import final

import numpy as np

from partwise.algorithms.federated.bounded import FLOAT64, Bounded
from partwise.algorithms.federated.exact import unit_rows
from partwise.currency import Array, Arrays, Exchange, Field, NormalEq, Reply
from partwise.protocols import Matrix
from partwise.updates import Pgd
from partwise.updates.gradient import curvature

NEVER_LESS = float(np.finfo(np.float32).tiny)  # is the curvature, of all-zero data too, in either precision


@final
@dataclass(frozen=True)
class Sfmf(Bounded):
    """Message: m k + k numbers down, m k + 1 up, of which the server needs the sum alone."""

    w_steps: int = 10

    def exchange(self, t: int) -> Exchange:
        k, m = self.study.k, self.study.m
        down = {**self.study.model, "lengths": Field((k,), np.dtype(self.study.dtype), nonnegative=True)}
        return Exchange(down, {"gradient": Field((k, m), FLOAT64), "curvature": Field((), FLOAT64, nonnegative=True)})

    def ranges(self, public: Arrays, most: float) -> Mapping[str, float]:
        return {"gradient": 2 * most, "curvature": max(4 * most, NEVER_LESS)}

    def opening(self) -> Arrays:
        return {"H": unit_rows(self.study.start()), "lengths": np.ones(self.study.k, self.study.dtype)}

    def send(self, public: Arrays, t: int) -> Arrays:
        return {"H": public["H"], "lengths": public["lengths"]}

    def move(self, X: Matrix, private: Arrays, down: Arrays, t: int) -> tuple[Arrays, Arrays]:
        H = down["H"]
        eq = X.normal_eq(H, private["Wt"])
        Wt = levelled(private["Wt"] * down["lengths"][:, None], eq)
        Wt, _ = Pgd(self.w_steps)(Wt, eq, ())
        pair = X.T.normal_eq(Wt, H)
        said = {"gradient": pair.gradient(H).astype(FLOAT64), "curvature": np.array(curvature(pair.gram), FLOAT64)}
        return {**private, "Wt": Wt}, said

    def step(self, public: Arrays, said: Reply, t: int) -> Arrays:
        size = 1 / max(float(said.arrays["curvature"]), float(np.finfo(FLOAT64).tiny))
        H = np.maximum(public["H"] - size * said.arrays["gradient"], 0)
        lengths = np.linalg.norm(H, axis=1)
        dtype = self.study.dtype
        return {**public, "H": unit_rows(H).astype(dtype), "lengths": np.where(lengths > 0, lengths, 1).astype(dtype)}


def levelled(Wt: Array, eq: NormalEq) -> Array:
    """W at the level that fits X best, so that ‖X − WH‖ ≤ ‖X‖ whatever W was."""
    fitted, size = float(np.vdot(Wt, eq.cross)), float(np.vdot(Wt, eq.gram @ Wt))
    return Wt * Wt.dtype.type(max(fitted, 0.0) / size if size > 0 else 0.0)
