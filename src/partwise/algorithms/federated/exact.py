"""Exact federated HALS: the pooled fit, though nobody pools. Only two sums ever leave the parties.

    party p      W_p ← argmin_{W ≥ 0} ‖X_p − W Y‖² exactly;   says W_pᵀW_p, W_pᵀX_p and ‖X_p‖²
    server       (gram, cross) ← the sums;   H ← HALS sweeps from Y on (gram, cross);   Y ← H pushed on along its way, rows of norm 1

The pair is that of DID. The server needs sums alone, so a secure sum may hide what each party says. In round 0 the parties say
‖X_p‖², whose sum bounds every number that is said later: with rows of Y of norm 1 and exact W, ‖w‖ ≤ ‖x‖ for every record. They
say it again in each round, so that the error is of those whose replies counted, whoever is missing.

Messages being what costs, the parties solve exactly and the server sweeps often. It pushes much farther than one machine would
(`push` from 1, growing by 1.2 a round, halved where the error rose): the error of a round is that of the best W for Y, known from
the sums, so a bad push shows at once (docs/decisions/0018-rounds.md).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import final

import numpy as np

from partwise.algorithms.federated.bounded import FLOAT64, NORM, Bounded
from partwise.algorithms.federated.study import fitted_W
from partwise.currency import Array, Arrays, Exchange, Field, NormalEq, Reply
from partwise.kernels.sums import dot64
from partwise.protocols import Matrix
from partwise.updates import Hals


@final
@dataclass(frozen=True)
class Exact(Bounded):
    """Message: (m + k) k + 1 numbers up, m k down; per party and round one product with X_p and one exact solve for W_p."""

    sweeps: int = 20
    extrapolate: bool = True
    growth: float = 1.2
    shrink: float = 2.0
    most: float = 3.0  # push

    def exchange(self, t: int) -> Exchange:
        k, m = self.study.k, self.study.m
        up = {"gram": Field((k, k), FLOAT64, nonnegative=True), "cross": Field((k, m), FLOAT64, nonnegative=True)}
        return Exchange(self.study.model, up | NORM)

    def ranges(self, public: Arrays, most: float) -> Mapping[str, float]:
        return {"gram": most, "cross": most, "sq_norm": np.inf}

    def opening(self) -> Arrays:
        start = unit_rows(self.study.start())
        return {"H": start, "ahead": start, "before": start, "push": np.array(1.0), "error": np.array(np.inf)}

    def send(self, public: Arrays, t: int) -> Arrays:
        return {"H": public["ahead"]}

    def move(self, X: Matrix, private: Arrays, down: Arrays, t: int) -> tuple[Arrays, Arrays]:
        Wt = fitted_W(X, down["H"], private["Wt"])
        pair = X.T.normal_eq(Wt, down["H"])
        sums = {"gram": pair.gram.astype(FLOAT64), "cross": pair.cross.astype(FLOAT64)}
        return {**private, "Wt": Wt}, {**sums, "sq_norm": np.array(X.sq_norm())}

    def step(self, public: Arrays, said: Reply, t: int) -> Arrays:
        gram, cross, sq_norm = (said.arrays[name] for name in ("gram", "cross", "sq_norm"))
        Y, eq = public["ahead"].astype(FLOAT64), NormalEq(gram, cross)
        sq_error = float(sq_norm) - 2 * dot64(eq.cross, Y) + dot64(eq.gram, Y @ Y.T)
        error = max(sq_error, 0.0) / float(sq_norm) if sq_norm > 0 else 0.0
        H, _ = Hals(self.sweeps)(Y, eq, ())
        rose, push = error > public["error"], float(public["push"])
        plain = t == 1 or rose or not self.extrapolate
        ahead = H if plain else pushed(H, public["before"], push)
        push = push / self.shrink if rose else min(self.most, push * self.growth)
        sent = unit_rows(ahead).astype(self.study.dtype)
        news = {"H": unit_rows(H).astype(self.study.dtype), "ahead": sent, "before": H}
        return {**public, **news, "push": np.array(push), "error": np.array(error)}

    def known_error(self, public: Arrays) -> float | None:
        """Of the H that was sent last, with the W that the parties found for it."""
        error = float(public["error"])  # squared
        return float(np.sqrt(error)) if np.isfinite(error) else None


def pushed(H: Array, before: Array, push: float) -> Array:
    """[H + push (H − before)]₊, but a component that would vanish stays where it is."""
    ahead = np.maximum(H + push * (H - before), 0)
    return np.where(ahead.any(axis=1, keepdims=True), ahead, H)


def unit_rows(H: Array) -> Array:
    """H with components of norm 1, dead ones left as they are."""
    norms = np.linalg.norm(H, axis=1, keepdims=True)
    return H / np.where(norms > 0, norms, 1)
