"""The loop, once."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from typing import NamedTuple, Protocol

from partwise.currency import State
from partwise.drivers.stopping import Reason, Rule, first_reason
from partwise.drivers.trace import Trace
from partwise.errors import RunError
from partwise.kernels.threads import one_for_blas
from partwise.protocols import Iteration, Matrix


class Outcome(NamedTuple):
    """Where a run ended, how it got there, and why it stopped."""

    state: State
    trace: Trace
    reason: Reason


class Observer(Protocol):
    """Is shown every iteration: progress, checkpoints, the user's callbacks. May raise to end the run."""

    def __call__(self, state: State, trace: Trace) -> None: ...


def begin(method: Iteration, X: Matrix, Wt, H, *, relative: bool) -> tuple[State, Trace]:
    """The state at t = 0 and a trace that holds it."""
    state = method.init(X, Wt, H)
    trace = Trace(X.sq_norm() if relative else 0.0)
    trace.add(0, state, 0.0)
    return state, trace


def one_iteration(method: Iteration, X: Matrix, state: State, t: int) -> State:
    """A step as the loop makes it: blocks of rows side by side on our threads, so BLAS has one (decision 5)."""
    with one_for_blas():
        return method.step(X, state, t)


def iterate(
    method: Iteration, X: Matrix, state: State, trace: Trace, rules: Sequence[Rule], observers: Sequence[Observer] = ()
) -> Outcome:
    """Step until a rule gives its reason. State and trace may be those of a checkpoint: nothing else is remembered."""
    began = time.perf_counter() - trace.last.seconds
    t = trace.last.t
    while (reason := first_reason(tuple(rules), trace)) is None:
        t += 1
        state = one_iteration(method, X, state, t)
        point = trace.add(t, state, time.perf_counter() - began)
        if math.isinf(point.objective) or not math.isfinite(float(state.H.sum())):
            raise RunError(f"The iteration {t} gave numbers that are not finite; scale X to about one, or use float64.")
        for observe in observers:
            observe(state, trace)
    return Outcome(state, trace, reason)
