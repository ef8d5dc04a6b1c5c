"""Parts of X: a directory from which rows, columns and blocks are read alone, how it is written, and how a rank reads its own part.

`write_shards` makes the directory, `parts_of_shards` opens it by parts; `data.opening` opens it or any other file.
"""

import partwise.data.readers  # noqa: F401  (first: it reads manifests too, and whoever comes second finds the other half made)
from partwise.data.shards.manifest import Manifest, is_shards, read_manifest
from partwise.data.shards.parts import Parts, parts_of_shards
from partwise.data.shards.write import MEMORY, write_shards

__all__ = ["MEMORY", "Manifest", "Parts", "is_shards", "parts_of_shards", "read_manifest", "write_shards"]
