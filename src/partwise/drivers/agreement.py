"""What all ranks must see alike, lest one goes on while another stops."""

from __future__ import annotations

import numpy as np

from partwise.comm import sum_numbers
from partwise.drivers.trace import Point
from partwise.protocols import Comm


def agreed(comm: Comm, point: Point) -> Point:
    """Rank 0's word on where the run stands, its clock among it: four numbers from one rank to all."""
    if comm.size == 1:
        return point
    loss, penalty, violation, seconds = comm.broadcast(np.array(point[1:], np.float64))
    return Point(point.t, float(loss), float(penalty), float(violation), float(seconds))


def anyone(comm: Comm, says_so: bool) -> bool:
    """Whether any rank says so: a signal, say, that reached only one of them. A collective call."""
    return sum_numbers(comm, float(says_so))[0] > 0
