"""Making shards by streaming: memory is a budget, whatever the size of X.

Files that are read by blocks (.npy, dense HDF5 and zarr) never are in memory whole; others are, one after another. Beside
that, at most `memory` bytes are held, and 8 for each row and column of sparse data.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any, final

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from partwise.data.readers.digests import digest
from partwise.data.readers.table import Names, Table
from partwise.data.shards import transpose
from partwise.data.shards.arrays import ArrayWriter
from partwise.data.shards.manifest import (
    DENSE,
    KIND,
    MANIFEST,
    NAMES,
    SCHEMA,
    SPARSE,
    Manifest,
    index_dtype,
    read_manifest,
)
from partwise.errors import DataError, OptionError

MEMORY = 256 << 20  # bytes of X at a time


@final
@dataclass
class Seen:
    """What passed by on its way to the files: entries that a fit will ask about."""

    missing: int = 0
    negative: int = 0
    infinite: int = 0

    def look(self, values: NDArray[Any]) -> None:
        """Count in more entries."""
        if values.dtype.kind == "f":
            self.missing += int(np.count_nonzero(np.isnan(values)))
            self.infinite += int(np.count_nonzero(np.isinf(values)))
        if values.dtype.kind in "fi":
            self.negative += int(np.count_nonzero(values < 0))


@final
@dataclass(frozen=True)
class Stack:
    """Tables whose rows lie one below the other; each is opened when its turn comes, and let go."""

    tables: Sequence[Table]
    seen: Seen = field(default_factory=Seen)

    @property
    def shape(self) -> tuple[int, int]:
        """(n, m) of all."""
        return sum(table.shape[0] for table in self.tables), self.tables[0].shape[1]

    @property
    def dtype(self) -> np.dtype[Any]:
        """Wide enough for all."""
        found = np.result_type(*(table.X.dtype for table in self.tables))
        return np.dtype(np.float32) if found == np.float16 else found

    @property
    def sparse(self) -> bool:
        """Whether they are sparse."""
        return sp.issparse(self.tables[0].X)

    def names(self) -> tuple[Names, Names]:
        """(of the features, of the samples), where all tables have them."""
        samples = [table.row_names for table in self.tables]
        known = [names for names in samples if names is not None]
        return self.tables[0].feature_names, tuple(chain.from_iterable(known)) if len(known) == len(samples) else None

    def blocks(self, rows: int) -> Iterator[Any]:
        """So many rows at a time, dense or CSR."""
        for table in self.tables:
            X = table.X.tocsr() if sp.issparse(table.X) else table.X
            for start in range(0, X.shape[0], rows):
                yield X[start : min(start + rows, X.shape[0])]


def stacked(tables: Sequence[Table]) -> Stack:
    """The tables as one, if they fit."""
    first = tables[0]
    for table in tables[1:]:
        if table.shape[1] != first.shape[1]:
            raise DataError(f"{table.path} has {table.shape[1]} columns and {first.path} has {first.shape[1]}: they cannot be stacked. "
                            "Expected the same features in the same order in all files.")  # fmt: skip
        if table.feature_names != first.feature_names:
            raise DataError(f"{table.path} and {first.path} name their columns differently. Expected the same names in the same order "
                            "in all files, or in none.")  # fmt: skip
        if sp.issparse(table.X) != sp.issparse(first.X):
            raise DataError(
                f"Of {table.path} and {first.path} one is sparse and the other dense. Expected all of one kind."
            )
    return Stack(tables)


def write_shards(
    folder: Path, tables: Sequence[Table], *, dtype: Any = None, memory: int = MEMORY
) -> tuple[Manifest, Seen]:
    """Write X, of one file or of several stacked by rows, into an empty directory; the manifest last."""
    stack = stacked(tables)
    kind = stack.dtype if dtype is None else np.dtype(dtype)
    if dtype is not None and kind not in (np.float32, np.float64):
        raise OptionError(f"dtype={dtype!r} is not supported; expected 'float32' or 'float64'.")
    if stack.sparse:
        stored, names = (
            _write_sparse(folder, stack, kind, memory),
            [f"{side}.{part}.npy" for side in ("csr", "csc") for part in ("data", "indices", "indptr")],
        )
    else:
        stored, names = _write_dense(folder, stack, kind, memory), ["X.npy", "XT.npy"]
    features, samples = stack.names()
    if features is not None or samples is not None:
        (folder / NAMES).write_text(json.dumps({"features": features, "samples": samples}), encoding="utf-8")
        names.append(NAMES)
    facts = {
        "shape": stack.shape,
        "dtype": kind.newbyteorder("=").name,
        "stored": stored,
        "layout": SPARSE if stack.sparse else DENSE,
    }
    _write_manifest(folder, facts, names)
    return read_manifest(folder), stack.seen


def _write_manifest(folder: Path, facts: Mapping[str, Any], names: Sequence[str]) -> None:
    files = {name: {"bytes": (folder / name).stat().st_size, "sha256": digest(folder / name)} for name in names}
    content = {"kind": KIND, "schema": SCHEMA, **facts, "files": files}
    (folder / MANIFEST).write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")


def _write_dense(folder: Path, stack: Stack, dtype: np.dtype[Any], memory: int) -> int:
    """X by rows, then its transpose from that."""
    n, m = stack.shape
    with ArrayWriter(folder / "X.npy", dtype, m) as rows:
        for block in stack.blocks(max(1, memory // (2 * m * dtype.itemsize))):
            stack.seen.look(np.asarray(block))
            rows.append(np.asarray(block))
    transpose.dense(folder / "X.npy", folder / "XT.npy", (n, m), dtype, memory)
    return n * m


def _write_sparse(folder: Path, stack: Stack, dtype: np.dtype[Any], memory: int) -> int:
    """Rows as they come, each sorted and without duplicates; then the columns from these."""
    n, m = stack.shape
    numbers = index_dtype((n, m))
    counts, indptr = np.zeros(m, np.int64), [np.zeros(1, np.int64)]
    with (
        ArrayWriter(folder / "csr.data.npy", dtype) as data,
        ArrayWriter(folder / "csr.indices.npy", numbers) as indices,
        ArrayWriter(folder / "csr.indptr.npy", np.dtype(np.int64)) as pointers,
    ):
        for block in stack.blocks(_rows_of(stack, memory, dtype)):
            held = canonical(block)
            stack.seen.look(held.data)
            data.append(held.data)
            indices.append(held.indices)
            indptr.append(indptr[-1][-1] + held.indptr[1:].astype(np.int64))
            counts += np.bincount(held.indices, minlength=m)
        pointers.append(np.concatenate(indptr))
    stored = int(indptr[-1][-1])
    transpose.sparse(folder, (n, m), stored, dtype, counts, memory)
    return stored


def _rows_of(stack: Stack, memory: int, dtype: np.dtype[Any]) -> int:
    """How many rows make a part of the budget, on average; rows that are much longer take more."""
    entries = sum(table.X.nnz for table in stack.tables)
    each = max(1, entries // stack.shape[0]) * (dtype.itemsize + 24)  # the number, its column, and room to sort
    return max(1, memory // each)


def canonical(block: Any) -> sp.csr_array:
    """CSR whose rows are sorted and name no column twice; never the caller's own arrays changed."""
    held = sp.csr_array(block)
    if not held.has_canonical_format:
        held = held.copy()
        held.sum_duplicates()
    return held
