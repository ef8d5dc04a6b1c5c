"""Products of a CSR matrix X (n, m), given by (indptr, indices, data), with component-major factors, in O(nnz k) time.

Entries point at random columns, so within a kernel the k values of one column must lie side by side: the factor that is
looked up is transposed once, and the result is written back component-major.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from partwise.currency import Array
from partwise.kernels.compiling import kernel
from partwise.kernels.threads import spread

Index = NDArray[np.integer[Any]]

_ROWS = 64  # rows whose k values are worked on before they are transposed: small enough for the first cache


def gather(indptr: Index, indices: Index, data: Array, H: Array) -> Array:
    """(k, n): H Xᵀ, for H (k, m)."""
    out = np.empty((H.shape[0], indptr.size - 1), H.dtype)
    by_column = np.ascontiguousarray(H.T)
    X = _read_only(indptr, indices, data, by_column)
    spread(lambda start, stop: _gather(*X, out, start, stop), out.shape[1], grain=_ROWS)
    return out


def scatter(indptr: Index, indices: Index, data: Array, Wt: Array, m: int) -> Array:
    """(k, m): Wᵀ X, for Wt (k, n). Threads share the components, so that nothing needs merging."""
    out = np.empty((Wt.shape[0], m), Wt.dtype)
    X = _read_only(indptr, indices, data, Wt)

    def slice_of(start: int, stop: int) -> None:
        by_column = np.zeros((m, stop - start), Wt.dtype)
        _scatter(*X, by_column, start)
        out[start:stop] = by_column.T

    spread(slice_of, Wt.shape[0], grain=8)
    return out


def sampled_product(indptr: Index, indices: Index, Wt: Array, H: Array) -> Array:
    """(nnz,): the entries of W H at the places that X stores, for Wt (k, n) and H (k, m)."""
    out = np.empty(indices.size, H.dtype)
    X = _read_only(indptr, indices, np.ascontiguousarray(Wt.T), np.ascontiguousarray(H.T))
    spread(lambda start, stop: _sampled_product(*X, out, start, stop), indptr.size - 1, grain=_ROWS)
    return out


def _read_only(*arrays: NDArray[Any]) -> list[NDArray[Any]]:
    """Views that cannot be written to: a kernel is then compiled once, whether or not the caller's arrays can."""
    views = [np.ascontiguousarray(a).view() for a in arrays]
    for view in views:
        view.flags.writeable = False
    return views


@kernel
def _gather(indptr, indices, data, by_column, out, start, stop):
    k = by_column.shape[1]
    block = np.empty((_ROWS, k), out.dtype)
    for first in range(start, stop, _ROWS):
        rows = min(_ROWS, stop - first)
        block[:] = 0
        for r in range(rows):
            sums = block[r]
            for p in range(indptr[first + r], indptr[first + r + 1]):
                x = data[p]
                column = by_column[indices[p]]
                for c in range(k):
                    sums[c] += x * column[c]
        for c in range(k):
            for r in range(rows):
                out[c, first + r] = block[r, c]


@kernel
def _scatter(indptr, indices, data, Wt, by_column, component):
    n = indptr.size - 1
    k = by_column.shape[1]
    block = np.empty((_ROWS, k), by_column.dtype)
    for first in range(0, n, _ROWS):
        rows = min(_ROWS, n - first)
        for c in range(k):
            for r in range(rows):
                block[r, c] = Wt[component + c, first + r]
        for r in range(rows):
            weights = block[r]
            for p in range(indptr[first + r], indptr[first + r + 1]):
                x = data[p]
                column = by_column[indices[p]]
                for c in range(k):
                    column[c] += x * weights[c]


@kernel
def _sampled_product(indptr, indices, by_row, by_column, out, start, stop):
    k = by_row.shape[1]
    for i in range(start, stop):
        row = by_row[i]
        for p in range(indptr[i], indptr[i + 1]):
            column = by_column[indices[p]]
            total = out.dtype.type(0)
            for c in range(k):
                total += row[c] * column[c]
            out[p] = total
