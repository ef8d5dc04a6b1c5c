"""NumPy's .npz: one dense `X`, or a sparse matrix in parts (ours, and scipy.sparse.save_npz's). Never unpickled."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import numpy as np
from numpy.typing import NDArray

from partwise.data.readers.npy import Header, check_size, read_header
from partwise.data.readers.structure import (
    Sparse,
    check_dense,
    check_extent,
    check_names,
    compressed,
    describe,
    listing,
    only_candidate,
    refusing,
    text,
)
from partwise.data.readers.table import Contents, Names
from partwise.errors import DataError

_KIND = "an .npz with X, or with data, indices, indptr and shape"
_FEATURES = ("feature_names", "vocab", "genes", "cols")
_ROWS = ("row_names", "rows")
_SPARSE_PARTS = {"csr": {"indices", "indptr", "shape"}, "coo": {"row", "col", "data", "shape"}}


def read_npz(path: Path, key: str | None = None) -> Contents:
    """`X`, or the array named `key`, or the sparse matrix whose parts are there (without `data`, all entries are 1)."""
    with refusing(path, _KIND), ZipFile(path) as archive:
        headers = {name: _header(archive, name, path) for name in _arrays(archive)}
        X, chosen = _matrix(archive, headers, path, key)
        features = _names(archive, headers, _FEATURES, X.shape[1], "column", path)
        return Contents(X, features, _names(archive, headers, _ROWS, X.shape[0], "row", path), chosen)


def _arrays(archive: ZipFile) -> list[str]:
    return [name.removesuffix(".npy") for name in archive.namelist() if name.endswith(".npy")]


def _header(archive: ZipFile, name: str, path: Path) -> Header | None:
    """None for what must not be read: an array of objects stays closed unless it is the one wanted."""
    with archive.open(f"{name}.npy") as file:
        try:
            return read_header(file, f"{name} of {path}")
        except DataError:
            return None


def _load(archive: ZipFile, name: str, path: Path) -> NDArray[Any]:
    where = f"{name} of {path}"
    with archive.open(f"{name}.npy") as file:
        check_size(read_header(file, where), archive.getinfo(f"{name}.npy").file_size, where)
        file.seek(0)
        return np.lib.format.read_array(file, allow_pickle=False)


def _matrix(archive: ZipFile, headers: dict[str, Header | None], path: Path, key: str | None) -> tuple[Any, str | None]:
    if key is None and "X" not in headers:
        for kind, parts in _SPARSE_PARTS.items():
            if parts <= headers.keys():
                return _sparse(lambda name: _load(archive, name, path), headers, kind, path), None
    found = {name: describe(head.shape, head.dtype) for name, head in headers.items() if head and _is_matrix(head)}
    if key is None:
        key = "X" if "X" in headers else only_candidate(found, path, _KIND)
    if key not in headers:
        raise DataError(f"{path} has no array {key!r}. It holds: {listing(found) or 'no matrix of numbers'}.")
    head = headers[key]
    if head is not None:
        check_dense(head.shape, head.dtype, f"{key} of {path}")
    return _load(archive, key, path), key


def _is_matrix(head: Header) -> bool:
    return len(head.shape) == 2 and head.dtype.kind in "buif"


def _sparse(load: Callable[[str], NDArray[Any]], names: Any, kind: str, path: Path) -> Sparse:
    """From the parts; `format` is scipy's own, and CSR where it is not said."""
    saved_as = text([load("format").item()])[0] if "format" in names else kind
    if saved_as not in ("csr", "csc", "coo"):
        raise DataError(
            f"{path} holds a sparse matrix saved as {saved_as!r}. Expected csr, csc or coo: convert it with .tocsr()."
        )
    if saved_as == "coo":
        return _coordinates(load("data"), load("row"), load("col"), load("shape"), path)
    data = load("data") if "data" in names else None
    return compressed(saved_as, data, load("indices"), load("indptr"), load("shape"), path)


def _coordinates(data: Any, row: Any, col: Any, shape: Any, path: Path) -> Sparse:
    """CSR through `compressed`'s checks: rows are sorted into an indptr, columns checked as indices."""
    whole = all(part.ndim == 1 and part.dtype.kind in "iu" for part in (row, shape)) and len(shape) == 2
    if not whole or row.shape != col.shape:
        raise DataError(
            f"{path} is not a consistent sparse matrix: row {row.shape}, col {col.shape}, shape {shape}. Write again."
        )
    check_extent(shape, path)
    if len(row) and (row.min() < 0 or row.max() >= shape[0]):
        raise DataError(
            f"{path} is not a consistent sparse matrix: row runs from {row.min()} to {row.max()} for {shape[0]} rows."
        )
    order = np.argsort(row, kind="stable")
    indptr = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=shape[0]))])
    return compressed("csr", data[order] if data.shape == row.shape else data, col[order], indptr, shape, path)


def _names(archive: ZipFile, headers: Any, known: tuple[str, ...], count: int, what: str, path: Path) -> Names:
    """The first known array of text with as many names as needed; the first word of `known` must fit if it is there."""
    for name in known:
        head = headers.get(name)
        if head is None or head.dtype.kind not in "US" or len(head.shape) != 1:
            continue
        if head.shape[0] == count or name == known[0]:
            return check_names(text(_load(archive, name, path).tolist()), count, what, path)
    return None
