"""What a line of progress says."""

import math

import pytest

from partwise.cli.progress import error_of
from partwise.drivers.trace import Point, Trace


def trace(scale, *losses):
    return Trace(scale, [Point(t, loss, 0.0, math.nan, 0.1 * t) for t, loss in enumerate(losses)])


@pytest.mark.parametrize(
    ("scale", "losses", "shown"),
    [
        (100.0, (50.0, 2.0), ", relative error 0.2"),
        (0.0, (50.0, 2.0), ", loss 2"),
        (100.0, (50.0, 2.0, math.nan), ", relative error 0.2"),  # the newest that is known
        (100.0, (50.0, math.nan), ""),  # the start's is long past
        (0.0, (math.nan, math.nan), ""),
    ],
)
def test_an_error_is_told_where_it_says_something_about_now(scale, losses, shown):
    assert error_of(trace(scale, *losses)) == shown
