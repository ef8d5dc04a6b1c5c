"""Several arrays in one message: latency is paid once."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from partwise.protocols import Comm


def sum_together(comm: Comm, *arrays: NDArray[Any]) -> tuple[NDArray[Any], ...]:
    """The sums over the ranks of arrays of one dtype, by one all-reduce."""
    if comm.size == 1:
        return arrays
    sizes = np.cumsum([array.size for array in arrays])
    total = comm.sum(np.concatenate([array.ravel() for array in arrays]))
    parts = np.split(total, sizes[:-1])
    return tuple(part.reshape(array.shape) for part, array in zip(parts, arrays, strict=True))


def sum_numbers(comm: Comm, *numbers: float) -> tuple[float, ...]:
    """The sums over the ranks of some numbers, in float64, by one all-reduce."""
    if comm.size == 1:
        return numbers
    return tuple(float(total) for total in comm.sum(np.array(numbers, np.float64)))
