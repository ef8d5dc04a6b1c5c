"""Matrix Market: .mtx and .mtx.gz, coordinates (read as CSR) or a dense array."""

from __future__ import annotations

import gzip
import io
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from scipy.io import mminfo, mmread

from partwise.data.readers.structure import check_dtype, check_extent, refusing
from partwise.data.readers.table import Contents
from partwise.errors import DataError

_LEAST_ENTRY = {
    "coordinate": 4,
    "array": 1,
}  # bytes an entry takes at least: "1 1\n"; "0\n", of which symmetry saves half
_MOST_DEFLATED = 1032  # bytes that one byte of gzip can stand for


def read_matrix_market(path: Path) -> Contents:
    """X in memory; entries given twice are added up, a symmetric matrix is completed."""
    with refusing(path, "a Matrix Market file"):
        with _open(path) as file:
            rows, columns, entries, layout, field, _ = mminfo(file)
        check_extent((rows, columns), path)
        if field == "complex":
            check_dtype(np.dtype(np.complex128), path)
        _check_length(path, entries, layout)
        with _open(path) as file:
            X: Any = mmread(file, spmatrix=False)
        if sparse.issparse(X):
            X = sparse.csr_array(X)
        check_dtype(X.dtype, path)
        return Contents(X)


class _Ended(io.RawIOBase):
    """Text without zero bytes and with an end to its last line: without either, SciPy 1.17 ends the process."""

    def __init__(self, file: Any) -> None:
        self._file, self._more = file, True

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        count = self._file.readinto(buffer)
        if count == 0 and self._more:
            self._more = False
            buffer[:1] = b"\n"
            return 1
        if b"\0" in bytes(buffer[:count]):
            raise ValueError("it holds zero bytes, which text does not")
        return count

    def close(self) -> None:
        self._file.close()
        super().close()


def _open(path: Path) -> io.BufferedReader:
    opener: Any = gzip.open if path.suffix.lower() == ".gz" else open
    return io.BufferedReader(_Ended(opener(path, "rb")))


def _check_length(path: Path, entries: int, layout: str) -> None:
    """A header must not make us set aside memory for entries that the file cannot hold."""
    room = path.stat().st_size * (_MOST_DEFLATED if path.suffix.lower() == ".gz" else 1)
    if entries * _LEAST_ENTRY[layout] > room:
        raise DataError(
            f"{path} is truncated: its header announces {entries} entries, but the file is too short. Write it again."
        )
