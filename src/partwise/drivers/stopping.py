"""When to stop. A rule looks at the trace and gives a reason, or None; the reason is what the user reads.

Rules keep nothing themselves, so a resumed run stops where an uninterrupted one would.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple, Protocol, final

from partwise.drivers.trace import Trace


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
    """Stop when the objective fell by less than `tol` of its first value over the last `window` iterations."""

    tol: float
    window: int = 10

    def __call__(self, trace: Trace) -> Reason | None:
        known = trace.measured()
        now = known[-1]
        before = next((point for point in reversed(known) if point.t <= now.t - self.window), None)
        if before is None or now.t != trace.last.t or known[0].objective == 0:
            return None
        change = (before.objective - now.objective) / abs(known[0].objective)
        if change >= self.tol:
            return None
        return Reason(f"The objective fell by {max(change, 0):.1e} of its first value in the last {now.t - before.t} "
                      f"iterations, less than tol = {self.tol:g}.")  # fmt: skip


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
