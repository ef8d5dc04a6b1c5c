"""Zarr: a directory or a zip file, of format 2 or 3, also as AnnData writes it.

A chunk that is absent reads as zeros, by zarr's own definition: a store that was copied in part cannot be told from one
that is mostly zeros.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from partwise.data.readers.annotated import is_annotated, read_annotated
from partwise.data.readers.structure import refusing
from partwise.data.readers.table import Contents
from partwise.data.readers.trees import choose, is_array, matrix
from partwise.errors import DataError, MissingExtraError


def read_zarr(path: Path, key: str | None = None, most: int | None = None) -> Contents:
    """The array or CSR/CSC group at `key`, or the only one of the store; dense arrays stay in the store."""
    with refusing(path, "a zarr store"), open_zarr(path) as root:
        nodes = [("", root), *([] if is_array(root) else root.members(max_depth=None))]
        for name, node in nodes:
            _refuse_pickle(node, f"{name} of {path}" if name else path)
        if is_annotated(root):
            return read_annotated(path, root, key, open_zarr, most)
        chosen, node = choose(nodes, key, path)
        return Contents(matrix(node, chosen, path, open_zarr, most), key=chosen)


@contextmanager
def open_zarr(path: Path) -> Iterator[Any]:
    """The root array or group of a store, read-only."""
    try:
        import zarr
        from zarr.storage import LocalStore, ZipStore
    except ImportError:
        raise MissingExtraError("Reading zarr", "zarr", "io") from None
    store = LocalStore(path, read_only=True) if path.is_dir() else ZipStore(path, mode="r")
    try:
        yield zarr.open(store=store, mode="r")
    finally:
        store.close()


def _refuse_pickle(node: Any, where: object) -> None:
    """Format 2 lets a file ask to be unpickled, which can run any program."""
    described = node.metadata.to_dict()
    codecs = [described.get(part) for part in ("filters", "compressor", "codecs")]
    if "pickle" in repr(codecs).lower():
        raise DataError(
            f"{where} is stored with pickle, which can run programs and is not read. Store it as numbers or text."
        )
