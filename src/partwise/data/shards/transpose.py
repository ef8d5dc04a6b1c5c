"""X by columns, made from X by rows, both on disk, within a budget of memory."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partwise.data.shards.arrays import ArrayWriter, StoredArray, open_array
from partwise.data.shards.manifest import index_dtype

WORK = 40  # bytes an entry takes while it is sorted into its column: number, row, column, order, and copies of these


def dense(rows: Path, columns: Path, shape: tuple[int, int], dtype: np.dtype[Any], memory: int) -> None:
    """XT.npy from X.npy by square tiles: pieces of both files are as long as they can be."""
    n, m = shape
    X = open_array(rows, shape, dtype)
    side = max(1, math.isqrt(memory // (2 * dtype.itemsize)))
    with ArrayWriter(columns, dtype, n) as out:
        out.make_room(m)
        for i in range(0, n, side):
            for j in range(0, m, side):
                tile = X.block(range(i, min(i + side, n)), range(j, min(j + side, m)))
                out.put(j, i, tile.T)


def sparse(
    folder: Path, shape: tuple[int, int], stored: int, dtype: np.dtype[Any], counts: NDArray[np.int64], memory: int
) -> None:
    """The csc files from the csr files: as many columns at a time as fit, each time through all rows."""
    indptr = np.concatenate([[0], np.cumsum(counts)])
    rows = Rows(folder, shape, stored, dtype)
    with (
        ArrayWriter(folder / "csc.data.npy", dtype) as data,
        ArrayWriter(folder / "csc.indices.npy", index_dtype(shape)) as indices,
        ArrayWriter(folder / "csc.indptr.npy", np.dtype(np.int64)) as pointers,
    ):
        for first, stop in _panels(indptr, max(1, memory // (2 * WORK))):
            entries = list(rows.of_columns(first, stop, max(1, memory // (4 * WORK))))
            row, column, value = (np.concatenate(part) for part in zip(*entries, strict=True))
            order = np.argsort(column, kind="stable")  # rows rise already
            data.append(value[order])
            indices.append(row[order])
        pointers.append(indptr)


def _panels(indptr: NDArray[np.int64], most: int) -> Iterator[tuple[int, int]]:
    """Ranges of columns with at most so many entries, or of one column."""
    first, m = 0, len(indptr) - 1
    while first < m:
        stop = max(first + 1, int(np.searchsorted(indptr, indptr[first] + most, side="right")) - 1)
        yield first, stop
        first = stop


class Rows:
    """The csr files, read from the front."""

    def __init__(self, folder: Path, shape: tuple[int, int], stored: int, dtype: np.dtype[Any]) -> None:
        self._indptr = open_array(folder / "csr.indptr.npy", (shape[0] + 1,), np.dtype(np.int64)).read(0, shape[0] + 1)
        self._data: StoredArray = open_array(folder / "csr.data.npy", (stored,), dtype)
        self._indices: StoredArray = open_array(folder / "csr.indices.npy", (stored,), index_dtype(shape))

    def of_columns(self, first: int, stop: int, most: int) -> Iterator[tuple[NDArray[Any], NDArray[Any], NDArray[Any]]]:
        """(row, column, value) of the entries of some columns, in the order of the rows."""
        stored = int(self._indptr[-1])
        for begin in range(0, max(stored, 1), most):
            end = min(begin + most, stored)
            columns = self._indices.read(begin, end)
            row = np.searchsorted(self._indptr, np.arange(begin, end), side="right") - 1
            here = (columns >= first) & (columns < stop)
            yield row[here].astype(columns.dtype), columns[here], self._data.read(begin, end)[here]
