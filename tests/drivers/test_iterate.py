"""The loop: what it shows, when it ends, and that whoever ends it finds the last checkpoint whole."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pytest

from partwise.currency import State
from partwise.data import as_matrix
from partwise.drivers import checkpoint
from partwise.drivers.iterate import begin, iterate
from partwise.drivers.stopping import MaxIterations, MaxSeconds
from partwise.errors import RunError
from partwise.estimators.factorize import Keep, factorize
from partwise.kernels.threads import count, threads

X = np.random.default_rng(0).random((12, 9))
WISHES = {"tol": 0, "seed": 3}


@dataclass(frozen=True)
class Counting:
    """A method that counts."""

    breaks_at: int = -1
    how: str = ""

    def init(self, X, Wt, H):
        return State(Wt, H, 100.0)

    def step(self, X, state, t):
        if t == self.breaks_at and self.how == "inf loss":
            return state._replace(loss=math.inf)
        if t == self.breaks_at:
            return state._replace(H=state.H * float(self.how))
        return state._replace(loss=100.0 - t)


def started(method):
    return begin(method, as_matrix(X), np.ones((2, 12)), np.ones((2, 9)), relative=True)


def test_every_iteration_is_seen_in_order_by_all():
    seen = []
    observers = [lambda s, trace, name=name: seen.append((name, trace.last.t, s.loss)) for name in "ab"]
    outcome = iterate(Counting(), as_matrix(X), *started(Counting()), [MaxIterations(3)], observers)
    assert seen == [(name, t, 100.0 - t) for t in (1, 2, 3) for name in "ab"]
    assert [point.t for point in outcome.trace.points] == [0, 1, 2, 3]
    assert outcome.trace.scale == pytest.approx(np.sum(X**2))
    seconds = [point.seconds for point in outcome.trace.points]
    assert seconds == sorted(seconds)


def test_rules_are_asked_before_the_first_step():
    outcome = iterate(Counting(), as_matrix(X), *started(Counting()), [MaxSeconds(0)])
    assert outcome.trace.last.t == 0


def test_time_goes_on_where_it_stood():
    state, trace = started(Counting())
    trace.points[0] = trace.points[0]._replace(seconds=50.0)
    outcome = iterate(Counting(), as_matrix(X), state, trace, [MaxIterations(1), MaxSeconds(51)])
    assert 50 <= outcome.trace.last.seconds < 51


@pytest.mark.parametrize("how", ["inf loss", "nan", "inf"])
def test_numbers_that_are_not_finite_end_the_run_before_anybody_saves_them(how):
    method, seen = Counting(3, how), []
    with pytest.raises(RunError, match=r"iteration 3 gave numbers that are not finite; .*\.$"):
        iterate(
            method, as_matrix(X), *started(method), [MaxIterations(9)], [lambda s, trace: seen.append(trace.last.t)]
        )
    assert seen == [1, 2]


def test_threads_are_as_before_after_a_run_and_after_a_failure():
    with threads(2):
        iterate(Counting(), as_matrix(X), *started(Counting()), [MaxIterations(2)])
        assert count() == 2
        with pytest.raises(RunError):
            iterate(Counting(1, "nan"), as_matrix(X), *started(Counting()), [MaxIterations(2)])
        assert count() == 2


class Ending:
    """An observer that ends the run as Ctrl-C does."""

    def __init__(self, at, error=KeyboardInterrupt):
        self.at, self.error = at, error

    def __call__(self, state, trace):
        if trace.last.t == self.at:
            raise self.error


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, ValueError, MemoryError])
@pytest.mark.parametrize(("every", "kept"), [(1, 7), (3, 6)])
def test_whoever_ends_the_run_leaves_a_checkpoint_to_resume_from(tmp_path, error, every, kept):
    whole = factorize(X, 3, max_iter=15, **WISHES)
    with pytest.raises(error):
        factorize(X, 3, max_iter=15, keep=Keep(tmp_path, every), observers=[Ending(7, error)], **WISHES)
    assert checkpoint.iteration(tmp_path) == kept
    resumed = factorize(X, 3, max_iter=15, keep=Keep(tmp_path, every, resume=True), **WISHES)
    np.testing.assert_array_equal(resumed.W, whole.W)
    np.testing.assert_array_equal(resumed.H, whole.H)
    assert [point.loss for point in resumed.trace.points] == [point.loss for point in whole.trace.points]


def test_ctrl_c_in_the_middle_of_an_iteration(tmp_path, monkeypatch):
    from partwise.algorithms.single.extrapolated import Extrapolated

    whole, step = factorize(X, 3, max_iter=9, **WISHES), Extrapolated.step

    def interrupted(self, X, state, t):
        if t == 5:
            raise KeyboardInterrupt
        return step(self, X, state, t)

    monkeypatch.setattr(Extrapolated, "step", interrupted)
    with pytest.raises(KeyboardInterrupt):
        factorize(X, 3, max_iter=9, keep=Keep(tmp_path, 2), **WISHES)
    monkeypatch.undo()
    assert checkpoint.iteration(tmp_path) == 4
    resumed = factorize(X, 3, max_iter=9, keep=Keep(tmp_path, 2, resume=True), **WISHES)
    np.testing.assert_array_equal(resumed.H, whole.H)


def test_urgent_saves_what_is_about_to_be_lost(tmp_path):
    with pytest.raises(KeyboardInterrupt):
        factorize(X, 3, max_iter=9, keep=Keep(tmp_path, 1000, urgent=lambda: True), observers=[Ending(4)], **WISHES)
    assert checkpoint.iteration(tmp_path) == 4


def test_a_longer_run_goes_on_from_a_shorter_one(tmp_path):
    whole = factorize(X, 3, max_iter=20, **WISHES)
    for most in (4, 11, 20):
        keep = Keep(tmp_path, 1000, resume=checkpoint.exists(tmp_path))
        last = factorize(X, 3, max_iter=most, keep=keep, **WISHES)
        assert last.iterations == most
        assert last.reason.sentence == f"Maximum number of iterations {most} reached."
    np.testing.assert_array_equal(last.H, whole.H)
    np.testing.assert_array_equal(last.W, whole.W)


def test_resuming_what_is_finished_makes_no_step(tmp_path):
    first = factorize(X, 3, max_iter=6, keep=Keep(tmp_path), **WISHES)
    again = factorize(X, 3, max_iter=4, keep=Keep(tmp_path, resume=True), **WISHES)
    assert again.iterations == 6
    np.testing.assert_array_equal(again.H, first.H)


@pytest.mark.parametrize(
    ("other", "words"),
    [
        ({"k": 4}, "n_components was 3 and is now 4"),
        ({"X": 2 * X}, "sq_norm was"),
        ({"X": X[:11]}, "shape was"),
        ({"X": X.astype(np.float32)}, "dtype was 'float64' and is now 'float32'"),
        ({"seed": 4}, "seed was 3 and is now 4"),
        ({"solver": "bpp"}, "solver was"),
        ({"options": {"acceleration": 1}}, "options was"),
        ({"alpha_W": 0.1}, "alpha_W was"),
    ],
)
def test_another_problem_is_not_resumed(tmp_path, other, words):
    call = {"X": X, "k": 3, "max_iter": 3, **WISHES}
    factorize(call.pop("X"), call.pop("k"), keep=Keep(tmp_path), **call)
    call = {"X": X, "k": 3, "max_iter": 3, **WISHES} | other
    with pytest.raises(RunError, match=r"is of another run: .*Resume with the same data and options\.$") as caught:
        factorize(call.pop("X"), call.pop("k"), keep=Keep(tmp_path, resume=True), **call)
    assert words in str(caught.value)
    assert checkpoint.iteration(tmp_path) == 3
