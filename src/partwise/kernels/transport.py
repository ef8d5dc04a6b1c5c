"""The inner loop of entropic transport: rows and columns of a small kernel scaled in turn to their marginals."""

from __future__ import annotations

import numpy as np

from partwise.currency import Array
from partwise.kernels.compiling import kernel


def scalings(K: Array, rows: Array, columns: Array, count: int, most: float = 1e100) -> tuple[Array, Array]:
    """(u, v) with diag(u) K diag(v) near to both marginals after `count` turns, or before one of them exceeds `most`."""
    u, v = np.ones(len(rows)), np.ones(len(columns))
    _scale(np.ascontiguousarray(K), rows, columns, u, v, count, most)
    return u, v


@kernel
def _scale(K, rows, columns, u, v, count, most):
    tiny = 2.2250738585072014e-308
    for _ in range(count):
        v[:] = 0.0
        for i in range(len(u)):
            for j in range(len(v)):
                v[j] += u[i] * K[i, j]
        largest = 0.0
        for j in range(len(v)):
            v[j] = columns[j] / max(v[j], tiny)
            largest = max(largest, v[j])
        for i in range(len(u)):
            total = 0.0
            for j in range(len(v)):
                total += K[i, j] * v[j]
            u[i] = rows[i] / max(total, tiny)
            largest = max(largest, u[i])
        if largest > most:
            break
