"""HDF5 (.h5, .hdf5) and AnnData's .h5ad, through h5py alone.

A file whose stored text is damaged on purpose can keep HDF5's own library busy for ever: interrupt it then.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from partwise.data.readers.annotated import is_annotated, read_annotated
from partwise.data.readers.structure import refusing
from partwise.data.readers.table import Contents
from partwise.data.readers.trees import choose, matrix
from partwise.errors import DataError, MissingExtraError


def read_hdf5(path: Path, key: str | None = None, most: int | None = None) -> Contents:
    """The array or CSR/CSC group at `key`, or the only one of the file; dense arrays stay in the file."""
    with refusing(path, "an HDF5 file"), open_hdf5(path) as root:
        if is_annotated(root):
            return read_annotated(path, root, key, open_hdf5, most)
        chosen, node = choose(_nodes(root), key, path)
        return Contents(matrix(node, chosen, path, open_hdf5, most), key=chosen)


def read_h5ad(path: Path, key: str | None = None, most: int | None = None) -> Contents:
    """X, a layer or raw/X of an AnnData file, with the names of cells and genes; a dense one stays in the file."""
    with refusing(path, "an AnnData file (.h5ad)"), open_hdf5(path) as root:
        if not is_annotated(root):
            raise DataError(f"{path} has no obs and var. Expected an AnnData file; if it is other HDF5, name it .h5.")
        return read_annotated(path, root, key, open_hdf5, most)


@contextmanager
def open_hdf5(path: Path) -> Iterator[Any]:
    """The root group of a file, read-only."""
    try:
        import h5py
    except ImportError:
        raise MissingExtraError("Reading HDF5", "h5py", "io") from None
    with h5py.File(path, "r") as file:
        yield file


def _nodes(root: Any) -> list[tuple[str, Any]]:
    """All nodes, each once; links that lead out of the file are not followed."""
    nodes: list[tuple[str, Any]] = [("", root)]
    root.visititems(lambda name, node: nodes.append((name, node)))
    return nodes
