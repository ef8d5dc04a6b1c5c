"""The loop of server and parties."""

import numpy as np
import pytest

from federated.parties import run, shards
from partwise.algorithms.federated.methods import METHODS
from partwise.drivers.transports.in_process import InProcess

ONCE = {"ipalm-once", "mur-once", "modified-dsanls"}  # done after a round, or refused
FALLING = [name for name in METHODS if name not in ONCE]
SYNCHRONOUS = [name for name in METHODS if not name.startswith(("asyn", "modified"))]


@pytest.mark.parametrize("name", FALLING)
def test_error_falls(name):
    outcome, _, mail = run(name, shards())
    errors = [point.error for point in outcome.history if not np.isnan(point.error)]
    assert errors[-1] < errors[0]
    assert not mail.faults


@pytest.mark.parametrize("name", SYNCHRONOUS)
def test_threads_change_nothing(name):
    alone, *_ = run(name, shards())
    together, *_ = run(name, shards(), transport=lambda seats: InProcess(seats, threads=True))
    np.testing.assert_array_equal(alone.public["H"], together.public["H"])
