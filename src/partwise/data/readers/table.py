"""What reading a file gives."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from partwise.data.readers.digests import digest

Names = tuple[str, ...] | None


class Contents(NamedTuple):
    """What one format's reader finds in a file."""

    X: Any
    feature_names: Names = None
    row_names: Names = None
    key: str | None = None  # which array of the file X is


@dataclass(frozen=True)
class Table:
    """A matrix as its file holds it (n rows, m columns), its names where the file has them, and where it came from.

    `X` is a NumPy array, a read-only memory map (.npy), a `csr_array` or `csc_array`, or `LazyRows` (dense HDF5 and
    zarr). Its structure has been checked, its values have not: integers and booleans are as stored, NaN and negative
    numbers stay.
    """

    X: Any
    feature_names: Names  # m
    row_names: Names  # n
    path: Path
    format: str
    key: str | None

    @property
    def shape(self) -> tuple[int, int]:
        """(n, m)."""
        return self.X.shape

    def digest(self) -> str:
        """SHA-256 of the file's bytes, for a manifest; reads the whole file, but of shards their manifest, which has the digests."""
        return digest(self.path / "manifest.json" if self.format == "shards" else self.path)
