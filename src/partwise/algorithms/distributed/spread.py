"""X (n, m) spread over ranks, as one of them sees it: its shard, and whom to ask for the rest.

It is what the methods of this room are given as their data. On many ranks every call of `sq_norm` (the first), `together` and
`sq_error` is a collective one: all ranks make it, in the same order.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from functools import reduce
from itertools import accumulate
from typing import Any, cast, final

import numpy as np

from partwise.algorithms.distributed.products import sides
from partwise.comm import Grid, Side, sum_numbers, sum_together
from partwise.currency import Array, NormalEq
from partwise.data import Layout, Shard, layout
from partwise.data.entries import CANCELLED, Entries
from partwise.kernels.sums import dot64
from partwise.kernels.threads import side_by_side
from partwise.protocols import Comm, Matrix


@final
@dataclass(frozen=True, eq=False)
class Spread:
    """What this rank holds, and the ranks that hold the rest. Between ranks every number goes in X's dtype, sums of few in float64."""

    shard: Shard
    comm: Comm
    _once: dict[str, Any] = field(default_factory=dict)  # (not cached properties: up to Python 3.11 these share a lock)

    @property
    def layout(self) -> Layout:
        """How X is cut."""
        return self.shard.layout

    @property
    def T(self) -> Spread:
        """Xᵀ, where X is cut by its rows, its columns, or both."""
        if "T" not in self._once:
            self._once["T"] = Spread(self.shard.T, self.comm)
        return self._once["T"]

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.shard.dtype

    @property
    def grid(self) -> Grid:
        """The ranks of this one's row and column of the grid. The first call splits the communicator."""
        if "grid" not in self._once:
            self._once["grid"] = Grid.of(self.comm, self.layout.grid)
        return self._once["grid"]

    @property
    def sides(self) -> tuple[Side, Side]:
        """How W and how H is cut up among the ranks."""
        if "sides" not in self._once:
            self._once["sides"] = sides(self.layout, self.comm)
        return self._once["sides"]

    @property
    def shape(self) -> tuple[int, int]:
        """(n, m) of all of X."""
        return self.layout.shape

    @property
    def nnz(self) -> int:
        """How many entries a product with all of X touches. The first call sends one number."""
        if "nnz" not in self._once:
            self._once["nnz"] = round(self.total(self.here.nnz))
        return self._once["nnz"]

    @property
    def here(self) -> Entries:
        """The rows, or the block, that this rank holds."""
        return self.shard.own

    @property
    def first(self) -> int:
        """The number of the first of its rows."""
        return self.shard.part_W.start

    def holding(self, rows: Matrix) -> Spread:
        """X of other rows: each rank has such as these. Two numbers of every rank are gathered."""
        said = self.comm.gather(np.array([rows.shape[0], rows.nnz], np.float64), [2] * self.comm.size).astype(int)
        cuts = (0, *accumulate(said[::2].tolist()))
        cut = layout("rows", (cuts[-1], self.shape[1]), self.comm.size, row_cuts=cuts)
        return Spread(Shard(cut, self.comm.rank, cast(Entries, rows)), self.comm, {"nnz": int(said[1::2].sum())})

    @property
    def traceable(self) -> bool:
        """Shards are complete: what is missing has no place in a file of shards."""
        return True

    def sq_norm(self) -> float:
        """‖X‖² of all of X. The first call sends one number."""
        if "sq_norm" not in self._once:
            self._once["sq_norm"] = self.total(self.here.sq_norm())
        return self._once["sq_norm"]

    def total(self, of_own: float) -> float:
        """The sum over X of what each rank made of the entries that it holds; they are counted once where all hold all of them."""
        return of_own if self.layout.kind == "whole" else sum_numbers(self.comm, of_own)[0]

    def together(self, eq: NormalEq, *numbers: float | None) -> tuple[NormalEq, tuple[float | None, ...]]:
        """Of the pairs and numbers of all ranks, the sums, by one all-reduce of (m + k) k numbers and these few; None: nobody's."""
        said = np.array([number for number in numbers if number is not None], eq.cross.dtype)
        if self.comm.size == 1:
            return eq, numbers
        cross, gram, sums = sum_together(self.comm, eq.cross, eq.gram, said)
        heard = iter(sums)
        return NormalEq(gram, cross), tuple(None if number is None else float(next(heard)) for number in numbers)

    def total_gram(self, F: Array, *numbers: float | None) -> tuple[Array, tuple[float | None, ...]]:
        """(k, k): F Fᵀ of the parts of all ranks, and sums of a few numbers, by one all-reduce in float64."""
        said = np.array([number for number in numbers if number is not None])
        gram, sums = sum_together(self.comm, (F @ F.T).astype(np.float64), said)
        heard = iter(sums)
        return gram, tuple(None if number is None else float(next(heard)) for number in numbers)

    @property
    def places(self) -> tuple[slice, slice]:
        """(rows of X, columns of X) that are held here."""
        return self.layout.block(self.shard.rank) or (self.shard.part_W, slice(0, self.layout.shape[1]))

    def times(self, F: Array) -> Array:
        """(k, n_i): F X_ijᵀ, for F (k, m_j)."""
        out = np.empty((len(F), self.here.shape[0]), F.dtype)

        def serve(place: tuple[slice, Matrix]) -> None:
            rows, block = place
            out[:, rows] = block.times(F)

        deque(side_by_side(serve, self.here.blocks()), maxlen=0)
        return out

    def times_T(self, F: Array) -> Array:
        """(k, m_j): F X_ij, for F (k, n_i)."""
        if not F.shape[1]:
            return np.zeros((len(F), self.here.shape[1]), F.dtype)

        def serve(place: tuple[slice, Matrix]) -> Array:
            rows, block = place
            return block.T.times(np.ascontiguousarray(F[:, rows]))

        return reduce(np.add, side_by_side(serve, self.here.blocks()))

    def has_digits(self, error: float) -> bool:
        """Whether a squared error that the trace trick gave can be believed."""
        return error > CANCELLED[self.dtype] ** 2 * self.sq_norm()

    def sq_error(self, Wt: Array, H: Array, eq: NormalEq | None = None) -> float:
        """‖X − WH‖² for a whole H, and for the rows of W that this rank holds, from the pair of H for all of W.

        No message, as every rank has the pair; but where the pair has no digits left (see `CANCELLED`), and for eq = None, one number.
        """
        if eq is not None:
            error = self.sq_norm() - 2 * dot64(eq.cross, H) + dot64(eq.gram, H @ H.T)
            if self.has_digits(error):
                return error
        rows, columns = self.places
        first = self.shard.part_W.start
        mine = Wt[:, rows.start - first : rows.stop - first], H[:, columns]
        return self.total(2 * self.here.divergence(*map(np.ascontiguousarray, mine), beta=2))
