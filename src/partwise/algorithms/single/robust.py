"""Robust NMF (Zhao & Tan 2017; the optimisation of Saha & Imtiaz, §2.3): parts that a few wild entries cannot bend.

    min ½ ‖X − WH − R‖² + λ ‖R‖₁   over  W ≥ 0,  H ≥ 0 with rows in the unit ball,  |R| ≤ M

| paper | here | held by |
|---|---|---|
| V (D, N), W, H, R | Xᵀ, Hᵀ, Wᵀ, Rᵀ | `State`; R is made anew from them |
| S_{λ,M} (9) | `soft_threshold` | `data.outliers` |
| PGD steps (8), (12) | `Pgd`, the second projecting on the ball; or HALS, which is faster | `update_W`, `update_H` |

R is not kept: given W and H the best one is soft_threshold(X − WH). It is formed by blocks of rows, where it is sparse.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from typing import Any, final

import numpy as np

from partwise.currency import Array, NormalEq, State
from partwise.kernels.sums import dot64
from partwise.kernels.threads import side_by_side
from partwise.protocols import Matrix, Update
from partwise.updates import Bpp

Find = Callable[[Any, Array, Array], Any]  # (X, Wt, H) → the outliers: `data.outliers` with λ and M
STEPS = 500  # of `exact_robust_W`, at most
STILL = 1e-9  # a row of W that moves less than this, relatively, has arrived


@final
@dataclass(frozen=True)
class Robust:
    """R, W, R, H: each the best, or a step towards it, given the others; so the objective never rises."""

    update_W: Update
    update_H: Update  # must keep the rows of H in the unit ball
    find: Find
    penalty: float  # λ

    def init(self, X: Matrix, Wt: Array, H: Array) -> State:
        R = self.find(X, Wt, H)
        return State(Wt, H, 0.5 * R.residual, self.penalty * R.absolute)

    def step(self, X: Matrix, state: State, t: int) -> State:
        H, gram = state.H, state.H @ state.H.T
        Wt = np.empty_like(state.Wt)

        def serve(place: tuple[slice, Matrix]) -> tuple[NormalEq, float, float]:
            rows, block = place
            F = np.ascontiguousarray(state.Wt[:, rows])
            R = self.find(block, F, H)  # (9)
            eq = NormalEq(gram, block.normal_eq(H, F, gram=gram).cross - R.cross(H))
            Wt[:, rows], _ = self.update_W(F, eq, ())  # (8)
            F = np.ascontiguousarray(Wt[:, rows])
            R = self.find(block, F, H)  # (9)
            return _cleaned_pair(block, R, F, H), R.cleaned, R.absolute

        pairs, cleaned, absolute = zip(*side_by_side(serve, X.blocks()), strict=True)
        eq = reduce(NormalEq.plus, pairs)
        H, _ = self.update_H(H, eq, ())  # (12)
        residual = sum(cleaned) - 2 * dot64(eq.cross, H) + dot64(eq.gram, H @ H.T)  # ‖(X − R) − WH‖²
        return State(Wt, H, 0.5 * max(residual, 0.0), self.penalty * sum(absolute))


def _cleaned_pair(X: Matrix, R: Any, Wt: Array, H: Array) -> NormalEq:
    """The pair of H for X − R: (WᵀW, Wᵀ(X − R))."""
    eq = X.T.normal_eq(Wt, H)
    return NormalEq(eq.gram, eq.cross - np.asarray((R.matrix.T @ Wt.T).T))


def exact_robust_W(X: Matrix, H: Array, find: Find) -> Array:
    """(k, n): the best W (and R) for this H, row by row: each row goes on until it stands still, so none depends on others."""
    Wt = np.zeros((len(H), X.shape[0]), H.dtype)
    gram, solve = H @ H.T, Bpp()
    for rows, block in X.blocks():
        Wt[:, rows] = _arrived(block, H, gram, find, solve)
    return Wt


def _arrived(X: Matrix, H: Array, gram: Array, find: Find, solve: Update) -> Array:
    whole = X.normal_eq(H, np.empty((len(H), 0), H.dtype), gram=gram).cross
    F, _ = solve(np.zeros_like(whole), NormalEq(gram, whole), ())
    going = np.arange(X.shape[0])
    for _ in range(STEPS):
        now = np.ascontiguousarray(F[:, going])
        R = find(X.rows(going), now, H)
        moved, _ = solve(now, NormalEq(gram, np.ascontiguousarray(whole[:, going]) - R.cross(H)), ())
        F[:, going] = moved
        change = np.abs(moved - now).max(axis=0)
        going = going[change > STILL * np.maximum(np.abs(moved).max(axis=0), np.finfo(H.dtype).tiny)]
        if not len(going):
            break
    return F
