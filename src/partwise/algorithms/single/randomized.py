"""Randomized HALS (Erichson, Mendible, Wihlborn & Kutz 2018), finished exactly.

1        one exact iteration of HALS from the given start
2        X ≈ Q B, B = QᵀX:  a range finder of l = k + oversampling columns with power iterations reads X 2 + 2 q times
3 …      HALS on Q B, O((n + m) l k) an iteration, X not being read, until a window of iterations gains next to nothing
… end    HALS on X itself, so that the end is as good as that of solver="hals"

paper                       here
X (m, n), W, H              X (n, m), W, H
QᵀW̃ ≥ 0 kept in B's space   W kept whole and nonnegative, its pair made from Q and B: the same cost, and nothing is lost to
                            the part of W outside the range of Q
stops there                 goes over to X
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from partwise.algorithms.single.alternating import Alternating
from partwise.algorithms.single.extrapolated import Extrapolated
from partwise.currency import Array, Memory, State
from partwise.data import LowRank, Weighted
from partwise.errors import OptionError
from partwise.protocols import Iteration, Matrix
from partwise.randomness import Purpose, columns

WINDOW = 20  # iterations on Q B between looks at what they gained: each costs half an iteration on X
HELD = ("Q", "B", "mark")  # what this method remembers; `mark` is the objective at the last look
OWN = "inner."  # what the HALS at work remembers goes by this name in State.memory


@final
@dataclass(frozen=True)
class Randomized:
    """`compressed` works on Q B, `exact` on X. While X is not read its loss is not known: NaN."""

    compressed: Iteration
    exact: Alternating | Extrapolated
    width: int  # l
    power_iterations: int = 2
    gain: float = 5e-3  # of the objective, in a window: less, and Q B has given what it can
    seed: int = 0

    def init(self, X: Matrix, Wt: Array, H: Array) -> State:
        if isinstance(X, Weighted) or not X.traceable:
            raise OptionError("solver='randomized' compresses X as a whole: it takes neither missing entries nor sample weights; "
                              "use solver='hals'.")  # fmt: skip
        return self.exact.init(X, Wt, H)

    def step(self, X: Matrix, state: State, t: int) -> State:
        if t == 1:
            return self._compress(X, self.exact.step(X, state, t))
        if "Q" not in state.memory:
            return self.exact.step(X, state, t)
        low = self.compressed.step(_low_rank(state), _inner(state), t)
        held = {name: state.memory[name] for name in HELD}
        if t % WINDOW != 0:
            return _outer(low, held)
        found = low._replace(loss=0.5 * X.sq_error(low.Wt, low.H, X.T.normal_eq(low.Wt, low.H)))
        if held["mark"] - found.objective < self.gain * found.objective:
            return self.exact.onward(found)
        return _outer(low, {**held, "mark": found.objective})._replace(loss=found.loss)

    def _compress(self, X: Matrix, state: State) -> State:
        """From now on Q B instead of X."""
        Q = range_finder(X, self.width, self.power_iterations, self.seed)
        B = X.T.times(np.ascontiguousarray(Q.T))
        low = self.compressed.init(LowRank(Q, B), state.Wt, state.H)
        outer = _outer(low, {"Q": Q, "B": B, "mark": state.objective})
        return outer._replace(loss=state.loss, violation=state.violation)


def _outer(low: State, held: Memory) -> State:
    """The state of a run on Q B as the driver sees it: its loss is not that of X."""
    own = {OWN + name: value for name, value in low.memory.items()}
    return low._replace(loss=float("nan"), violation=float("nan"), memory={**held, **own, OWN + "loss": low.loss})


def _inner(state: State) -> State:
    """The reverse."""
    own = {name.removeprefix(OWN): value for name, value in state.memory.items() if name.startswith(OWN)}
    return state._replace(loss=float(own.pop("loss")), memory=own)


def _low_rank(state: State) -> LowRank:
    return LowRank(state.memory["Q"], state.memory["B"])  # type: ignore[arg-type]


def range_finder(X: Matrix, width: int, power_iterations: int, seed: int) -> Array:
    """Q (n, l): orthonormal columns near which those of X lie (Halko, Martinsson & Tropp 2011). Reads X 1 + 2 q times."""
    m = X.shape[1]
    test = columns(lambda rng, size: rng.standard_normal((size, width)), (width, m), seed, Purpose.RANGE)
    Q = _orthonormal(X.times(test.astype(X.dtype)))
    for _ in range(power_iterations):
        Q = _orthonormal(X.times(np.ascontiguousarray(_orthonormal(X.T.times(np.ascontiguousarray(Q.T))).T)))
    return Q


def _orthonormal(Y: Array) -> Array:
    """(n, l): a basis of the rows of Y (l, n)."""
    return np.linalg.qr(Y.T)[0]
