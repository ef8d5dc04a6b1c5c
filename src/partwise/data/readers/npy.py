"""NumPy's .npy: memory-mapped, read-only, never unpickled."""

from __future__ import annotations

import math
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np

from partwise.data.readers.structure import check_dense, check_dtype, refusing
from partwise.data.readers.table import Contents
from partwise.errors import DataError

_HEADERS = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}


class Header(NamedTuple):
    """What precedes the numbers of an .npy."""

    shape: tuple[int, ...]
    fortran_order: bool
    dtype: np.dtype[Any]
    size: int  # bytes


def read_npy(path: Path) -> Contents:
    """X as a read-only memory map."""
    with refusing(path, "an array as numpy.save writes it"):
        with path.open("rb") as file:
            header = read_header(file, path)
        check_dense(header.shape, header.dtype, path)
        check_size(header, path.stat().st_size, path)
        order = "F" if header.fortran_order else "C"
        return Contents(np.memmap(path, header.dtype, "r", header.size, header.shape, order))


def read_header(file: IO[bytes], where: object) -> Header:
    """The header, of which nothing is executed; arrays of Python objects end here, before anything is unpickled."""
    version = np.lib.format.read_magic(file)
    if version not in _HEADERS:
        raise DataError(
            f"{where} is .npy of version {version[0]}.{version[1]}. Expected 1.0 or 2.0: store it with numpy.save."
        )
    shape, fortran_order, dtype = _HEADERS[version](file)
    if dtype.hasobject:
        check_dtype(np.dtype(object), where)
    return Header(shape, fortran_order, dtype, file.tell())


def check_size(header: Header, size: int, where: object) -> None:
    """The file holds the numbers that its header announces, no fewer and no more."""
    expected = header.size + math.prod(header.shape) * header.dtype.itemsize
    if size != expected:
        state = "truncated" if size < expected else "followed by something else"
        raise DataError(
            f"{where} is {state}: {size} bytes. Expected {expected} for shape {header.shape} and dtype {header.dtype}; "
            "write or copy it again."
        )
