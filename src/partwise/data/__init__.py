"""The only room that touches X: dense, sparse, streamed from disk, with missing entries, with weights.

`as_matrix` is the door: what passes it is a `Matrix` (see `protocols`) that need not be checked again.
"""

from partwise.data.dense import Dense
from partwise.data.entries import Entries
from partwise.data.low_rank import LowRank
from partwise.data.masked import MaskedDense, MaskedSparse
from partwise.data.ownership import Layout, layout
from partwise.data.shard import Shard, shard_of
from partwise.data.sparse import Sparse
from partwise.data.streamed import Streamed
from partwise.data.validate import as_matrix
from partwise.data.weighted import Weighted

__all__ = [
    "Dense", "Entries", "Layout", "LowRank", "MaskedDense", "MaskedSparse", "Shard", "Sparse", "Streamed", "Weighted", "as_matrix",
    "layout", "shard_of",
]  # fmt: skip
