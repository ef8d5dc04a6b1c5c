"""Products of a CSR matrix X (n, m), given by (indptr, indices, data), with component-major factors, in O(nnz k) time.

Entries point at random columns, so the values of one column must lie side by side. Factors are therefore worked on as
panels (m, width) of up to 64 components, each transposed once: narrow enough for the columns that are met most often to
stay in the second cache, wide enough for reading X once a panel not to matter. The rows of a panel that the next entries point at are
called for in advance. Every sum is taken entry by entry in the order in which X stores them, so results depend neither on
panels nor on threads. Factors may be float32 where X is float64: an entry is rounded when it is read, and X is not copied.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partwise.currency import Array
from partwise.kernels.compiling import kernel, sealed
from partwise.kernels.lanes import LINE, scratch
from partwise.kernels.panels import add_multiple, dot, load, prefetch, store, zeros
from partwise.kernels.threads import spread

Index = NDArray[Any]  # int32 or int64

_WIDTHS = (16, 32, 64)  # of panels; each is compiled when first met
_SQUARE = 8  # side of what is transposed at once: of 8 by 8 numbers a cache line or two each way
_AHEAD = 16  # entries in advance that rows of a panel are called for
_ROWS = 64  # rows whose results wait in the first cache to be transposed


def gather(indptr: Index, indices: Index, data: Array, H: Array) -> Array:
    """(k, n): H Xᵀ, for H (k, m)."""
    out = np.empty((H.shape[0], indptr.size - 1), H.dtype)
    X = sealed(indptr), sealed(indices), sealed(data)
    panels = [(out[part], _panel(H[part], width)) for part, width in _cover(0, H.shape[0])]

    def share(start: int, stop: int) -> None:
        for result, panel in panels:
            _gather(panel.shape[1])(*X, panel, result, start, stop)

    spread(share, out.shape[1], grain=_ROWS)
    return out


def scatter(indptr: Index, indices: Index, data: Array, Wt: Array, m: int) -> Array:
    """(k, m): Wᵀ X, for Wt (k, n). Threads share the components, so that there is nothing to merge."""
    out = np.empty((Wt.shape[0], m), Wt.dtype)
    X = sealed(indptr), sealed(indices), sealed(data)

    def share(start: int, stop: int) -> None:
        for part, width in _cover(start, stop):
            panel = _zeros(m, width, Wt.dtype)
            _scatter(width)(*X, sealed(Wt[part]), panel)
            _transpose(sealed(panel), out[part])

    spread(share, Wt.shape[0], grain=_WIDTHS[0])
    return out


def sampled_product(indptr: Index, indices: Index, Wt: Array, H: Array) -> Array:
    """(nnz,): the entries of W H at the places that X stores, for Wt (k, n) and H (k, m)."""
    out = np.zeros(indices.size, H.dtype)
    X = sealed(indptr), sealed(indices)
    panels = [(_panel(Wt[part], width), _panel(H[part], width)) for part, width in _cover(0, H.shape[0])]

    def share(start: int, stop: int) -> None:
        for rows, columns in panels:
            _add_sampled(columns.shape[1])(*X, rows, columns, out, start, stop)

    spread(share, indptr.size - 1, grain=_ROWS)
    return out


def _cover(start: int, stop: int) -> Iterator[tuple[slice, int]]:
    """Components start..stop, cut into panels: which they are, and the width of their panel."""
    while start < stop:
        width = next((w for w in _WIDTHS if w >= stop - start), _WIDTHS[-1])
        yield slice(start, min(stop, start + width)), width
        start += width


def _panel(F: Array, width: int) -> Array:
    """(r, width): the transpose of F (k, r), with zeros to its right where k < width."""
    panel = _zeros(F.shape[1], width, F.dtype)
    _transpose(sealed(F), panel)
    return sealed(panel)


def _zeros(rows: int, width: int, dtype: np.dtype[Any]) -> Array:
    """(rows, width) whose rows start cache lines: loads that straddle two of them made the products twice as slow."""
    size = rows * width * dtype.itemsize
    room = np.zeros(size + LINE, np.uint8)
    first = -room.ctypes.data % LINE
    return room[first : first + size].view(dtype).reshape(rows, width)


@kernel
def _transpose(source, target):
    """target[j, i] = source[i, j] for all of the smaller of both, by squares that fit the first cache."""
    height, width = min(source.shape[0], target.shape[1]), min(source.shape[1], target.shape[0])
    for top in range(0, height, _SQUARE):
        for left in range(0, width, _SQUARE):
            for i in range(top, min(top + _SQUARE, height)):
                for j in range(left, min(left + _SQUARE, width)):
                    target[j, i] = source[i, j]


@cache
def _gather(width: int) -> Callable[..., None]:
    @kernel
    def gather(indptr, indices, data, panel, out, start, stop):
        """out[:, start:stop] from a panel (m, width) of H; out has width components at most."""
        last, rounded = indices.size - 1, panel.dtype.type
        block = scratch(_ROWS * width, out.dtype).reshape(_ROWS, width)
        for first in range(start, stop, _ROWS):
            rows = min(_ROWS, stop - first)
            for r in range(rows):
                sums = zeros(out, width)
                for p in range(indptr[first + r], indptr[first + r + 1]):
                    prefetch(panel, indices[min(p + _AHEAD, last)], width)
                    sums = add_multiple(sums, rounded(data[p]), load(panel, indices[p], width))
                store(block, r, sums)
            for c in range(out.shape[0]):
                for r in range(rows):
                    out[c, first + r] = block[r, c]

    return gather


@cache
def _scatter(width: int) -> Callable[..., None]:
    @kernel
    def scatter(indptr, indices, data, Wt, panel):
        """Add Wᵀ X to a panel (m, width); Wt has width components at most."""
        n, last, rounded = indptr.size - 1, indices.size - 1, panel.dtype.type
        block = scratch(_ROWS * width, panel.dtype).reshape(_ROWS, width)
        for first in range(0, n, _ROWS):
            rows = min(_ROWS, n - first)
            for c in range(Wt.shape[0]):
                for r in range(rows):
                    block[r, c] = Wt[c, first + r]
            for r in range(rows):
                weights = load(block, r, width)
                for p in range(indptr[first + r], indptr[first + r + 1]):
                    prefetch(panel, indices[min(p + _AHEAD, last)], width)
                    j = indices[p]
                    store(panel, j, add_multiple(load(panel, j, width), rounded(data[p]), weights))

    return scatter


@cache
def _add_sampled(width: int) -> Callable[..., None]:
    @kernel
    def add_sampled(indptr, indices, rows, columns, out, start, stop):
        """Add to the entries of rows start:stop what one panel of both factors brings."""
        for i in range(start, stop):
            row = load(rows, i, width)
            for p in range(indptr[i], indptr[i + 1]):
                out[p] += dot(row, load(columns, indices[p], width))

    return add_sampled
