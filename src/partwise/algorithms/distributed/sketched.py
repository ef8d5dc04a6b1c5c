"""Sketched HALS over ranks: DID on samples of rows that grow, then on all rows.

    rank p       draws among its own rows, by importance: of the others it knows only their number and ‖X‖²
    all-gather   how many rows everyone drew, and how many entries these have      2 P numbers, for each sample
    DID          on the sample, until it teaches less than it errs                 an all-reduce of (m + k) k numbers an iteration
    then         W of all rows anew, one more such all-reduce; and DID to the end

All of it is `single.sketched`, whose samples are of everybody's rows together: the same rows on any number of ranks, so the same iterates
to rounding. A sample takes as many bytes an iteration as all of X does: where messages rule there is nothing to gain.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

from partwise.algorithms.distributed.did import riding, spoken
from partwise.algorithms.distributed.spread import Spread
from partwise.algorithms.single.sketched import MOST, Sketched
from partwise.currency import Array, Message, State
from partwise.data import Layout


@final
@dataclass(frozen=True)
class SketchedDid:
    """`Sketched` of one machine, of which each rank holds rows."""

    inner: Sketched
    k: int
    layout: Layout

    def init(self, X: Spread, Wt: Array, H: Array) -> State:
        return self.inner.init(X, Wt, H)

    def step(self, X: Spread, state: State, t: int) -> State:
        return self.inner.step(X, state, t)

    def messages(self, t: int, rank: int = 0) -> Sequence[Message]:
        """In an iteration that is a sample: the most that there may be, as nobody knows when it has taught what it can."""
        ranks, pair = self.layout.ranks, (self.layout.shape[1] + self.k) * self.k
        samples = len(self.inner.sizes)
        if t > samples:
            method = self.inner.refitting if t == samples + 1 else self.inner.exact
            return spoken(Message("sum", pair + riding(method, t), ranks))
        drawn = (Message("gather", 2 * ranks, ranks, wide=True), Message("sum", 1, ranks, wide=True))
        met = (Message("sum", pair + 1, ranks),) if t == 1 else ()
        learned = (Message("sum", pair + riding(self.inner.refitting, 0), ranks),) * (MOST + 1)
        return spoken(*drawn, *met, *learned)
