"""HPC-ANLS, also called MPI-FAUN (Kannan, Ballard & Park 2016): X by blocks, no rank has all of W or of H.

Ranks sit on a grid of pr × pc. Rank (i, j) holds the block X_ij (n_i, m_j), 1/pc of the rows of W_i and 1/pr of the columns of H_j.

    all-reduce        HHᵀ                                      k²          all ranks (kept from the last iteration)
    all-gather        H_j of its parts                         k m_j       the pr ranks of a column of the grid
    reduce-scatter    Σ_j X_ij H_jᵀ: cross for own rows        k n_i       the pc ranks of a row
    own rows of W ← update(gram, cross)                                    BPP, HALS or MU
    all-reduce        WᵀW                                      k²
    all-gather        W_i of its parts                         k n_i       row
    reduce-scatter    Σ_i X_ijᵀ W_i: cross for own columns     k m_j       column
    own columns of H ← update(gram, cross)

The k × k sums travel in float64. The second brings ⟨cross, H⟩ along, so that all know the error, ‖X‖² − 2⟨cross, H⟩ + ⟨WᵀW, HHᵀ⟩; both
bring the rank's share of the KKT residual (when it is measured) and of the penalty (if there is one).

    paper                  here
    A (m, n), A_ij         X (n, m), X_ij
    W_i, (W_i)_j; H_j, (H_j)_i     gathered; own part
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import final

import numpy as np

from partwise.algorithms.distributed.did import spoken
from partwise.algorithms.distributed.spread import Spread
from partwise.algorithms.single.alternating import Alternating, Violation
from partwise.currency import Array, Message, NormalEq, State
from partwise.data import Layout
from partwise.data.ownership import even_cuts
from partwise.kernels.sums import dot64


@final
@dataclass(frozen=True)
class HpcAnls:
    """The alternation of one machine whose columns of factors are independent, on a grid."""

    inner: Alternating
    k: int
    layout: Layout

    def init(self, X: Spread, Wt: Array, H: Array) -> State:
        W_i, H_j = gathered_W(X, Wt), gathered_H(X, H)
        loss = 0.5 * X.total(X.here.sq_error(W_i, H_j, X.here.T.normal_eq(W_i, H_j)))
        gram, (paid,) = X.total_gram(H, self.inner.penalty.of(Wt, H))
        return self.inner.onward(State(Wt, H, loss, paid or 0.0))._replace(memory={"gram": gram})

    def step(self, X: Spread, state: State, t: int) -> State:
        on_W, on_H, inner = Violation(t), Violation(t), self.inner
        gram_H = np.asarray(state.memory["gram"])

        eq = NormalEq(gram_H.astype(X.dtype), self.cross_W(X, state.H))
        on_W.add(state.Wt, eq, inner.optimal_W)
        Wt, carry_W = inner.update_W(state.Wt, eq, state.carry_W)
        gram_W, (paid_W, met_W) = X.total_gram(Wt, inner.penalty.on_W(Wt), on_W.so_far)

        eq, W_i = self.pair_H(X, Wt, gram_W)
        on_H.add(state.H, eq, inner.optimal_H)
        H, carry_H = inner.update_H(state.H, eq, state.carry_H)
        fit = dot64(eq.cross, H)
        gram_H, (fit, paid_H, met_H) = X.total_gram(H, fit, inner.penalty.on_H(H), on_H.so_far)

        assert fit is not None
        error = X.sq_norm() - 2 * fit + dot64(gram_W, gram_H)
        if not X.has_digits(error):
            error = X.total(2 * X.here.divergence(W_i, gathered_H(X, H), beta=2))
        violation = np.nan if met_W is None or met_H is None else met_W + met_H
        penalty = (paid_W or 0.0) + (paid_H or 0.0)
        return State(Wt, H, 0.5 * error, penalty, violation, carry_W, carry_H, {"gram": gram_H})

    def cross_W(self, X: Spread, H: Array) -> Array:
        """(k, n_p): of own rows of W."""
        return X.grid.row.sum_scatter(X.times(gathered_H(X, H)), parts_of_W(self.layout, X.shard.rank))

    def pair_H(self, X: Spread, Wt: Array, gram: Array) -> tuple[NormalEq, Array]:
        """The pair of own columns of H, and W_i (k, n_i)."""
        W_i = gathered_W(X, Wt)
        cross = X.grid.column.sum_scatter(X.times_T(W_i), parts_of_H(self.layout, X.shard.rank))
        return NormalEq(gram.astype(X.dtype), cross), W_i

    def messages(self, t: int, rank: int = 0) -> Sequence[Message]:
        pr, pc = self.layout.grid
        rows, columns = sum(parts_of_W(self.layout, rank)), sum(parts_of_H(self.layout, rank))
        measured, p = int(Violation(t).measured), self.inner.penalty
        square = self.k**2 + measured
        return spoken(
            Message("gather", self.k * columns, pr),
            Message("sum_scatter", self.k * rows, pc),
            Message("sum", square + int(bool(p.l1_W or p.l2_W)), pr * pc, wide=True),
            Message("gather", self.k * rows, pc),
            Message("sum_scatter", self.k * columns, pr),
            Message("sum", square + 1 + int(bool(p.l1_H or p.l2_H)), pr * pc, wide=True),
        )


def gathered_W(X: Spread, Wt: Array) -> Array:
    """(k, n_i): W_i from its parts in this rank's row of the grid."""
    return X.grid.row.gather(Wt, parts_of_W(X.layout, X.shard.rank))


def gathered_H(X: Spread, H: Array) -> Array:
    """(k, m_j): H_j from its parts in this rank's column of the grid."""
    return X.grid.column.gather(H, parts_of_H(X.layout, X.shard.rank))


def parts_of_W(layout: Layout, rank: int) -> list[int]:
    """How wide the parts of W_i are, over a rank's row of the grid."""
    i, _ = layout.place(rank)
    return _even(layout.row_cuts[i : i + 2], layout.grid[1])


def parts_of_H(layout: Layout, rank: int) -> list[int]:
    """How wide the parts of H_j are, over a rank's column of the grid."""
    _, j = layout.place(rank)
    return _even(layout.column_cuts[j : j + 2], layout.grid[0])


def _even(cuts: tuple[int, ...], parts: int) -> list[int]:
    """As `Layout.part_W` and `part_H` cut a piece, but for all parts at once: thousands of ranks ask in every iteration."""
    first, stop = cuts
    return [b - a for a, b in pairwise(even_cuts(stop - first, parts))]
