"""Sampled HALS that ends exactly: H is learned from few rows of X, then from more and more of them; then all of X has its say.

    s = 4 k, 8 k, … rows, by importance; the smaller sample is part of the larger one. An iteration is a sample:
        W of the new rows ← refit                          clipped least squares, then HALS: it need not have been near
        (W_s, H) ← HALS on the sample, X_s = Sᵀ X          until an iteration gains less than a share of the sample's own error
    then once, on X:   W ← refit;  H ← HALS
    then HALS on X, from where it is: so the end is as good as that of solver="hals"

H has m k numbers and a sample m s, so what is learned from it differs from what X would teach by about k / s of the squared error: to
press on beyond is to learn the sample by heart. The rule knows this error without looking at any other row, and costs nothing.

X is turned when its columns are the longer side: then samples are of columns, and W is learned. Nothing like X is held beside it: a
sample has at most 128 k rows, and a tenth of them, or a fifth where they are few. They are read in their order; where X is
streamed, by runs of neighbours, so that a file is not read at a thousand places. Where others hold rows too (`Passes`), everyone draws
among the own ones, and the sample is theirs together; H is the same for all.

SANLS (`sanls`) draws a new S for every step, and has to go carefully as no step is like the next; here a sample is kept for many
steps, which may be whole ones.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import cast, final

import numpy as np

from partwise.algorithms.single.alternating import Alternating
from partwise.algorithms.single.extrapolated import Extrapolated
from partwise.currency import Array, NormalEq, State
from partwise.data import Entries, Weighted
from partwise.errors import OptionError
from partwise.protocols import Iteration, Matrix, Passes
from partwise.sketches import Importance

MOST = 30  # iterations on one sample
TENTH, FIFTH = 10, 5  # of the rows: about as many iterations on such a sample as it gets cost one, or two, on X
PLACES = 32  # of which the first sample is made, at least
PATIENCE = 16  # iterations in which a gain must make up for half a sample's own error, to be worth going on for


@final
@dataclass(frozen=True)
class Sketched:
    """`sizes` of the samples; `small` is HALS for one of them; `refitting` is the first iteration on all rows; `exact` what follows."""

    sizes: tuple[int, ...]
    small: Callable[[Passes], Iteration[Passes]]
    refitting: Alternating
    exact: Alternating | Extrapolated
    turned: bool = False  # all but `exact` see Xᵀ and (H, W)
    seed: int = 0

    def init(self, X: Passes, Wt: Array, H: Array) -> State:
        if isinstance(X.here, Weighted) or not X.traceable:
            raise OptionError("solver='sketched' takes neither missing entries nor sample weights; use solver='hals'.")
        return State(*self.exact.init(X, Wt, H)[:4])

    def step(self, X: Passes, state: State, t: int) -> State:
        if t > len(self.sizes) + 1:
            return self.exact.step(X, state, t)
        Y, seen = (X.here.T, turned(state)) if self.turned else (X, state)
        if t <= len(self.sizes):
            learned = self._learn(Y, X.sq_norm(), seen, t)
            return turned(learned) if self.turned else learned
        found = self.refitting.step(Y, seen, t)
        if t > 1:
            found = found._replace(violation=float("nan"))  # W was that of other components
        return self.exact.onward(turned(found) if self.turned else found)

    def _learn(self, Y: Passes, sq_norm: float, state: State, t: int) -> State:
        """The factors of a sample, in place among the others. Y is not read beyond it: the loss is not known."""
        squares = np.asarray(state.memory["squares"] if t > 1 else Y.here.squares[None])
        rows = Importance(squares[0], Y.shape[0], sq_norm, self.seed, Y.first, self._run(Y.here))
        index, weights = rows.sample(self.sizes[t - 1])
        sample = Y.holding(Weighted(cast(Entries, Y.here.rows(index)), weights.astype(state.H.dtype)))
        unknown = float("nan")
        kept = state._replace(loss=unknown, violation=unknown, memory={"squares": squares})
        if not sample.shape[0]:
            return kept
        F = np.ascontiguousarray(state.Wt[:, index])
        eq = sample.here.normal_eq(state.H, F)
        old = (
            np.isin(index, rows.sample(self.sizes[t - 2])[0], assume_unique=True)
            if t > 1
            else np.zeros(len(index), bool)
        )
        first = np.where(old, F, self.refitting.update_W(F, eq, ())[0])
        found = refined(self.small(sample), sample, first, state.H)
        Wt = state.Wt.copy()
        Wt[:, index] = found.Wt
        violation = self._violation(sample, weights, F, eq, first, state.H) if t == 1 else unknown
        return kept._replace(Wt=Wt, H=found.H, violation=violation)

    def _run(self, Y: Matrix) -> int:
        """How many neighbours are drawn together: not so many that the first sample would be of few places."""
        return min(Y.run, max(1, self.sizes[0] // PLACES))

    def _violation(self, sample: Passes, weights: Array, F: Array, eq: NormalEq, first: Array, H: Array) -> float:
        """What an iteration of HALS on all of X would have met, as the sample has it: stopping compares later ones with it."""
        on_W, on_H = self.refitting.optimal_W, self.refitting.optimal_H
        eq_H, (met,) = sample.together(sample.here.T.normal_eq(first, H), on_W.violation(F, eq, weights))
        return (met or 0.0) + on_H.violation(H, eq_H)


def refined(method: Iteration[Passes], X: Passes, Wt: Array, H: Array) -> State:
    """The factors of a sample (s, m): until an iteration gains less than k / (s PATIENCE) of the loss; at most MOST of them."""
    state = method.init(X, Wt, H)
    least = len(H) / (X.shape[0] * PATIENCE)
    for _ in range(MOST):
        before, state = state.objective, method.step(X, state, 0)
        if (
            0 < before - state.objective < least * state.objective
        ):  # 0: a step thrown away, after which comes a plain one
            break
    return state


def turned(state: State) -> State:
    """The same for Xᵀ."""
    return state._replace(Wt=state.H, H=state.Wt)


def sample_sizes(n: int, k: int, first: float, last: float) -> tuple[int, ...]:
    """From at least `first` k rows, doubling, to `last` k or a tenth of n, whichever is less; none if a fifth is less than `first` k.

    Small X, of which a tenth would teach little, are sampled up to a fifth.
    """
    sizes: list[int] = []
    size = min(last * k, max(n / TENTH, 2 * first * k), n / FIFTH)
    while size >= max(first * k, 1):
        sizes.append(int(size))
        size /= 2
    return tuple(reversed(sizes))
