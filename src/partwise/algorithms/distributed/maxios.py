"""Maxios (Du et al. 2014, as Gao & Chu describe it): ADMM by components, X on every rank, all factors and duals gathered.

Rank p serves the components K_p, here rows of Wt (k, n) and of H (k, m). A = (HHᵀ + ρI)⁻¹ and A' = (UᵀU + ρI)⁻¹ are k × k.

    paper (7)                                    here, components K_p of it                 gathered
    W := (XHᵀ + Φ + ρB)(HHᵀ + ρI)⁻¹              U = A_p V Xᵀ + A_p (Φ + ρW)                 k n
    H := (WᵀW + ρI)⁻¹ (WᵀX + Ψ + ρC)             V = A'_p Uᵀ X + A'_p (Ψ + ρH)               k m
    B := [W − Φ/ρ]₊                              W                                          k n
    C := [H − Ψ/ρ]₊                              H                                          k m
    Φ := Φ + ρ (B − W)                           Φ                                          k n
    Ψ := Ψ + ρ (C − H)                           Ψ                                          k m

Six gathers of 3 (n + m) k numbers. What users get are the nonnegative W and H (the paper's B and C); U and V, which may be negative, are
what the method remembers beside the duals. The loss of (W, H) takes a product that the method does not need, so it is measured every
few iterations. The loss may rise, and with a ρ that doesn't suit X the method may not converge: DID's authors saw it too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import final

import numpy as np

from partwise.algorithms.distributed.did import spoken
from partwise.algorithms.distributed.spread import Spread
from partwise.comm import sum_numbers
from partwise.currency import Array, Message, State
from partwise.data import Layout
from partwise.data.ownership import even_cuts
from partwise.kernels.sums import dot64

MEASURE_EVERY = 5  # iterations between measurements of the loss


@final
@dataclass(frozen=True)
class Maxios:
    """Penalty ρ of both copies; carries are (U, Φ) and (V, Ψ)."""

    rho: float
    k: int
    layout: Layout

    def init(self, X: Spread, Wt: Array, H: Array) -> State:
        return State(Wt, H, self.loss(X, Wt, H), carry_W=(Wt, np.zeros_like(Wt)), carry_H=(H, np.zeros_like(H)))

    def step(self, X: Spread, state: State, t: int) -> State:
        (_, Phi), (V, Psi) = state.carry_W, state.carry_H
        p, rho = self.components(X.shard.rank), X.dtype.type(self.rho)
        A = self.inverse(V)
        U = self.gather(X, X.times(A[p] @ V) + A[p] @ (Phi + rho * state.Wt))  # (7a)
        A = self.inverse(U)
        V = self.gather(X, X.times_T(A[p] @ U) + A[p] @ (Psi + rho * state.H))  # (7b)
        Wt = self.gather(X, np.maximum(U[p] - Phi[p] / rho, 0))  # (7c)
        H = self.gather(X, np.maximum(V[p] - Psi[p] / rho, 0))  # (7d)
        Phi = self.gather(X, Phi[p] + rho * (Wt[p] - U[p]))  # (7e)
        Psi = self.gather(X, Psi[p] + rho * (H[p] - V[p]))  # (7f)
        loss = self.loss(X, Wt, H) if t % MEASURE_EVERY == 0 else np.nan
        return State(Wt, H, loss, carry_W=(U, Phi), carry_H=(V, Psi))

    def inverse(self, F: Array) -> Array:
        """(k, k): (F Fᵀ + ρI)⁻¹."""
        return np.linalg.inv(F @ F.T + F.dtype.type(self.rho) * np.eye(len(F), dtype=F.dtype))

    def components(self, rank: int) -> slice:
        """Those that a rank serves."""
        cuts = even_cuts(self.k, self.layout.ranks)
        return slice(cuts[rank], cuts[rank + 1])

    def gather(self, X: Spread, mine: Array) -> Array:
        """All components, from the ranks that serve them."""
        width = mine.shape[1]
        cuts = even_cuts(self.k, self.layout.ranks)
        sizes = [width * (stop - start) for start, stop in pairwise(cuts)]
        return X.comm.gather(np.ascontiguousarray(mine).reshape(-1), sizes).reshape(self.k, width)

    def loss(self, X: Spread, Wt: Array, H: Array) -> float:
        """½‖X − WH‖²: each rank adds the ⟨w_iᵀX, h_i⟩ of its components."""
        p = self.components(X.shard.rank)
        (fit,) = sum_numbers(X.comm, dot64(X.times_T(Wt[p]), np.ascontiguousarray(H[p])))
        error = X.sq_norm() - 2 * fit + dot64(Wt @ Wt.T, H @ H.T)
        return 0.5 * error if X.has_digits(error) else X.here.divergence(Wt, H, beta=2)

    def messages(self, t: int, rank: int = 0) -> Sequence[Message]:
        (n, m), P = self.layout.shape, self.layout.ranks
        gathers = [Message("gather", self.k * side, P) for side in (n, m, n, m, n, m)]
        measured = [Message("sum", 1, P, wide=True)] if t % MEASURE_EVERY == 0 else []
        return spoken(*gathers, *measured)
