"""Matrix Market: .mtx and .mtx.gz, coordinates (read as CSR) or a dense array."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from scipy import io, sparse

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
        rows, columns, entries, layout, field, _ = io.mminfo(path)
        check_extent((rows, columns), path)
        if field == "complex":
            check_dtype(np.dtype(np.complex128), path)
        _check_length(path, entries, layout)
        X = io.mmread(path, spmatrix=False)
        if sparse.issparse(X):
            X = sparse.csr_array(X)
        check_dtype(X.dtype, path)
        return Contents(X)


def _check_length(path: Path, entries: int, layout: str) -> None:
    """A header must not make us set aside memory for entries that the file cannot hold."""
    room = path.stat().st_size * (_MOST_DEFLATED if path.suffix.lower() == ".gz" else 1)
    if entries * _LEAST_ENTRY[layout] > room:
        raise DataError(
            f"{path} is truncated: its header announces {entries} entries, but the file is too short. Write it again."
        )
