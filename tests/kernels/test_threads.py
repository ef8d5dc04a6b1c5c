"""How work is cut, and how many threads BLAS and the kernels agree on."""

import threading
import time

import pytest
from threadpoolctl import threadpool_info

from partwise.kernels.threads import count, spread, threads


@pytest.mark.parametrize(("size", "grain"), [(0, 4), (1, 4), (4, 4), (5, 4), (1000, 7), (1024, 256)])
@pytest.mark.parametrize("number", [1, 2, 3])
def test_shares_cover_everything_once_and_are_cut_at_grains(size, grain, number):
    seen = []
    with threads(number):
        spread(lambda start, stop: seen.append((start, stop)), size, grain)
    seen.sort()
    assert len(seen) <= number
    assert [start for start, _ in seen] == [0, *(stop for _, stop in seen[:-1])]
    assert seen[-1][1] == size
    assert all(start % grain == 0 for start, _ in seen)


@pytest.mark.parametrize(("least", "shares"), [(1, 2), (50, 2), (51, 1), (1000, 1)])
def test_a_share_is_worth_its_thread(least, shares):
    seen = []
    with threads(2):
        spread(lambda start, stop: seen.append((start, stop)), 100, grain=1, least=least)
    assert len(seen) == shares


def test_blas_and_kernels_use_the_same_number():
    before = count()
    with threads(1) as number:
        assert number == count() == 1
        assert all(library["num_threads"] == 1 for library in threadpool_info() if library["user_api"] == "blas")
        with threads(2), threads(None) as inner:
            assert inner == count() == 2
        assert count() == 1
    assert count() == before


def test_work_runs_side_by_side():
    meeting = threading.Barrier(2, timeout=10)
    with threads(2):
        spread(lambda start, stop: meeting.wait(), 2, grain=1)


def test_nobody_works_on_after_an_error():
    finished = []

    def task(start, stop):
        if start == 0:
            raise ValueError("first share")
        time.sleep(0.05)
        finished.append(start)

    with threads(2), pytest.raises(ValueError, match="first share"):
        spread(task, 2, grain=1)
    assert finished == [1]


def test_an_error_in_another_thread_reaches_the_caller():
    def task(start, stop):
        if start > 0:
            raise ValueError("second share")

    with threads(2), pytest.raises(ValueError, match="second share"):
        spread(task, 2, grain=1)
