"""W, then H, then W again: what all least-squares methods on one machine share, reading X once an iteration.

    for each block X_i of rows:   W_i ← update(W_i; HHᵀ, X_i Hᵀ);   (gram, cross) += (W_iᵀ W_i, X_iᵀ W_i)
    H ← update(H; gram, cross)

The pair for H is complete when the last block has been read, and gives the error of (W, H) without X. Where others hold rows too
(`Passes.together`), the pairs of all are summed before H moves, and that is all that the ranks say to one another: this is DID.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import reduce
from typing import final

import numpy as np

from partwise.algorithms.single.optimality import Optimality
from partwise.currency import Array, Carry, NormalEq, State
from partwise.kernels.sums import sq64
from partwise.kernels.threads import side_by_side
from partwise.protocols import Matrix, Passes, Update

CHECK_EVERY = 5  # iterations between measurements of the projected gradient: each costs up to a sweep

Move = Callable[[slice, Array, NormalEq], Array]  # (rows, W_i, its pair) → the new W_i


@final
@dataclass(frozen=True)
class Penalty:
    """l1 ‖F‖₁ + ½ l2 ‖F‖² of either factor, as the objective has it."""

    l1_W: float = 0.0
    l2_W: float = 0.0
    l1_H: float = 0.0
    l2_H: float = 0.0

    def of(self, Wt: Array, H: Array) -> float:
        """The penalty of (W, H)."""
        return (self.on_W(Wt) or 0.0) + (self.on_H(H) or 0.0)

    def on_W(self, Wt: Array) -> float | None:
        """W's part, which is additive over rows; None: W has no penalty."""
        return _penalty(self.l1_W, self.l2_W, Wt)

    def on_H(self, H: Array) -> float | None:
        """H's part."""
        return _penalty(self.l1_H, self.l2_H, H)


def _penalty(l1: float, l2: float, F: Array) -> float | None:
    return l1 * float(F.sum(dtype=np.float64)) + 0.5 * l2 * sq64(F) if l1 or l2 else None


@final
@dataclass(frozen=True)
class Alternating:
    """One update for each factor. With HALS this is Cichocki & Phan 2009, with BPP Kim & Park 2011, and so on."""

    update_W: Update
    update_H: Update
    penalty: Penalty = field(default_factory=Penalty)
    whole_W: bool = False  # the update of W looks at whole components, so W cannot be updated by blocks of rows
    optimal_W: Optimality = field(default_factory=Optimality)
    optimal_H: Optimality = field(default_factory=Optimality)

    def init(self, X: Passes, Wt: Array, H: Array) -> State:
        return self.onward(start_state(self, X, Wt, H))

    def onward(self, state: State) -> State:
        """The same point, with what this method remembers at first."""
        carries: tuple[Carry, Carry] = self.update_W.init(state.Wt), self.update_H.init(state.H)
        return State(*state[:5], *carries)

    def step(self, X: Passes, state: State, t: int) -> State:
        seen = Violation(t)
        Wt, carry_W, mine = self.rows_moved(X, state, seen)
        eq, paid = everyone(X, mine, seen, self.penalty.on_W(Wt))
        seen.add(state.H, eq, self.optimal_H)
        H, carry_H = self.update_H(state.H, eq, state.carry_H)
        loss = 0.5 * X.sq_error(Wt, H, eq)
        return State(Wt, H, loss, paid + (self.penalty.on_H(H) or 0.0), seen.total, carry_W, carry_H)

    def rows_moved(self, X: Passes, state: State, seen: Violation) -> tuple[Array, Carry, NormalEq]:
        """The new rows of W that are held here, what their update remembers, and their pair for H."""
        carry_W = tuple(np.empty_like(part) for part in state.carry_W)

        def move(rows: slice, F: Array, eq: NormalEq) -> Array:
            seen.add(F, eq, self.optimal_W)
            moved, kept = self.update_W(F, eq, tuple(part[:, rows] for part in state.carry_W))
            for whole, part in zip(carry_W, kept, strict=True):
                whole[:, rows] = part
            return moved

        Wt, mine = pass_over(X, state.Wt, state.H, move, whole=self.whole_W)
        return Wt, carry_W, mine


def start_state(method: Alternating, X: Passes, Wt: Array, H: Array) -> State:
    """The given factors and their loss."""
    eq, paid = None, method.penalty.on_W(Wt)
    if X.traceable:  # else the pair is of no use, and dearer than the error itself
        eq, (paid,) = X.together(X.here.T.normal_eq(Wt, H), paid)
    return State(Wt, H, 0.5 * X.sq_error(Wt, H, eq), (paid or 0.0) + (method.penalty.on_H(H) or 0.0))


def pass_over(X: Passes, Wt: Array, H: Array, move: Move, *, whole: bool = False) -> tuple[Array, NormalEq]:
    """Read X once: every block of W by `move`, and the pair of H for the new W.

    Blocks are served side by side and summed in their order, so the result does not depend on the number of threads.
    """
    new = Blocks(Wt)
    gram = H @ H.T

    def serve(place: tuple[slice, Matrix]) -> NormalEq:
        rows, block = place
        F = np.ascontiguousarray(Wt[:, rows])
        moved = move(rows, F, block.normal_eq(H, F, gram=gram))
        new.put(rows, moved)
        return block.T.normal_eq(moved, H)

    places = [(slice(None), X.here)] if whole or not Wt.shape[1] else X.here.blocks()
    pair = reduce(NormalEq.plus, side_by_side(serve, places))
    return new.together, pair


class Blocks:
    """A factor (k, r) that comes by blocks of columns; one that comes whole is taken as it is."""

    def __init__(self, like: Array) -> None:
        self.together = np.empty_like(like)

    def put(self, columns: slice, block: Array) -> None:
        """Take these columns."""
        if block.shape == self.together.shape:
            self.together = block
        else:
            self.together[:, columns] = block


def everyone(X: Passes, mine: NormalEq, seen: Violation, paid: float | None) -> tuple[NormalEq, float]:
    """(the pair of all rows, the penalty of all of W), in one message where others hold rows too; `seen` learns of theirs."""
    eq, (met, paid) = X.together(mine, seen.so_far, paid)
    seen.parts = [] if met is None else [met]
    return eq, paid or 0.0


class Violation:
    """‖projected gradient‖₁ over both factors, as met on the way through an iteration; measured now and then."""

    def __init__(self, t: int) -> None:
        self.measured = t % CHECK_EVERY == 1
        self.parts: list[float] = []  # in the order in which blocks were served

    def add(self, F: Array, eq: NormalEq, optimality: Optimality) -> None:
        """Count a factor before it moves."""
        if self.measured:
            self.parts.append(optimality.violation(F, eq))

    @property
    def so_far(self) -> float | None:
        """The sum, rounded once, so that no order matters; None where it is not measured."""
        return math.fsum(self.parts) if self.measured else None

    @property
    def total(self) -> float:
        """The same in the end, NaN where it was not measured."""
        return math.fsum(self.parts) if self.measured else math.nan
