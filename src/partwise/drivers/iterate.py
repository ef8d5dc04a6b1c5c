"""The loop, once."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

from partwise.comm import OWN
from partwise.currency import Array, State
from partwise.drivers.agreement import agreed
from partwise.drivers.stopping import Reason, Rule, first_reason
from partwise.drivers.trace import Point, Trace
from partwise.errors import RunError
from partwise.kernels.threads import one_for_blas
from partwise.protocols import Comm, Iteration


class Outcome(NamedTuple):
    """Where a run ended, how it got there, and why it stopped."""

    state: State
    trace: Trace
    reason: Reason


class Observer(Protocol):
    """Is shown every iteration: progress, checkpoints, the user's callbacks. May raise to end the run."""

    def __call__(self, state: State, trace: Trace) -> None: ...


def begin(method: Iteration[Any], X: Any, Wt: Array, H: Array, *, relative: bool) -> tuple[State, Trace]:
    """The state at t = 0 and a trace that holds it. X is a `Matrix`, or what this rank holds of one."""
    state = method.init(X, Wt, H)
    trace = Trace(X.sq_norm() if relative else 0.0)
    trace.add(0, state, 0.0)
    return state, trace


def one_iteration(method: Iteration[Any], X: Any, state: State, t: int) -> State:
    """A step as the loop makes it: blocks of rows side by side on our threads, so BLAS has one (decision 5)."""
    with one_for_blas():
        return method.step(X, state, t)


def iterate(
    method: Iteration[Any], X: Any, state: State, trace: Trace, rules: Sequence[Rule], observers: Sequence[Observer] = (),
    comm: Comm = OWN,
) -> Outcome:  # fmt: skip
    """Step until a rule gives its reason. State and trace may be those of a checkpoint: nothing else is remembered.

    On several ranks all run this loop, see rank 0's trace, and so stop together; a failure of one of them must end all.
    """
    began = time.perf_counter() - trace.last.seconds
    t = trace.last.t
    while (reason := first_reason(tuple(rules), trace)) is None:
        t += 1
        state = one_iteration(method, X, state, t)
        point = agreed(comm, Point(t, *state[2:5], time.perf_counter() - began))
        trace.points.append(point)
        if math.isinf(point.objective) or not math.isfinite(float(state.H.sum())):
            raise RunError(f"The iteration {t} gave numbers that are not finite; scale X to about one, or use float64.")
        for observe in observers:
            observe(state, trace)
    return Outcome(state, trace, reason)
