"""Blocks side by side: in order, few at a time, nothing left running, and the same bits for any number of threads."""

from __future__ import annotations

import itertools
import threading
import time

import numpy as np
import pytest
from threadpoolctl import threadpool_info

from laws.cases import ALGORITHMS
from partwise.kernels.threads import count, one_for_blas, side_by_side, spread, threads


@pytest.mark.parametrize("number", [1, 2, 3])
@pytest.mark.parametrize("size", [0, 1, 2, 3, 17])
def test_results_come_in_the_order_of_the_items(number, size):
    def task(i):
        time.sleep(0.003 * (i % 3 == 0))  # some are overtaken
        return i * i

    with threads(number), one_for_blas():
        assert list(side_by_side(task, iter(range(size)))) == [i * i for i in range(size)]


@pytest.mark.parametrize("number", [1, 2, 3])
def test_few_items_are_held_and_as_many_are_served_as_there_are_threads(number):
    lock, serving, most_serving, taken, given = threading.Lock(), 0, 0, 0, 0
    most_held = 0

    def items():
        nonlocal taken, most_held
        for i in range(30):
            taken += 1
            most_held = max(most_held, taken - given)
            yield i

    def task(i):
        nonlocal serving, most_serving
        with lock:
            serving += 1
            most_serving = max(most_serving, serving)
        time.sleep(0.001)
        with lock:
            serving -= 1
        return i

    with threads(number), one_for_blas():
        for _ in side_by_side(task, items()):
            given += 1
    assert taken == given == 30
    assert most_serving <= number
    assert most_held <= number + 2


def test_they_do_run_side_by_side():
    meeting = threading.Barrier(2, timeout=10)
    with threads(2), one_for_blas():
        list(side_by_side(lambda _: meeting.wait(), range(4)))


@pytest.mark.parametrize("number", [1, 2, 3])
@pytest.mark.parametrize("bad", [0, 1, 5, 8])
def test_an_error_reaches_the_caller_and_nothing_runs_on(number, bad):
    running = []

    def task(i):
        running.append(i)
        time.sleep(0.005)
        running.remove(i)
        if i == bad:
            raise ValueError(f"item {i}")
        return i

    results = []
    with threads(number), one_for_blas(), pytest.raises(ValueError, match=f"item {bad}"):
        results.extend(side_by_side(task, range(9)))
    assert running == []
    assert list(side_by_side(str, range(3))) == ["0", "1", "2"]  # the pool is as good as before


def test_an_error_of_the_items_reaches_the_caller_and_nothing_runs_on():
    running = []

    def items():
        yield from range(3)
        raise OSError("the disk is gone")

    def task(i):
        running.append(i)
        time.sleep(0.01)
        running.remove(i)

    with threads(2), one_for_blas(), pytest.raises(OSError, match="the disk is gone"):
        list(side_by_side(task, items()))
    assert running == []


def test_nothing_runs_on_after_the_caller_has_had_enough():
    running = []

    def task(i):
        running.append(i)
        time.sleep(0.01)
        running.remove(i)

    with threads(2), one_for_blas():
        results = side_by_side(task, itertools.count())
        next(results)
        results.close()
    assert running == []


@pytest.mark.timeout(20)
@pytest.mark.parametrize("quiet", [True, False])
def test_within_a_task_kernels_do_not_spread(quiet):
    """Also where BLAS has threads of its own, or is none that could be asked: waiting for the same pool would never end."""
    shares = []

    def task(i):
        assert count() == 1
        spread(lambda start, stop: shares.append((start, stop)), 1000, grain=1)
        assert list(side_by_side(str, range(3))) == ["0", "1", "2"]

    with threads(2):
        if quiet:
            with one_for_blas():
                list(side_by_side(task, range(6)))
        else:
            list(side_by_side(task, range(6)))
    assert shares == [(0, 1000)] * 6


def test_one_for_blas_leaves_our_threads_and_gives_all_back():
    def blas():
        return {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"}

    with threads(2):
        with one_for_blas():
            assert count() == 2
            assert blas() == {1}
        assert count() == 2
        assert blas() == {2}
        with pytest.raises(ValueError, match="inside"), one_for_blas():
            raise ValueError("inside")
        assert blas() == {2}


@pytest.mark.parametrize("case", ALGORITHMS, ids=str)
def test_any_number_of_threads_gives_the_same_bits(case, monkeypatch):
    """Through the driver, on rows that are cut into several blocks."""
    monkeypatch.setattr("partwise.data.dense.GRAIN", 64)
    monkeypatch.setattr("partwise.data.dense.BLOCK_BYTES", 1)
    X = np.random.default_rng(3).gamma(0.7, 1, (331, 29)) + 0.01
    found = []
    for number in (1, 2, 3):
        with threads(number):
            found.append(case.run(X, 5, 6))
    for other in found[1:]:
        np.testing.assert_array_equal(other.state.Wt, found[0].state.Wt)
        np.testing.assert_array_equal(other.state.H, found[0].state.H)
        np.testing.assert_equal([p[:4] for p in other.trace.points], [p[:4] for p in found[0].trace.points])
