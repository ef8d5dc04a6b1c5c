"""Sums over whole factors in float64, in one pass, without temporaries and in a fixed order.

An array is summed by chunks, each in `LANES` independent partial sums; no order depends on threads or on the processor.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from partwise.currency import Array
from partwise.kernels.compiling import inline, kernel, sealed
from partwise.kernels.threads import spread

LANES = 64  # enough for eight registers of eight; part of the definition of every sum
CHUNK = 1 << 15  # numbers summed together
SHARE = 16  # chunks below which another thread costs more than it brings


def dot64(A: Array, B: Array) -> float:
    """Σ A ∘ B of two C-contiguous arrays of one shape, accumulated in float64."""
    return _by_chunks(_dot_chunks, A, B)


def sq64(A: Array) -> float:
    """‖A‖² of a C-contiguous array, accumulated in float64."""
    return dot64(A, A)


def row_squares(A: Array) -> Array:
    """(n,): ‖a_i‖² of the rows of a C-contiguous array (n, m), accumulated in float64."""
    rows, sums = sealed(A), np.empty(len(A))
    least = SHARE * CHUNK // max(1, A.shape[1])
    spread(lambda start, stop: _row_squares(rows, sums, start, stop), len(A), grain=1, least=least)
    return sums


def violation(F: Array, gradient: Array) -> float:
    """‖·‖₁ of the projected gradient, accumulated in float64: Σ |gradient| where F > 0 or gradient < 0."""
    return _by_chunks(_violation_chunks, F, gradient)


def _by_chunks(sum_chunks: Callable[..., Any], A: Array, B: Array) -> float:
    flat, other = sealed(A.reshape(-1)), sealed(B.reshape(-1))
    partial = np.zeros(-(-flat.size // CHUNK))
    spread(lambda start, stop: sum_chunks(flat, other, partial, start, stop), partial.size, grain=1, least=SHARE)
    return float(partial.sum())


@inline
def add_products(A, B):
    """Σ A · B of two flat arrays in float64, lane by lane."""
    lanes = np.zeros(LANES)
    for first in range(0, len(A), LANES):
        a, b = A[first : first + LANES], B[first : first + LANES]  # slices: their indices are seen to be in range
        for lane in range(len(a)):
            lanes[lane] += np.float64(a[lane]) * np.float64(b[lane])
    return lanes.sum()


@kernel
def _dot_chunks(A, B, partial, start, stop):
    """partial[chunk] for the chunks of [start, stop)."""
    for chunk in range(start, stop):
        here = slice(chunk * CHUNK, (chunk + 1) * CHUNK)
        partial[chunk] = add_products(A[here], B[here])


@kernel
def _row_squares(A, sums, start, stop):
    """sums[i] for the rows of [start, stop)."""
    for i in range(start, stop):
        sums[i] = add_products(A[i], A[i])


@kernel
def _violation_chunks(F, gradient, partial, start, stop):
    """The same for the projected gradient."""
    for chunk in range(start, stop):
        lanes = np.zeros(LANES)
        for first in range(chunk * CHUNK, min(len(F), (chunk + 1) * CHUNK), LANES):
            f, g = F[first : first + LANES], gradient[first : first + LANES]
            for lane in range(len(f)):
                slope = np.float64(g[lane])
                lanes[lane] += abs(slope) if f[lane] > 0 or slope < 0 else 0.0
        partial[chunk] = lanes.sum()
