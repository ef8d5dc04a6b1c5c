"""Arrays in .npy files, written piece by piece and read by parts: with reads and writes, never mapped.

A map would turn a full disk into a dead process, and hide from a rank's memory what it holds.
"""

from __future__ import annotations

import math
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self, final

import numpy as np
from numpy.typing import NDArray

from partwise.data.readers.npy import check_size, read_header
from partwise.data.readers.structure import refusing
from partwise.errors import DataError


@final
class ArrayWriter:
    """An .npy that grows by rows; NumPy's header leaves room for their number, which is known at the end."""

    def __init__(self, path: Path, dtype: np.dtype[Any], *width: int) -> None:
        self.dtype, self._width, self._rows = dtype.newbyteorder("<"), width, 0
        self._file = path.open("wb")
        self._write_header()
        self._header_size = self._file.tell()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *failure: object) -> None:
        """Write the number of rows, and make sure of the bytes."""
        with self._file:
            self._file.seek(0)
            self._write_header()
            self._file.flush()
            os.fsync(self._file.fileno())

    def append(self, rows: NDArray[Any]) -> None:
        """More rows, below the others."""
        self._file.write(np.ascontiguousarray(rows, self.dtype).data)
        self._rows += len(rows)

    def make_room(self, rows: int) -> None:
        """So many rows, to be filled by `put`."""
        self._rows = rows
        self._file.truncate(self._header_size + rows * math.prod(self._width) * self.dtype.itemsize)

    def put(self, first_row: int, first_column: int, block: NDArray[Any]) -> None:
        """A block of a matrix in its place."""
        block = np.ascontiguousarray(block, self.dtype)
        for number, row in enumerate(block, start=first_row):
            self._file.seek(self._header_size + (number * self._width[0] + first_column) * self.dtype.itemsize)
            self._file.write(row.data)

    def _write_header(self) -> None:
        descr = np.lib.format.dtype_to_descr(self.dtype)
        shape = (self._rows, *self._width)
        np.lib.format.write_array_header_1_0(self._file, {"descr": descr, "fortran_order": False, "shape": shape})


@final
@dataclass(frozen=True)
class StoredArray:
    """An .npy in C order, of which parts are read."""

    path: Path
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    header_size: int

    def read(self, first: int, stop: int) -> NDArray[Any]:
        """Rows first … stop, in memory."""
        width = math.prod(self.shape[1:])
        out = np.empty((stop - first, *self.shape[1:]), self.dtype)
        with self.path.open("rb", buffering=0) as file:
            self._fill(file, out, first * width)
        return out

    def block(self, rows: range, columns: range) -> NDArray[Any]:
        """A block of a matrix, in memory: one read for each row, and nothing else is read."""
        if len(columns) == self.shape[1]:
            return self.read(rows.start, rows.stop)
        out = np.empty((len(rows), len(columns)), self.dtype)
        with self.path.open("rb", buffering=0) as file:
            for number, row in zip(rows, out, strict=True):
                self._fill(file, row, number * self.shape[1] + columns.start)
        return out

    def _fill(self, file: Any, out: NDArray[Any], entry: int) -> None:
        """The array from the file, from that entry on; the system may give less than was asked for."""
        file.seek(self.header_size + entry * self.dtype.itemsize)
        left: memoryview = out.reshape(-1).view(np.uint8).data
        while len(left):
            got = file.readinto(left)
            if not got:
                raise DataError(f"{self.path} ends too early: it was cut since it was opened. Write or copy it again.")
            left = left[got:]


def open_array(path: Path, shape: tuple[int, ...], dtype: np.dtype[Any]) -> StoredArray:
    """The array in a file, which must be of this shape and dtype, and whole."""
    _check_there(path)
    with refusing(path, "an array as numpy.save writes it"):
        with path.open("rb") as file:
            header = read_header(file, path)
        if header.shape != shape or header.dtype != dtype or header.fortran_order:
            raise DataError(
                f"{path} holds {_words(header.shape)} {header.dtype}; the manifest beside it says {_words(shape)} {dtype}: "
                "it is another data set's. Make the shards again."
            )
        check_size(header, path.stat().st_size, path)
    return StoredArray(path, header.shape, header.dtype, header.size)


def _check_there(path: Path) -> None:
    """A file that may be read, or a sentence."""
    try:
        path.open("rb").close()
    except FileNotFoundError:
        raise DataError(f"{path} is missing, though the manifest beside it lists it. Copy the shards whole, or make them "
                        "again.") from None  # fmt: skip
    except OSError as error:
        raise DataError(f"{path} cannot be opened: {error.strerror}. Check its permissions.") from None


def _words(shape: tuple[int, ...]) -> str:
    return " × ".join(map(str, shape)) if len(shape) > 1 else f"{math.prod(shape)} numbers"
