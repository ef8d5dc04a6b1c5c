"""What every format's reader checks: that what was found is a matrix of real numbers, whole and consistent."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from scipy import sparse

from partwise.data.readers.table import Names
from partwise.errors import DataError, PartwiseError

Sparse = sparse.csr_array | sparse.csc_array

_NOT_NUMBERS = {
    "O": "text or Python objects",
    "U": "text",
    "S": "text",
    "T": "text",
    "c": "complex numbers",
    "M": "dates",
    "m": "durations",
}


@contextmanager
def refusing(where: object, kind: str) -> Iterator[None]:
    """Turns whatever a format's library raises inside into a sentence about the file."""
    try:
        yield
    except PartwiseError:
        raise
    except MemoryError:
        raise DataError(
            f"{where} asks for more memory than there is. Expected {kind} that fits in memory; "
            "store dense data as .npy, HDF5 or zarr, which are read by blocks, or check that the file is not corrupt."
        ) from None
    except Exception as error:  # the libraries behind raise almost anything on a corrupt file
        seen = next(iter(str(error).splitlines()), "") or "no reason given"
        raise DataError(
            f"{where} cannot be read ({type(error).__name__}: {seen}). Expected {kind}; "
            "the file may be truncated, corrupt or of another kind: write or copy it again."
        ) from None


def check_dtype(dtype: np.dtype[Any], where: object) -> None:
    """Only real numbers and booleans pass."""
    if dtype.kind not in "buif":
        seen = _NOT_NUMBERS.get(dtype.kind, "records")
        raise DataError(
            f"{where} holds {seen} (dtype {dtype}). Expected real numbers; convert them and store the file again."
        )


def check_dense(shape: Sequence[int], dtype: np.dtype[Any], where: object) -> None:
    """A dense array is a matrix: two dimensions, neither of them empty, real numbers."""
    check_dtype(dtype, where)
    if len(shape) != 2:
        raise DataError(
            f"{where} holds an array of {len(shape)} dimension{'' if len(shape) == 1 else 's'}, shape {tuple(shape)}. "
            "Expected two: rows are samples, columns are features; reshape it and store it again."
        )
    check_extent(shape, where)


def check_extent(shape: Sequence[int], where: object) -> None:
    """(n, m) with at least one row and one column."""
    if min(shape) < 1:
        raise DataError(
            f"{where} holds a matrix of {shape[0]} rows and {shape[1]} columns. Expected at least one of each."
        )


def check_may_be_whole(size: int, most: int, where: object) -> None:
    """What can only be read whole must be small where each rank needs a part of it only."""
    if size > most:
        raise DataError(
            f"{where} has {size / 1e6:,.0f} MB and can only be read whole, by every rank; up to {most / 1e6:,.0f} MB that is done. "
            "Make a directory of which each rank reads its part alone: partwise shard DATA -o shards."
        )


def compressed(kind: str, data: Any, indices: Any, indptr: Any, shape: Any, where: object) -> Sparse:
    """A CSR or CSC matrix from its three arrays, which must fit one another; without `data`, all entries are 1."""
    indices, indptr = _integers("indices", indices, where), _integers("indptr", indptr, where)
    data = np.ones(len(indices), np.uint8) if data is None else np.asarray(data)
    check_dtype(data.dtype, f"data of {where}")
    n, m = _pair(shape, where)
    major, minor = (n, m) if kind == "csr" else (m, n)
    if data.shape != indices.shape:
        raise _inconsistent(
            where, f"data has shape {data.shape} and indices {indices.shape}", "one index for each value"
        )
    if len(indptr) != major + 1:
        expected = f"{major + 1} for {kind.upper()} of shape {(n, m)}"
        raise _inconsistent(where, f"indptr has {len(indptr)} entries", expected)
    if indptr[0] != 0 or indptr[-1] != len(indices):
        raise _inconsistent(
            where, f"indptr runs from {indptr[0]} to {indptr[-1]}", f"0 to {len(indices)}, the number of indices"
        )
    falls = np.flatnonzero(indptr[1:] < indptr[:-1])
    if len(falls):
        raise _inconsistent(where, f"indptr falls after entry {falls[0]}", "never falling")
    if len(indices) and (indices.min() < 0 or indices.max() >= minor):
        raise _inconsistent(where, f"indices run from {indices.min()} to {indices.max()}", f"0 to {minor - 1}")
    build = sparse.csr_array if kind == "csr" else sparse.csc_array
    return build((data, indices, indptr), shape=(n, m))


def _inconsistent(where: object, seen: str, expected: str) -> DataError:
    return DataError(f"{where} is not a consistent sparse matrix: {seen}. Expected {expected}; write the file again.")


def _integers(name: str, part: Any, where: object) -> np.ndarray:
    part = np.asarray(part)
    if part.ndim != 1 or part.dtype.kind not in "iu":
        raise _inconsistent(where, f"{name} has shape {part.shape} and dtype {part.dtype}", "one dimension of integers")
    return part


def _pair(shape: Any, where: object) -> tuple[int, int]:
    shape = _integers("shape", shape, where)
    if len(shape) != 2:
        raise _inconsistent(where, f"shape has {len(shape)} entries", "two: rows and columns")
    check_extent(shape, where)
    return int(shape[0]), int(shape[1])


def only_candidate(found: dict[str, str], where: object, kind: str) -> str:
    """The key of the one matrix in a file, `found` being keys and what is there; else a sentence that lists them."""
    if len(found) == 1:
        return next(iter(found))
    if not found:
        raise DataError(f"{where} holds no matrix of numbers. Expected {kind}.")
    raise DataError(
        f"{where} holds {len(found)} matrices: {listing(found)}. "
        f"Say which with key=, for example key={next(iter(found))!r}."
    )


def listing(found: dict[str, str], most: int = 20) -> str:
    """`a (3 × 4 float64), b (...)`, cut where it gets long."""
    shown = ", ".join(f"{key} ({what})" for key, what in list(found.items())[:most])
    return shown + (f" and {len(found) - most} more" if len(found) > most else "")


def describe(shape: Sequence[int], dtype: object) -> str:
    """`3 × 4 float64`."""
    return f"{' × '.join(map(str, shape))} {dtype}"


def text(names: Iterable[object]) -> tuple[str, ...]:
    """Names as strings; bytes are UTF-8."""
    return tuple(name.decode("utf-8", "replace") if isinstance(name, bytes) else str(name) for name in names)


def check_names(names: Names, count: int, what: str, where: object) -> Names:
    """As many names as there are rows or columns, or none at all."""
    if names is not None and len(names) != count:
        raise DataError(
            f"{where} has {len(names)} {what} names for {count} {what}s. Expected as many of one as of the other."
        )
    return names
