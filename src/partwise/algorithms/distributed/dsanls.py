"""DSANLS, distributed sketched alternating nonnegative least squares (Qian, Tan, Ding, Li & Mamoulis, Algorithm 2).

Rank r holds rows X[I_r, :] and columns X[:, J_r], W[I_r] and H[:, J_r]. Every rank draws the same S and S' for itself, by (seed, t):

    Σ H[:, J_r] S[J_r]         all-reduce      k d numbers
    W[I_r]   ← a careful step on (X[I_r, :] S, Σ)
    Σ W[I_r]ᵀ S'[I_r]          all-reduce      k d' numbers
    H[:, J_r] ← a careful step on (X[:, J_r]ᵀ S', Σ)

    paper                         here                              held by
    M_{I_r:}, M_{:J_r}            X[I_r, :], X[:, J_r]              `Shard.rows`, `Shard.columns`
    U_{I_r:}, V_{J_r:}            W[I_r], H[:, J_r]ᵀ                rank r
    B̄_r^t = V_{J_r:}ᵀ S_{J_r:}    H[:, J_r] S[J_r], its own rows    `Sketch.apply(·, start)`
    lines 7, 13: all-reduce       `side.comm.sum`                   `Sanls._pair`
    line 12: U^t                  the new W, as in Algorithm 1      `step`

A side that is not sketched (d = m) is gathered instead: as many numbers, half the bytes. Nothing else travels but now and then the
shorter factor, to measure the loss: as seldom as `measure_every` says, and by panels of components no larger than a rank's share of X.
The iterates are those of `Sanls` on one machine, on any number of ranks. That they converge is empirical (docs/theory.md).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from partwise.algorithms.distributed.did import spoken
from partwise.algorithms.distributed.products import by_panels
from partwise.algorithms.distributed.spread import Spread
from partwise.algorithms.single.alternating import Penalty
from partwise.algorithms.single.sanls import Sanls
from partwise.comm import Side, sum_numbers
from partwise.currency import Array, Message, State
from partwise.data import Layout
from partwise.data.entries import CANCELLED
from partwise.kernels.sums import dot64


@final
@dataclass(frozen=True)
class Dsanls:
    """SANLS where rows and columns of X, W and H are spread over ranks."""

    inner: Sanls
    k: int
    layout: Layout
    share: int  # entries of X in a rank's rows, about: what a measurement may gather at once

    def init(self, X: Spread, Wt: Array, H: Array) -> State:
        return State(Wt, H, self._loss(X, Wt, H), self._penalty(X, Wt, H))

    def step(self, X: Spread, state: State, t: int) -> State:
        rows, columns = X.sides
        X_rows, X_columns = X.shard.rows, X.shard.columns
        assert X_rows is not None
        assert X_columns is not None
        Wt = self.inner.moved("W", X_rows, state.Wt, state.H, columns, t, X.sq_norm())  # lines 4 to 8
        H = self.inner.moved("H", X_columns.T, state.H, Wt, rows, t, X.sq_norm())  # lines 10 to 14
        loss = self._loss(X, Wt, H) if self.inner.measures(t) else float("nan")
        return State(Wt, H, loss, self._penalty(X, Wt, H))

    def messages(self, t: int, rank: int = 0) -> Sequence[Message]:
        (n, m), ranks = self.layout.shape, self.layout.ranks
        sketches = (
            Message("gather" if d == side else "sum", self.k * d, ranks)
            for d, side in zip(self.inner.sizes, (m, n), strict=True)
        )
        measured = self._measurement() if self.inner.measures(t) else ()
        paid = (Message("sum", 1, ranks, wide=True),) if self.inner.penalty != Penalty() else ()
        return spoken(*sketches, *measured, *paid)

    def _measurement(self) -> Iterator[Message]:
        short, ranks, at_once = min(self.layout.shape), self.layout.ranks, self._at_once
        for first in range(0, self.k, at_once):
            yield Message("gather", min(at_once, self.k - first) * short, ranks)
        yield Message("sum", 1 + 2 * self.k**2, ranks, wide=True)

    @property
    def _at_once(self) -> int:
        """Components of the shorter factor that are gathered together."""
        return max(1, self.share // max(min(self.layout.shape), 1))

    def _loss(self, X: Spread, Wt: Array, H: Array) -> float:
        """½ (‖X‖² − 2 ⟨X, W H⟩ + ⟨WᵀW, HHᵀ⟩); the residual itself where that has lost its digits."""
        rows, columns = X.sides
        inner = self._inner_product(X, Wt, H, rows, columns)
        k, grams = self.k, [(F @ F.T).astype(np.float64) for F in (Wt, H)]
        said = X.comm.sum(np.concatenate([[inner], *(gram.ravel() for gram in grams)]))
        gram_W, gram_H = said[1:].reshape(2, k, k)
        error = X.sq_norm() - 2 * said[0] + float(np.vdot(gram_W, gram_H))
        if error <= CANCELLED[X.dtype] ** 2 * X.sq_norm():
            assert X.shard.rows is not None
            error = X.total(2 * X.shard.rows.divergence(Wt, columns.gather(H), beta=2))
        return 0.5 * error

    def _inner_product(self, X: Spread, Wt: Array, H: Array, rows: Side, columns: Side) -> float:
        """⟨X, W H⟩ over this rank's rows, or its columns: whichever needs the shorter factor whole."""
        X_rows, X_columns = X.shard.rows, X.shard.columns
        assert X_rows is not None
        assert X_columns is not None
        if columns.size <= rows.size:
            return dot64(by_panels(X_rows, columns, H, self._at_once), Wt)
        return dot64(by_panels(X_columns.T, rows, Wt, self._at_once), H)

    def _penalty(self, X: Spread, Wt: Array, H: Array) -> float:
        penalty = self.inner.penalty
        return sum_numbers(X.comm, penalty.of(Wt, H))[0] if penalty != Penalty() else 0.0
