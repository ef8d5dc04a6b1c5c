"""Exact federated HALS: the pooled fit, though nobody pools. Only two sums ever leave the parties.

    party p      W_p ← argmin_{W ≥ 0} ‖X_p − W Y‖² exactly;   says W_pᵀW_p, W_pᵀX_p and ‖X_p‖²
    server       (gram, cross) ← the sums;   H ← HALS sweeps from Y on (gram, cross);   Y ← H pushed on along its way, rows of norm 1

The pair is that of DID. The server needs sums alone, so a secure sum may hide what each party says. In round 0 the parties say
‖X_p‖², whose sum bounds every number that is said later: with rows of Y of norm 1 and exact W, ‖w‖ ≤ ‖x‖ for every record. They
say it again in each round, so that the error is of those whose replies counted, whoever is missing.

Messages being what costs, the parties solve exactly and the server sweeps often. It pushes much farther than one machine would
(`push` from 1, growing by 1.2 a round, halved where the error rose): the error of a round is that of the best W for Y, known from
the sums, so a bad push shows at once (docs/decisions, "rounds").
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from partwise.algorithms.federated.study import Federated, fitted_W
from partwise.currency import Array, Arrays, Exchange, Field, NormalEq, Reply, total
from partwise.kernels.sums import dot64
from partwise.protocols import Matrix
from partwise.updates import Hals

FLOAT64 = np.dtype(np.float64)
ROOM = 2.0**12  # for parties that were not heard in round 0; the secure sum's step grows with it, to 2⁻⁵¹ of the sum


@final
@dataclass(frozen=True)
class Exact(Federated):
    """Message: (m + k) k + 1 numbers up, m k down; per party and round one product with X_p and one exact solve for W_p."""

    sweeps: int = 20
    extrapolate: bool = True
    growth: float = 1.2
    shrink: float = 2.0
    most: float = 3.0  # push

    first = 0
    sums = True

    def declare(self, t: int, p: int) -> Exchange:
        k, m = self.study.k, self.study.m
        norm = {"sq_norm": Field((), FLOAT64, nonnegative=True)}
        if t == 0:
            return Exchange({}, norm)
        up = {"gram": Field((k, k), FLOAT64, nonnegative=True), "cross": Field((k, m), FLOAT64, nonnegative=True)}
        return Exchange(self.study.model, up | norm)

    def reach(self, public: Arrays, t: int) -> Mapping[str, float]:
        most = bound(public, t)
        return {"sq_norm": np.inf} if t == 0 else {"gram": most, "cross": most, "sq_norm": np.inf}

    def opening(self) -> Arrays:
        start = unit_rows(self.study.start())
        return {"H": start, "ahead": start, "before": start, "push": np.array(1.0), "error": np.array(np.inf)}

    def down(self, public: Arrays, t: int, p: int) -> Arrays:
        return {} if t == 0 else {"H": public["ahead"]}

    def party(self, X: Matrix, private: Arrays, down: Arrays, t: int, p: int) -> tuple[Arrays, Arrays]:
        if t == 0:
            return private, {"sq_norm": np.array(X.sq_norm())}
        Wt = fitted_W(X, down["H"], private["Wt"])
        pair = X.T.normal_eq(Wt, down["H"])
        said = {
            "gram": pair.gram.astype(FLOAT64),
            "cross": pair.cross.astype(FLOAT64),
            "sq_norm": np.array(X.sq_norm()),
        }
        return {**private, "Wt": Wt}, said

    def server(self, public: Arrays, replies: Sequence[Reply], t: int) -> Arrays:
        said = total(replies).arrays
        if t == 0:
            return {**public, "bound": heard(replies, self.study.parties)}
        Y, eq = public["ahead"].astype(FLOAT64), NormalEq(said["gram"], said["cross"])
        sq_error = float(said["sq_norm"]) - 2 * dot64(eq.cross, Y) + dot64(eq.gram, Y @ Y.T)
        error = max(sq_error, 0.0) / float(said["sq_norm"]) if said["sq_norm"] > 0 else 0.0
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


def bound(public: Arrays, t: int) -> float:
    """On every number that a party says after round 0."""
    return np.inf if t == 0 else float(public["bound"]) * (1 + 1e-6)


def heard(replies: Sequence[Reply], parties: int) -> Array:
    """Σ ‖X_p‖² over those that were heard in round 0; with room for the others, if any was missing."""
    said = total(replies)
    return said.arrays["sq_norm"] * (1.0 if len(said.parties) == parties else ROOM)


def pushed(H: Array, before: Array, push: float) -> Array:
    """[H + push (H − before)]₊, but a component that would vanish stays where it is."""
    ahead = np.maximum(H + push * (H - before), 0)
    return np.where(ahead.any(axis=1, keepdims=True), ahead, H)


def unit_rows(H: Array) -> Array:
    """H with components of norm 1, dead ones left as they are."""
    norms = np.linalg.norm(H, axis=1, keepdims=True)
    return H / np.where(norms > 0, norms, 1)
