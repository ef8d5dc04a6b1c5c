"""Dense matrices that stay in their file."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partwise.data.readers.structure import refusing
from partwise.errors import DataError

Opener = Callable[[Path], AbstractContextManager[Any]]  # opens a file for reading and gives its root


class LazyRows:
    """A dense (n, m) array in an HDF5 or zarr file, from which only the rows asked for are read.

    The file is opened for each read and closed after it: nothing is left open, and the object may be copied to other
    threads and processes. Ask for many rows at a time.
    """

    ndim = 2

    def __init__(self, path: Path, key: str, shape: tuple[int, int], dtype: np.dtype[Any], opener: Opener) -> None:
        self.path, self.key, self.shape, self.dtype = path, key, shape, dtype
        self._opener = opener

    def __len__(self) -> int:
        return self.shape[0]

    def __repr__(self) -> str:
        return f"LazyRows({str(self.path)!r}, key={self.key!r}, shape={self.shape}, dtype={self.dtype})"

    def __getitem__(self, rows: slice | NDArray[np.integer]) -> NDArray[Any]:
        """The rows of a slice, or of an array of row numbers in any order, in memory."""
        if isinstance(rows, slice):
            start, stop, step = rows.indices(self.shape[0])
            if step > 0:
                return self._read(slice(start, max(start, stop), step))
            return self[np.arange(start, stop, step)]
        wanted = np.arange(self.shape[0])[np.asarray(rows)]  # NumPy's meaning of negative numbers and masks
        if wanted.ndim != 1:
            raise TypeError("rows are taken by a slice or by an array of one dimension")
        distinct, back = np.unique(wanted, return_inverse=True)  # HDF5 wants them rising
        return self._read(distinct)[back]

    def block(self, rows: range, columns: range) -> NDArray[Any]:
        """Rows and columns that follow one another, in memory; of a chunked array the chunks they touch are read."""
        with self._node() as node:
            return np.asarray(node[rows.start : rows.stop, columns.start : columns.stop])

    @property
    def grain(self) -> int:
        """Rows of a chunk: fewer are never read."""
        with self._node() as node:
            return node.chunks[0] if node.chunks else 1

    def _read(self, rows: slice | NDArray[np.integer]) -> NDArray[Any]:
        with self._node() as node:
            taken = node.oindex if hasattr(node, "oindex") else node  # zarr's and HDF5's word for rows by number
            return np.asarray(taken[rows])

    @contextmanager
    def _node(self) -> Iterator[Any]:
        """The array in its file, which is open as long as the block."""
        where = f"{self.key} of {self.path}"
        with refusing(where, f"rows of a {self.shape[0]} × {self.shape[1]} array"), self._opener(self.path) as root:
            node = root[self.key] if self.key else root
            if node.shape != self.shape or node.dtype != self.dtype:
                raise DataError(
                    f"{where} has changed since it was opened: shape {node.shape}, dtype {node.dtype}. Start again."
                )
            yield node
