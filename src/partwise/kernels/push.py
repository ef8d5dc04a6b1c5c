"""Extrapolation of a factor in one pass: what NumPy does in four costs as much as a sweep where the factor is larger than the cache."""

from __future__ import annotations

import numpy as np

from partwise.currency import Array
from partwise.kernels.compiling import kernel, sealed
from partwise.kernels.threads import spread

SHARE = 1 << 18  # numbers below which another thread costs more than it brings


def push(F: Array, before: Array, ahead: float, first: int = 0) -> Array:
    """[F + ahead (F − before)]₊ for a block F (k, b): the columns from `first` on of a factor that was `before` (k, r).

    Both are C-contiguous; NaN stays NaN.
    """
    out = np.empty_like(F)
    step, now, then = F.dtype.type(ahead), sealed(F), sealed(before)
    least = SHARE // max(1, F.shape[1])
    spread(lambda start, stop: _push(now, then, step, first, out, start, stop), len(F), grain=1, least=least)
    return out


@kernel
def _push(F, before, ahead, first, out, start, stop):
    """The components of [start, stop)."""
    columns = F.shape[1]
    zero = out.dtype.type(0)
    for j in range(start, stop):
        new, old, row = F[j], before[j, first : first + columns], out[j]
        for i in range(columns):
            pushed = ahead * (new[i] - old[i]) + new[i]
            row[i] = zero if pushed < zero else pushed
