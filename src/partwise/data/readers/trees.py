"""Files that hold a tree of arrays: what HDF5 and zarr have in common. A node is theirs: an array or a group."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from partwise.data.readers.lazy import LazyRows, Opener
from partwise.data.readers.structure import (
    Sparse,
    check_dense,
    check_may_be_whole,
    compressed,
    describe,
    listing,
    only_candidate,
    text,
)
from partwise.errors import DataError

_SPARSE = ("data", "indices", "indptr")


def is_array(node: Any) -> bool:
    """An array, rather than a group."""
    return getattr(node, "shape", None) is not None and hasattr(node, "dtype")


def is_sparse(node: Any) -> bool:
    """A group that holds a compressed sparse matrix."""
    return hasattr(node, "keys") and all(name in node for name in _SPARSE)


def choose(nodes: Iterable[tuple[str, Any]], key: str | None, where: object) -> tuple[str, Any]:
    """The wanted matrix, or the only one, of all nodes of a tree."""
    by_name = dict(nodes)
    found = {name: describe_node(node) for name, node in by_name.items() if _is_matrix(node)}
    chosen = (
        only_candidate(found, where, "a dense array of two dimensions, or a CSR or CSC group")
        if key is None
        else key.strip("/")
    )
    if chosen not in by_name:
        raise DataError(f"{where} has no array {chosen!r}. It holds: {listing(found) or 'no matrix of numbers'}.")
    return chosen, by_name[chosen]


def _is_matrix(node: Any) -> bool:
    return len(node.shape) == 2 and node.dtype.kind in "buif" if is_array(node) else is_sparse(node)


def describe_node(node: Any) -> str:
    """For a list of what a file holds."""
    return describe(node.shape, node.dtype) if is_array(node) else "sparse"


def matrix(node: Any, key: str, path: Path, opener: Opener, most: int | None = None) -> LazyRows | Sparse:
    """A dense array is left in the file, a sparse group is read, unless it has more than `most` bytes."""
    where = f"{key} of {path}" if key else str(path)
    if is_array(node):
        check_dense(node.shape, node.dtype, where)
        return LazyRows(path, key, node.shape, np.dtype(node.dtype), opener)
    if not is_sparse(node):
        raise DataError(f"{where} is a group and no matrix. Expected an array, or a group with {', '.join(_SPARSE)}.")
    if most is not None:
        check_may_be_whole(sum(node[name].size * node[name].dtype.itemsize for name in _SPARSE), most, where)
    data, indices, indptr = (np.asarray(node[name][...]) for name in _SPARSE)
    shape = _shape(node, where)
    return compressed(_orientation(node, len(indptr), shape), data, indices, indptr, shape, where)


def _shape(node: Any, where: object) -> Any:
    """(n, m), where AnnData, its old versions, and 10x Genomics keep it."""
    for name in ("shape", "h5sparse_shape"):
        if name in node.attrs:
            return np.asarray(node.attrs[name])
    if "shape" in node:
        return np.asarray(node["shape"][...])
    raise DataError(
        f"{where} is a sparse matrix without a shape. Expected an attribute or an array `shape`; write it again."
    )


def _orientation(node: Any, pointers: int, shape: Any) -> str:
    """As said by the file, or else as the number of pointers fits."""
    said = str(node.attrs.get("encoding-type", node.attrs.get("h5sparse_format", "")))
    for kind in ("csr", "csc"):
        if said.startswith(kind):
            return kind
    return "csc" if len(shape) == 2 and pointers == shape[1] + 1 != shape[0] + 1 else "csr"


def strings(node: Any) -> tuple[str, ...]:
    """An array of names; AnnData may keep them as a group of values and a mask."""
    array = node if is_array(node) else node["values"]
    return text(np.asarray(array[...]).tolist())
