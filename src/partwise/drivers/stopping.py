"""When to stop. A rule looks at the trace and gives a reason, or None; the reason is what the user reads.

Rules keep nothing themselves, so a resumed run stops where an uninterrupted one would.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple, Protocol, final

import numpy as np

from partwise.drivers.trace import Point, Trace


class Reason(NamedTuple):
    """Why a run stopped."""

    sentence: str
    converged: bool = True


class Rule(Protocol):
    """Looks at the trace after every iteration."""

    def __call__(self, trace: Trace) -> Reason | None: ...


@final
@dataclass(frozen=True)
class MaxIterations:
    """Stop after so many iterations."""

    number: int

    def __call__(self, trace: Trace) -> Reason | None:
        if trace.last.t < self.number:
            return None
        return Reason(f"Maximum number of iterations {self.number} reached.", converged=False)


@final
@dataclass(frozen=True)
class MaxSeconds:
    """Stop when the time is used up, counted over all parts of a resumed run."""

    seconds: float

    def __call__(self, trace: Trace) -> Reason | None:
        if trace.last.seconds < self.seconds:
            return None
        return Reason(f"The {self.seconds:g} seconds allowed are used up.", converged=False)


@final
@dataclass(frozen=True)
class KktResidual:
    """Stop when the projected gradient has fallen to `tol` times what it was at first (scikit-learn's rule for 'cd')."""

    tol: float

    def __call__(self, trace: Trace) -> Reason | None:
        now = trace.last.violation
        if math.isnan(now):
            return None
        first = next(point.violation for point in trace.points if not math.isnan(point.violation))
        if first == 0:
            return Reason("The start is already a stationary point: the projected gradient is zero.")
        if now > self.tol * first:
            return None
        return Reason(f"The KKT residual fell to {now / first:.1e} of its first value, at most tol = {self.tol:g}.")


@final
@dataclass(frozen=True)
class RelativeChange:
    """Stop when √objective fell by less than `tol` of its first value over the last `window` iterations (scikit-learn's rule for 'mu')."""

    tol: float
    window: int = 10

    def __call__(self, trace: Trace) -> Reason | None:
        known = trace.measured()
        now = known[-1]
        before = next((point for point in reversed(known) if point.t <= now.t - self.window), None)
        if before is None or now.t != trace.last.t or known[0].objective <= 0:
            return None
        change = (_root(before) - _root(now)) / _root(known[0])
        if change >= self.tol:
            return None
        return Reason(f"The root of the objective fell by {max(change, 0):.1e} of its first value in the last "
                      f"{now.t - before.t} iterations, less than tol = {self.tol:g}.")  # fmt: skip


def _root(point: Point) -> float:
    return math.sqrt(max(point.objective, 0.0))


@final
@dataclass(frozen=True)
class Standstill:
    """Stop when the objective has not moved by more than rounding for a while: there is nothing left to gain.

    A start that is almost a solution needs this: its residual can hardly fall by another factor `tol`.
    """

    window: int = 10

    def __call__(self, trace: Trace) -> Reason | None:
        known = [point.objective for point in trace.measured()[-self.window - 1 :]]
        rounding = 4 * float(np.finfo(np.float64).eps) * max(trace.scale, abs(known[0]) if known else 0.0)
        if len(known) <= self.window or max(known) - min(known) > rounding:
            return None
        return Reason(f"The objective stood still, up to rounding, for {self.window} iterations.")


@final
@dataclass(frozen=True)
class TargetError:
    """Stop when the relative error is small enough."""

    error: float

    def __call__(self, trace: Trace) -> Reason | None:
        reached = trace.relative_error()
        if not reached <= self.error:
            return None
        return Reason(f"The relative error {reached:.4g} is at most the target {self.error:g}.")


@final
@dataclass(frozen=True)
class DidRule:
    """‖E_t‖² ≤ ε ‖E_0‖², the stopping rule of the DID paper."""

    epsilon: float = 1e-6

    def __call__(self, trace: Trace) -> Reason | None:
        known = trace.measured()
        ratio = known[-1].loss / known[0].loss if known and known[0].loss > 0 else 0.0
        if not ratio <= self.epsilon:
            return None
        return Reason(
            f"The squared error fell to {ratio:.1e} of its first value, at most {self.epsilon:g} (DID's rule)."
        )


def first_reason(rules: tuple[Rule, ...], trace: Trace) -> Reason | None:
    """The first rule that speaks, in order."""
    return next((reason for rule in rules if (reason := rule(trace)) is not None), None)
