"""What a directory of shards says of itself.

dense    X.npy, and XT.npy, its transpose: rows and columns are contiguous in one of them
sparse   csr.data.npy, csr.indices.npy, csr.indptr.npy, and the same three of csc
both     names.json where the data has names; manifest.json, written last: shape, dtype, entries stored, digests of the files
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

import numpy as np

from partwise.data.readers.digests import digest
from partwise.data.readers.structure import check_dtype, check_extent, check_names, text
from partwise.data.readers.table import Names
from partwise.data.shards.arrays import StoredArray, open_array
from partwise.errors import DataError

KIND = "partwise shards"
SCHEMA = 1
MANIFEST, NAMES = "manifest.json", "names.json"
DENSE, SPARSE = "dense", "sparse"


@final
@dataclass(frozen=True)
class Manifest:
    """A directory of shards: what X is, and which files hold it."""

    folder: Path
    shape: tuple[int, int]
    dtype: np.dtype[Any]
    layout: str  # dense or sparse
    stored: int  # entries: n·m, or those that are not zero
    files: Mapping[str, Mapping[str, Any]]  # their bytes and sha256, by name
    digest: str  # of the manifest itself, so of all

    def array(self, name: str, shape: tuple[int, ...], dtype: np.dtype[Any]) -> StoredArray:
        """A file of the directory, checked against what is said of it here."""
        return open_array(self.folder / name, shape, dtype)

    @property
    def index_dtype(self) -> np.dtype[Any]:
        """Of the row and column numbers in the files."""
        return index_dtype(self.shape)

    def names(self) -> tuple[Names, Names]:
        """(of the features, of the samples), where there are any."""
        if NAMES not in self.files:
            return None, None
        path = self.folder / NAMES
        try:
            held = json.loads(path.read_text(encoding="utf-8"))
            features, samples = (None if held[key] is None else text(held[key]) for key in ("features", "samples"))
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise DataError(f"{path} cannot be read ({error}). Copy the shards again, or make them again.") from None
        n, m = self.shape
        return check_names(features, m, "column", path), check_names(samples, n, "row", path)

    def verify(self) -> None:
        """Read all files and compare their digests."""
        for name, known in self.files.items():
            if digest(self.folder / name) != known["sha256"]:
                raise DataError(f"{self.folder / name} is damaged: its digest is not the one in the manifest. "
                                "Copy the shards again, or make them again.")  # fmt: skip


def index_dtype(shape: tuple[int, int]) -> np.dtype[Any]:
    """Wide enough for row and column numbers."""
    return np.dtype(np.int32 if max(shape) <= np.iinfo(np.int32).max else np.int64)


def is_shards(folder: Path) -> bool:
    """Whether a directory holds shards of ours, whole."""
    try:
        return json.loads((folder / MANIFEST).read_text(encoding="utf-8")).get("kind") == KIND
    except (OSError, ValueError, AttributeError):
        return False


def read_manifest(folder: Path) -> Manifest:
    """The manifest, if this is a directory of shards, of this version, with all its files."""
    path = folder / MANIFEST
    held = _load(path)
    if not isinstance(held, dict) or held.get("kind") != KIND:
        raise DataError(f"{path} is not of a directory of shards. Expected what `partwise shard` made.")
    if held.get("schema") != SCHEMA:
        raise DataError(f"{folder} has schema {held.get('schema')!r}; this version reads {SCHEMA}. Use the version that made it, or "
                        "make the shards again.")  # fmt: skip
    try:
        shape, dtype, files = (int(held["shape"][0]), int(held["shape"][1])), np.dtype(held["dtype"]), held["files"]
        manifest = Manifest(folder, shape, dtype, held["layout"], int(held["stored"]), dict(files), digest(path))
        sizes = {name: int(known["bytes"]) for name, known in manifest.files.items()}
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise DataError(f"{path} is damaged ({type(error).__name__}: {error}). Make the shards again.") from None
    check_extent(shape, path)
    check_dtype(dtype, path)
    if manifest.layout not in (DENSE, SPARSE):
        raise DataError(f"{path} is damaged: its layout is {manifest.layout!r}. Make the shards again.")
    for name, size in sizes.items():
        _check_size(folder / name, size)
    return manifest


def _load(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise DataError(
            f"{path.parent} holds no {MANIFEST}: it is no directory of shards, or half of one. "
            "Expected what `partwise shard` made."
        ) from None
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror}. Check its permissions.") from None
    except ValueError as error:
        raise DataError(f"{path} is damaged ({error}). Make the shards again.") from None


def _check_size(path: Path, size: int) -> None:
    try:
        seen = path.stat().st_size
    except OSError as error:
        raise DataError(f"{path} is missing, though the manifest lists it ({error.strerror}). Copy the shards whole, or make them "
                        "again.") from None  # fmt: skip
    if seen != size:
        state = "truncated" if seen < size else "longer than it was written"
        raise DataError(f"{path} is {state}: {seen} bytes, the manifest says {size}. Copy the shards again, or make them "
                        "again.")  # fmt: skip
