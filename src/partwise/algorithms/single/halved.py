"""HALS in half the digits while these suffice, then in all of them: a sparse X in float64 is read as it is, its factors are float32.

A sparse product takes as long as it takes to fetch a row of the other factor for every entry, so half the bytes are half the time; and
the first iterations change the second digit of the error, not the seventh. They end, and X's own precision begins, with the first
iteration that gains less than GAIN of the objective, that raises it (rounding) or leaves float32's range, or where the relative error
is below LEVEL. Losses are summed in float64 throughout, of the factors that there are.

The phase is told by the factors' dtype, so a checkpoint needs to hold nothing more.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import final

import numpy as np

from partwise.algorithms.single.alternating import Alternating
from partwise.algorithms.single.extrapolated import Extrapolated
from partwise.currency import Array, State
from partwise.data import Sparse
from partwise.protocols import Matrix

HALF = np.dtype(np.float32)
GAIN = 1e-5  # of the objective, in an iteration: float32 would go on to gain a tenth of it
LEVEL = 1e-2  # relative error: below, too few digits are left of a loss that comes from the pair
RANGE = (1e-20, 1e20)  # of ‖X‖²: outside, grams of the factors may be no float32


@final
@dataclass(frozen=True)
class Halved:
    """Wraps HALS on a sparse X; what is float32 already, or out of its range, is left to `exact` alone."""

    exact: Alternating | Extrapolated

    def init(self, X: Matrix, Wt: Array, H: Array) -> State:
        start = self.exact.init(X, Wt, H)
        suffices = isinstance(X, Sparse) and RANGE[0] < X.sq_norm() < RANGE[1]
        if not suffices or start.H.dtype == HALF:
            return start
        with np.errstate(over="ignore"):  # looked at after the first step
            return self.exact.onward(start._replace(Wt=Wt.astype(HALF), H=H.astype(HALF)))

    def step(self, X: Matrix, state: State, t: int) -> State:
        if state.H.dtype == X.dtype:
            return self.exact.step(X, state, t)
        with np.errstate(over="ignore", invalid="ignore"):  # looked at below
            found = self.exact.step(X, state, t)
        gain = state.objective - found.objective
        if not math.isfinite(gain) or gain < 0:
            return self.exact.step(X, in_own_precision(X, state), t)
        thrown_away = gain == 0  # a step pushed too far: after it comes a plain one
        enough = thrown_away or gain >= GAIN * found.objective
        return found if enough and 2 * found.loss > LEVEL**2 * X.sq_norm() else in_own_precision(X, found)


def in_own_precision(X: Matrix, state: State) -> State:
    """The same point in numbers like those of X, and its loss with all their digits."""
    dtype = X.dtype
    Wt, H = state.Wt.astype(dtype), state.H.astype(dtype)
    kept = {name: part.astype(dtype) if isinstance(part, np.ndarray) else part for name, part in state.memory.items()}
    return state._replace(Wt=Wt, H=H, loss=0.5 * X.sq_error(Wt, H), memory=kept)
