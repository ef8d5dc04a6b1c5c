"""Parts of X: a directory from which rows, columns and blocks are read alone, how it is written, and how a rank reads its own part.

`write_shards` makes the directory, `open_parts` opens it, or another file, by parts.
"""

from partwise.data.shards.manifest import Manifest, is_shards, read_manifest
from partwise.data.shards.parts import Parts, open_parts
from partwise.data.shards.write import MEMORY, write_shards

__all__ = ["MEMORY", "Manifest", "Parts", "is_shards", "open_parts", "read_manifest", "write_shards"]
