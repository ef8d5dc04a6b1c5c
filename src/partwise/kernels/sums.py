"""Sums over whole factors in float64, in one pass, without temporaries and in a fixed order.

An array is summed by chunks, each in `LANES` independent partial sums; no order depends on threads or on the processor.
"""

from __future__ import annotations

import math

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


def violation(F: Array, gradient: Array) -> float:
    """‖·‖₁ of the projected gradient, accumulated in float64: Σ |gradient| where F > 0 or gradient < 0."""
    return _by_chunks(_violation_chunks, F, gradient)


def _by_chunks(sum_chunks, A: Array, B: Array) -> float:
    flat, other = sealed(A.reshape(-1)), sealed(B.reshape(-1))
    partial = np.zeros(-(-flat.size // CHUNK))
    spread(lambda start, stop: sum_chunks(flat, other, partial, start, stop), partial.size, SHARE)
    return math.fsum(partial)


@inline
def add_products(A, B, start, stop):
    """Σ A[start:stop] · B[start:stop] in float64, lane by lane."""
    lanes = np.zeros(LANES)
    whole = stop - (stop - start) % LANES
    for first in range(start, whole, LANES):
        for lane in range(LANES):
            lanes[lane] += np.float64(A[first + lane]) * np.float64(B[first + lane])
    for i in range(whole, stop):
        lanes[i - whole] += np.float64(A[i]) * np.float64(B[i])
    return lanes.sum()


@kernel
def _dot_chunks(A, B, partial, start, stop):
    """partial[chunk] for the chunks of [start, stop)."""
    for chunk in range(start, stop):
        partial[chunk] = add_products(A, B, chunk * CHUNK, min(len(A), (chunk + 1) * CHUNK))


@kernel
def _violation_chunks(F, gradient, partial, start, stop):
    for chunk in range(start, stop):
        lanes = np.zeros(LANES)
        first, last = chunk * CHUNK, min(len(F), (chunk + 1) * CHUNK)
        whole = last - (last - first) % LANES
        for i in range(first, whole, LANES):
            for lane in range(LANES):
                g = np.float64(gradient[i + lane])
                lanes[lane] += abs(g) if F[i + lane] > 0 or g < 0 else 0.0
        for i in range(whole, last):
            g = np.float64(gradient[i])
            lanes[i - whole] += abs(g) if F[i] > 0 or g < 0 else 0.0
        partial[chunk] = lanes.sum()
