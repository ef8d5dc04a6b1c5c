"""X of which each process of an MPI job brings its own rows, instead of a file that all can read."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate
from typing import Any, final

import numpy as np
import scipy.sparse as sp

from partwise.comm import sum_numbers
from partwise.data import Dense, Entries, Layout, Shard, Sparse, as_matrix, layout
from partwise.data.ownership import Kind
from partwise.data.validate import working_dtype
from partwise.drivers.agreement import agree, all_or_none
from partwise.errors import DataError, OptionError
from partwise.protocols import Comm


@final
@dataclass(frozen=True, eq=False)
class OwnRows:
    """The rows of this rank, and how many the others have."""

    held: Entries
    heights: tuple[int, ...]  # by rank; 0 is allowed
    nnz: int  # of all of X

    @property
    def shape(self) -> tuple[int, int]:
        """(n, m) of all of X."""
        return sum(self.heights), self.held.shape[1]

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.held.dtype

    def cut(self, name: str, kind: Kind, grid: tuple[int, int] | None) -> Layout:
        """As the rows lie already; a method for which they would have to move is refused."""
        ranks = len(self.heights)
        if kind not in ("rows", "grid", "shared") or grid not in (None, (ranks, 1)):
            raise OptionError(
                f"algorithm={name!r}{'' if grid is None else f' on a grid of {grid[0]} × {grid[1]}'} needs more of X than each "
                "rank's own rows: give the path of a file or of shards that all ranks can read, or use algorithm='did'."
            )
        cuts = (0, *accumulate(self.heights))
        return layout(kind, self.shape, ranks, grid=(ranks, 1), row_cuts=cuts)

    def shard(self, cut: Layout, rank: int) -> Shard:
        """The rows again."""
        return Shard(cut, rank, rows=self.held) if cut.kind == "rows" else Shard(cut, rank, block=self.held)


def own_rows(X: Any, comm: Comm, *, negative: str = "error", dtype: Any = None) -> OwnRows:
    """Check the rows that this rank brings, and that they fit the others'. A collective call."""
    with all_or_none(comm):
        held = _entries(X, negative, dtype)
    heights = comm.gather(np.array([held.shape[0]], np.int64), [1] * comm.size)
    if not heights.any():
        raise DataError("No rank has a row of X. Expected at least one rank with some.")
    agree(comm, {"the number of columns of X": held.shape[1], "the dtype of X": held.dtype.name,
                 "X": "sparse" if isinstance(held, Sparse) else "dense"})  # fmt: skip
    return OwnRows(held, tuple(int(height) for height in heights), int(sum_numbers(comm, held.nnz)[0]))


def _entries(X: Any, negative: str, dtype: Any) -> Entries:
    """An empty part is allowed here, as others may have rows."""
    if getattr(X, "ndim", None) == 2 and X.shape[0] == 0 and X.shape[1] > 0:
        working = working_dtype(np.dtype(X.dtype), dtype)
        return Sparse(sp.csr_array(X.shape, dtype=working)) if sp.issparse(X) else Dense(np.empty(X.shape, working))
    return as_matrix(X, negative=negative, dtype=dtype)  # type: ignore[arg-type]
