"""A directory that `partwise shard` made, as a matrix like any other: dense as a memory map, sparse in memory."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from partwise.data.readers.structure import compressed
from partwise.data.readers.table import Contents
from partwise.data.shards.manifest import DENSE, read_manifest


def read_shards(path: Path) -> Contents:
    """X of the rows' half of the directory; the columns' half is for ranks."""
    manifest = read_manifest(path)
    features, samples = manifest.names()
    (n, m), stored = manifest.shape, (manifest.stored,)
    if manifest.layout == DENSE:
        held = manifest.array("X.npy", (n, m), manifest.dtype)
        return Contents(np.memmap(held.path, held.dtype, "r", held.header_size, held.shape), features, samples)
    data = manifest.array("csr.data.npy", stored, manifest.dtype).read(0, *stored)
    indices = manifest.array("csr.indices.npy", stored, manifest.index_dtype).read(0, *stored)
    indptr = manifest.array("csr.indptr.npy", (n + 1,), np.dtype(np.int64)).read(0, n + 1)
    if max(*stored, m) <= np.iinfo(np.int32).max:
        indptr = indptr.astype(np.int32)
    X = compressed("csr", data, indices, indptr, np.array([n, m]), path)
    return Contents(X, features, samples)
