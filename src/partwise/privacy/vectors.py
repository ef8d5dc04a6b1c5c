"""Symmetric and rectangular statistics as one vector with the same norm, and back.

Off-diagonal entries of a symmetric A stand once, times √2. So noise N(0, σ²) on the vector is N(0, σ²) on A's diagonal and N(0, σ²/2)
off it, mirrored, and ‖(A, B)‖ is the vector's norm: the sensitivities of `clip` are those of the vector.
"""

from __future__ import annotations

import numpy as np

from partwise.currency import Array


def pack(gram: Array | None, cross: Array | None) -> Array:
    """(k(k+1)/2 + km,) float64 from A (k, k) symmetric and B (k, m); either may be absent."""
    parts = [] if gram is None else [_svec(gram)]
    return np.concatenate([*parts, *([] if cross is None else [cross.ravel()])], dtype=np.float64)


def unpack_gram(vector: Array, k: int) -> Array:
    """A (k, k) from the first k(k+1)/2 entries."""
    row, column = np.triu_indices(k)
    A = np.empty((k, k))
    A[row, column] = A[column, row] = vector[: len(row)] / _weights(row, column)
    return A


def unpack(vector: Array, k: int) -> tuple[Array, Array]:
    """(A (k, k), B (k, m)) from what `pack` made of both."""
    return unpack_gram(vector, k), vector[k * (k + 1) // 2 :].reshape(k, -1)


def _svec(A: Array) -> Array:
    row, column = np.triu_indices(len(A))
    return A[row, column].astype(np.float64) * _weights(row, column)


def _weights(row: np.ndarray, column: np.ndarray) -> Array:
    return np.where(row == column, 1.0, np.sqrt(2.0))
