"""A rank's part of X, read from disk alone: rows, columns, or a block of both.

| X is in | rows | columns | a block |
|---|---|---|---|
| dense shards | nothing else is read | nothing else | nothing else |
| sparse shards | nothing else | nothing else | the rows or the columns it lies in, whichever has less |
| .npy, in its order | nothing else | nothing else, by small reads | nothing else |
| dense HDF5 and zarr | the chunks it touches | the same | the same |
| any other file | the whole file, of which the part is kept | the same | the same |

Values are checked as they are read, so each rank vouches for its own part.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol, final

import numpy as np
import scipy.sparse as sp

from partwise.currency import Array
from partwise.data.dense import Dense
from partwise.data.entries import Entries
from partwise.data.readers.lazy import LazyRows
from partwise.data.readers.npy import read_header
from partwise.data.readers.table import Table
from partwise.data.shards.arrays import StoredArray
from partwise.data.shards.manifest import DENSE, Manifest
from partwise.data.sparse import Sparse
from partwise.data.validate import check_block, check_stored, converted, working_dtype
from partwise.errors import DataError

BLOCK_BYTES = 16 << 20  # that are read and converted at a time


class Parts(Protocol):
    """X (n, m) on disk, of which parts can be had."""

    @property
    def shape(self) -> tuple[int, int]: ...

    @property
    def dtype(self) -> np.dtype[Any]:
        """In which the parts are handed out."""
        ...

    @property
    def nnz(self) -> int:
        """Entries that are stored: n·m of dense data."""
        ...

    @property
    def alone(self) -> bool:
        """Whether a part is read without the rest."""
        ...

    def part(self, rows: range, columns: range) -> Entries:
        """X[rows, columns], in memory, checked."""
        ...


class BlockSource(Protocol):
    """Dense numbers on disk."""

    @property
    def shape(self) -> tuple[int, ...]: ...

    def block(self, rows: range, columns: range) -> Any: ...


@final
@dataclass(frozen=True)
class DenseParts:
    """X as it lies in a file, or as its transpose, or both."""

    path: Path
    shape: tuple[int, int]
    dtype: np.dtype[Any]
    negative: str
    upright: BlockSource | None  # of X
    lying: BlockSource | None  # of its transpose
    grain: int = 1  # rows that are read at once anyway

    alone = True

    @property
    def nnz(self) -> int:
        return self.shape[0] * self.shape[1]

    def part(self, rows: range, columns: range) -> Dense:
        """From whichever of the two has longer pieces of it."""
        if self.lying is not None and (self.upright is None or self._lies_better(rows, columns)):
            return Dense(self._read(self.lying, columns, rows, lambda at: (rows.start, at)).T)
        assert self.upright is not None
        return Dense(self._read(self.upright, rows, columns, lambda at: (at, columns.start)))

    def _lies_better(self, rows: range, columns: range) -> bool:
        n, m = self.shape
        return len(columns) < m and (len(rows) == n or len(columns) < len(rows))

    def _read(self, source: BlockSource, major: range, minor: range, corner: Callable[[int], tuple[int, int]]) -> Array:
        """(major, minor) in the working precision, a few megabytes at a time."""
        out = np.empty((len(major), len(minor)), self.dtype)
        step = BLOCK_BYTES // max(1, len(minor) * self.dtype.itemsize) // self.grain * self.grain
        for first in range(0, len(major), max(step, self.grain)):
            taken = major[first : first + max(step, self.grain)]
            out[first : first + len(taken)] = converted(np.asarray(source.block(taken, minor)), self.dtype)
            here = out[first : first + len(taken)]
            upright = here if source is self.upright else here.T
            if here.size and check_block(upright, corner(taken.start), "error", self.negative):
                np.maximum(here, 0, out=here)
        return out


@final
@dataclass(frozen=True)
class Compressed:
    """The three arrays of CSR on disk; of the transpose, they are those of CSC."""

    data: StoredArray
    indices: StoredArray
    indptr: StoredArray

    def of(self, rows: range, columns: range, width: int) -> sp.csr_array:
        """CSR of a block: the rows are read, and of them the columns kept."""
        pointers = self.indptr.read(rows.start, rows.stop + 1)
        if (np.diff(pointers) < 0).any() or pointers[0] < 0 or pointers[-1] > self.data.shape[0]:
            raise DataError(
                f"{self.indptr.path} is damaged: its numbers fall, or lead out of the data. Make the shards again."
            )
        first, stop = int(pointers[0]), int(pointers[-1])
        data, indices = self.data.read(first, stop), self.indices.read(first, stop)
        if len(indices) and (indices.min() < 0 or indices.max() >= width):
            raise DataError(
                f"{self.indices.path} is damaged: its numbers leave the range 0 to {width - 1}. Make the shards again."
            )
        numbers = np.int32 if max(stop - first, width) <= np.iinfo(np.int32).max else np.int64
        local = (pointers - first).astype(numbers)
        whole = sp.csr_array((data, indices.astype(numbers, copy=False), local), shape=(len(rows), width))
        return whole if len(columns) == width else sp.csr_array(whole[:, columns.start : columns.stop])


@final
@dataclass(frozen=True)
class SparseParts:
    """X by rows and by columns."""

    manifest: Manifest
    dtype: np.dtype[Any]
    negative: str
    rows: Compressed
    columns: Compressed

    alone = True

    @property
    def shape(self) -> tuple[int, int]:
        return self.manifest.shape

    @property
    def nnz(self) -> int:
        return self.manifest.stored

    def part(self, rows: range, columns: range) -> Sparse:
        """By rows or by columns, whichever reads less."""
        n, m = self.shape
        corner = rows.start, columns.start
        if len(rows) / n <= len(columns) / m:
            return Sparse(self._checked(self.rows.of(rows, columns, m), corner, flipped=False))
        return Sparse(self._checked(self.columns.of(columns, rows, n), corner, flipped=True), flipped=True)

    def _checked(self, stored: sp.csr_array, corner: tuple[int, int], *, flipped: bool) -> sp.csr_array:
        data = converted(stored.data, self.dtype)
        held = sp.csr_array((data, stored.indices, stored.indptr), shape=stored.shape)
        return check_stored(held, corner, self.negative, flipped=flipped)


@final
@dataclass(frozen=True)
class WholeParts:
    """X in a file that can only be read whole: each rank reads it, and keeps its part."""

    path: Path
    X: Any  # an array, or CSR or CSC
    dtype: np.dtype[Any]
    negative: str

    alone = False

    @property
    def shape(self) -> tuple[int, int]:
        return self.X.shape

    @property
    def nnz(self) -> int:
        return self.X.nnz if sp.issparse(self.X) else self.X.size

    def part(self, rows: range, columns: range) -> Entries:
        """A copy, so that the rest can be let go."""
        inside = slice(rows.start, rows.stop), slice(columns.start, columns.stop)
        corner = rows.start, columns.start
        if sp.issparse(self.X):
            cut = sp.csr_array(self.X[inside])
            cut.sum_duplicates()
            held = sp.csr_array((converted(cut.data, self.dtype), cut.indices, cut.indptr), shape=cut.shape)
            return Sparse(check_stored(held, corner, self.negative))
        block = converted(self.X[inside].copy(), self.dtype)
        if block.size and check_block(block, corner, "error", self.negative):
            np.maximum(block, 0, out=block)
        return Dense(block)


def parts_of(table: Table, *, negative: str, dtype: Any) -> Parts:
    """X of a file by parts: of an .npy, of dense HDF5 or zarr, or of a file that was read whole."""
    working = working_dtype(np.dtype(table.X.dtype), dtype)
    if table.format == "npy":
        return _of_npy(table, negative, working)
    if isinstance(table.X, LazyRows):
        return DenseParts(table.path, table.shape, working, negative, table.X, None, table.X.grain)
    return WholeParts(table.path, table.X, working, negative)


def parts_of_shards(manifest: Manifest, *, negative: str, dtype: Any) -> Parts:
    """X of a directory by parts: nothing but its manifest and the headers of its files has been read."""
    n, m = manifest.shape
    working = working_dtype(manifest.dtype, dtype)
    if manifest.layout == DENSE:
        X, XT = manifest.array("X.npy", (n, m), manifest.dtype), manifest.array("XT.npy", (m, n), manifest.dtype)
        return DenseParts(manifest.folder, manifest.shape, working, negative, X, XT)
    return SparseParts(manifest, working, negative, _compressed(manifest, "csr", n), _compressed(manifest, "csc", m))


def _compressed(manifest: Manifest, side: str, lines: int) -> Compressed:
    stored = (manifest.stored,)
    return Compressed(
        manifest.array(f"{side}.data.npy", stored, manifest.dtype),
        manifest.array(f"{side}.indices.npy", stored, manifest.index_dtype),
        manifest.array(f"{side}.indptr.npy", (lines + 1,), np.dtype(np.int64)),
    )


def _of_npy(table: Table, negative: str, working: np.dtype[Any]) -> Parts:
    """An .npy as it is; in Fortran order its columns are what lies in a piece."""
    with table.path.open("rb") as file:
        header = read_header(file, table.path)
    held = StoredArray(table.path, header.shape, header.dtype, header.size)
    if header.fortran_order:
        lying = replace(held, shape=header.shape[::-1])
        return DenseParts(table.path, table.shape, working, negative, None, lying)
    return DenseParts(table.path, table.shape, working, negative, held, None)
