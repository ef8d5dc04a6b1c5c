"""What a name on disk is to ranks: X by parts, its names, and the facts by which ranks and runs know it again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

import numpy as np

from partwise.data.ownership import Layout
from partwise.data.readers.digests import digest
from partwise.data.readers.formats import read
from partwise.data.readers.table import Names
from partwise.data.shard import Shard
from partwise.data.shards.manifest import is_shards, read_manifest
from partwise.data.shards.parts import Parts, SparseParts, WholeParts, parts_of, parts_of_shards
from partwise.errors import OptionError

WHOLE_BYTES = 64_000_000  # of a file that can only be read whole: so much is read by every rank, which keeps its part


@final
@dataclass(frozen=True)
class Opened:
    """X (n, m) on disk, opened by one rank, which has read none of its entries unless it must read all."""

    parts: Parts
    path: Path
    format: str
    key: str | None
    bytes: int
    names: Callable[[], tuple[Names, Names]]  # (of the features, of the samples)
    manifest: str | None = None  # SHA-256 of a directory's manifest, which has those of its files

    @property
    def sparse(self) -> bool:
        """Whether only what is not zero is stored."""
        held = self.parts.X if isinstance(self.parts, WholeParts) else None
        return isinstance(self.parts, SparseParts) or not (held is None or isinstance(held, np.ndarray))

    def digest(self) -> str | None:
        """SHA-256 of what X is, as for one process; none of a file too long to be read by one, where only parts are wanted."""
        return self.manifest or (digest(self.path) if self.bytes <= WHOLE_BYTES else None)

    @property
    def shape(self) -> tuple[int, int]:
        """(n, m)."""
        return self.parts.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """In which the entries are handed out."""
        return self.parts.dtype

    @property
    def nnz(self) -> int:
        """Entries that are stored."""
        return self.parts.nnz

    def shard(self, layout: Layout, rank: int) -> Shard:
        """What this rank reads, and all that it reads."""
        n, m = self.parts.shape
        rows, columns, block = layout.rows(rank), layout.columns(rank), layout.block(rank)
        return Shard(
            layout,
            rank,
            None if rows is None else self.parts.part(_range(rows), range(m)),
            None if columns is None else self.parts.part(range(n), _range(columns)),
            None if block is None else self.parts.part(_range(block[0]), _range(block[1])),
        )


def open_parts(path: str | Path, *, key: str | None = None, negative: str = "error", dtype: Any = None) -> Opened:
    """X by parts: of a directory of shards, of an .npy, of dense HDF5 or zarr, or of a small file that must be read whole."""
    path = Path(path)
    if negative not in ("error", "clip"):
        raise OptionError(f"negative={negative!r} is not known; expected 'error' or 'clip'.")
    if is_shards(path) or (path.is_dir() and path.suffix != ".zarr"):
        if key is not None:
            raise OptionError(f"key= means nothing for {path}, which is a directory of shards; leave it out.")
        manifest = read_manifest(path)
        size = sum(int(known["bytes"]) for known in manifest.files.values())
        parts = parts_of_shards(manifest, negative=negative, dtype=dtype)
        return Opened(parts, path, "shards", None, size, manifest.names, manifest.digest)
    table = read(path, key=key, most=WHOLE_BYTES)
    names = table.feature_names, table.row_names
    parts = parts_of(table, negative=negative, dtype=dtype)
    return Opened(parts, path, table.format, table.key, _bytes(path), lambda: names)


def _bytes(path: Path) -> int:
    return sum(file.stat().st_size for file in path.rglob("*")) if path.is_dir() else path.stat().st_size


def _range(piece: slice) -> range:
    return range(piece.start, piece.stop)
