"""Every rule: when it speaks, when it must not, and what it says."""

from __future__ import annotations

import math

import numpy as np
import pytest

from partwise.currency import State
from partwise.drivers.stopping import (
    DidRule,
    KktResidual,
    MaxIterations,
    MaxSeconds,
    Reason,
    RelativeChange,
    Standstill,
    TargetError,
    first_reason,
)
from partwise.drivers.trace import Point, Trace

NAN = math.nan


def trace(losses=(), *, violations=(), penalty=0.0, scale=2.0, seconds=1.0):
    """One point for each loss, or for each violation."""
    count = max(len(losses), len(violations))
    losses = [*losses, *[NAN] * (count - len(losses))]
    violations = [*violations, *[NAN] * (count - len(violations))]
    return Trace(scale, [Point(t, losses[t], penalty, violations[t], t * seconds) for t in range(count)])


def test_iterations():
    assert MaxIterations(3)(trace([1, 1, 1])) is None
    reason = MaxIterations(3)(trace([1, 1, 1, 1]))
    assert reason == Reason("Maximum number of iterations 3 reached.", converged=False)


def test_seconds_count_from_the_very_beginning():
    assert MaxSeconds(7)(trace([1, 1, 1], seconds=3)) is None
    reason = MaxSeconds(6)(trace([1, 1, 1], seconds=3))
    assert reason == Reason("The 6 seconds allowed are used up.", converged=False)


def test_kkt_residual_is_relative_to_the_first_that_was_measured():
    rule = KktResidual(1e-2)
    assert rule(trace(violations=[NAN, 100.0])) is None
    assert rule(trace(violations=[NAN, 100.0, 1.01])) is None
    assert rule(trace(violations=[NAN, 100.0, 0.5, NAN])) is None  # not measured now
    reason = rule(trace(violations=[NAN, 100.0, 1.0]))
    assert reason == Reason("The KKT residual fell to 1.0e-02 of its first value, at most tol = 0.01.")
    assert rule(trace(violations=[NAN, NAN])) is None


def test_kkt_residual_of_a_stationary_start():
    reason = KktResidual(1e-4)(trace(violations=[NAN, 0.0]))
    assert reason == Reason("The start is already a stationary point: the projected gradient is zero.")


def test_relative_change_looks_back_a_window():
    rule = RelativeChange(0.01, window=2)
    assert rule(trace([100.0, 100.0])) is None  # no window yet
    assert rule(trace([100.0, 81.0, 64.0])) is None
    assert rule(trace([100.0, 64.0, 64.0])) is None  # the fall is still inside
    reason = rule(trace([100.0, 64.0, 64.0, 64.0]))
    assert reason is not None
    assert reason.converged
    assert reason.sentence == (
        "The root of the objective fell by 0.0e+00 of its first value in the last 2 iterations, less than tol = 0.01."
    )


def test_relative_change_waits_for_a_measurement():
    rule = RelativeChange(0.01, window=1)
    assert rule(trace([100.0, 64.0, 64.0])) is not None
    assert rule(trace([100.0, 64.0, 64.0, NAN])) is None
    assert rule(trace([0.0, 0.0, 0.0])) is None


def test_relative_change_counts_the_penalty():
    assert RelativeChange(0.2, window=1)(trace([100.0, 64.0])) is None  # 0.2 is not less than 0.2
    assert RelativeChange(0.2, window=1)(trace([100.0, 64.0], penalty=1000.0)) is not None


@pytest.mark.parametrize("size", [1e-100, 1.0, 1e100])
def test_standstill_forgives_rounding_only(size):
    rule, eps = Standstill(3), np.finfo(float).eps
    still = [size, size * (1 - eps), size, size * (1 - 2 * eps)]
    assert rule(trace(still[:3], scale=size)) is None
    assert rule(trace([*still[:3], size * (1 - 64 * eps)], scale=size)) is None
    assert rule(trace([3 * size, *still[:3]], scale=size)) is None
    reason = rule(trace(still, scale=size))
    assert reason == Reason("The objective stood still, up to rounding, for 3 iterations.")


def test_target_error():
    rule = TargetError(0.5)
    assert rule(trace([1.0], scale=2.0)) is None
    assert rule(trace([NAN], scale=2.0)) is None
    reason = rule(trace([0.25, NAN], scale=2.0))  # sqrt(2 · 0.25 / 2), known from before
    assert reason == Reason("The relative error 0.5 is at most the target 0.5.")


def test_did_rule():
    rule = DidRule(1e-2)
    assert rule(trace([100.0, 1.1])) is None
    assert rule(trace([100.0, 1.0])) == Reason(
        "The squared error fell to 1.0e-02 of its first value, at most 0.01 (DID's rule)."
    )
    assert rule(trace([0.0, 0.0])) is not None  # nothing is left of nothing


def test_the_first_rule_that_speaks_is_heard():
    rules = (TargetError(1e-9), MaxSeconds(0), MaxIterations(0))
    assert first_reason(rules, trace([1.0])).sentence == "The 0 seconds allowed are used up."
    assert first_reason((), trace([1.0])) is None


def test_the_trace_remembers_in_order():
    kept = Trace(8.0)
    for t, loss in enumerate([9.0, NAN, 4.0, NAN]):
        kept.add(t, State(np.ones((1, 1)), np.ones((1, 1)), loss, penalty=1.0, violation=0.5), seconds=t / 2)
    assert kept.last.t == 3
    assert [point.t for point in kept.measured()] == [0, 2]
    assert kept.measured()[1].objective == 5.0
    assert kept.last.seconds == 1.5
    assert kept.relative_error() == 1.0  # of the newest that is known
    assert kept.relative_error(1.0) == 0.5
    assert kept.relative_error(-1e-18) == 0.0  # rounding
    assert Trace(0.0, kept.points).relative_error() == 0.0
    assert math.isnan(Trace(8.0, [Point(0, NAN, 0.0, NAN, 0.0)]).relative_error())
