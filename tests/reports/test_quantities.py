"""Numbers as people read them."""

from __future__ import annotations

import json

import pytest

from partwise.reports import quantities as q
from partwise.reports.run_directory import strict


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.000123, "0.12 ms"), (0.0123, "12 ms"), (0.0996, "0.1 s"), (0.5, "0.5 s"), (9.94, "9.9 s"), (9.96, "10 s"),
        (59.4, "59 s"), (59.6, "1 min 00 s"), (75, "1 min 15 s"), (3599.7, "1 h 00 min"), (7320, "2 h 02 min"),
    ],
)  # fmt: skip
def test_durations(seconds, text):
    assert q.duration(seconds) == text


@pytest.mark.parametrize(
    ("number", "text"), [(0, "0 bytes"), (999, "999 bytes"), (1500, "1.5 kB"), (999_600, "1 MB"), (25.3e9, "25.3 GB")]
)
def test_sizes(number, text):
    assert q.size(number) == text


def test_others():
    assert q.shape((1797, 64)) == "1,797 × 64"
    assert q.counted(1, "part") == "1 part"
    assert q.counted(2000, "part") == "2,000 parts"
    assert q.ratio(float("nan")) == "–"
    assert q.ratio(0.25718) == "0.2572"
    assert q.share(0.00354) == "0.354 %"


def test_what_is_not_a_number_is_null():
    held = {"a": float("nan"), "b": [float("inf"), 1.5, {"c": (float("-inf"),)}]}
    assert json.dumps(strict(held), allow_nan=False) == '{"a": null, "b": [null, 1.5, {"c": [null]}]}'
