"""The loop of server and parties."""

import numpy as np
import pytest

from federated.parties import run, shards


@pytest.mark.parametrize("name", ["exact", "syn-sd"])
def test_error_falls(name):
    outcome, _, mail = run(name, shards())
    errors = [point.error for point in outcome.history if not np.isnan(point.error)]
    assert errors[-1] < errors[0]
    assert not mail.faults


@pytest.mark.parametrize("name", ["exact", "syn-sd"])
def test_threads_change_nothing(name):
    alone, *_ = run(name, shards())
    together, *_ = run(name, shards(), threads=True)
    np.testing.assert_array_equal(alone.public["H"], together.public["H"])
