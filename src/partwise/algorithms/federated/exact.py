"""Exact federated HALS: the pooled fit, though nobody pools. Only two sums ever leave the parties.

    party p      W_p ← argmin_{W ≥ 0} ‖X_p − W H‖² exactly;   says W_pᵀW_p and W_pᵀX_p
    server       (gram, cross) ← the sums;   H ← several HALS sweeps on (gram, cross)

The server needs the sums alone (DID's pair, see Gao & Chu), so a secure sum may hide what each party says. In round 0 the parties
say ‖X_p‖², whose sum bounds every number that is said later: with rows of H of norm 1 and exact W, ‖w‖ ≤ ‖x‖ row by row.
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


@final
@dataclass(frozen=True)
class Exact(Federated):
    """Message: (m + k) k numbers up, m k down; per party and round one product with X_p and one exact solve for W_p."""

    sweeps: int = 10

    first = 0
    sums = True

    def declare(self, t: int, p: int) -> Exchange:
        k, m = self.study.k, self.study.m
        if t == 0:
            return Exchange({}, {"sq_norm": Field((), FLOAT64, nonnegative=True)})
        up = {"gram": Field((k, k), FLOAT64, nonnegative=True), "cross": Field((k, m), FLOAT64, nonnegative=True)}
        return Exchange(self.study.model, up)

    def reach(self, public: Arrays, t: int) -> Mapping[str, float]:
        if t == 0:
            return {"sq_norm": np.inf}
        most = float(public["sq_norm"]) * (1 + 1e-6)
        return {"gram": most, "cross": most}

    def opening(self) -> Arrays:
        return {"H": unit_rows(self.study.start())}

    def down(self, public: Arrays, t: int, p: int) -> Arrays:
        return {} if t == 0 else {"H": public["H"]}

    def party(self, X: Matrix, private: Arrays, down: Arrays, t: int, p: int) -> tuple[Arrays, Arrays]:
        if t == 0:
            return private, {"sq_norm": np.array(X.sq_norm())}
        Wt = fitted_W(X, down["H"], private["Wt"])
        pair = X.T.normal_eq(Wt, down["H"])
        return {**private, "Wt": Wt}, {"gram": pair.gram.astype(FLOAT64), "cross": pair.cross.astype(FLOAT64)}

    def server(self, public: Arrays, replies: Sequence[Reply], t: int) -> Arrays:
        said = total(replies).arrays
        if t == 0:
            return {**public, "sq_norm": said["sq_norm"]}
        H, eq = public["H"], NormalEq(said["gram"], said["cross"])
        H, _ = Hals(self.sweeps)(H.astype(FLOAT64), eq, ())
        error = public["sq_norm"] - 2 * dot64(eq.cross, H) + dot64(eq.gram, H @ H.T)
        return {**public, "H": unit_rows(H).astype(self.study.dtype), "sq_error": np.array(error)}

    def known_error(self, public: Arrays) -> float | None:
        if "sq_error" not in public or public["sq_norm"] == 0:
            return None
        return float(np.sqrt(max(public["sq_error"], 0.0) / public["sq_norm"]))


def unit_rows(H: Array) -> Array:
    """H with components of norm 1, dead ones left as they are."""
    norms = np.linalg.norm(H, axis=1, keepdims=True)
    return H / np.where(norms > 0, norms, 1)
