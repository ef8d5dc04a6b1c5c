"""X (n, m) as a start sees it: products with factors of which this rank holds its parts. One machine is one rank.

layout    of H (k, m) a rank holds    F Xᵀ, from F (c, m) to (c, n), and F X mirrored
rows      all                         with its rows;  F X is summed over the ranks
columns   its columns                 summed over the ranks;  F X with its columns
both      its columns                 F is gathered, by panels of components no larger than the rank's own X
grid      some of its block's         F is gathered along the grid's column, the product summed and scattered along its row
shared    all                         with its block, summed along the grid's row, gathered along its column
whole     all                         with all of X
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import Any, final

import numpy as np

from partwise.comm import Grid, Side, sum_numbers
from partwise.currency import Array, NormalEq
from partwise.data import Entries, Layout, Shard
from partwise.errors import OptionError
from partwise.protocols import Comm, Matrix

Product = Callable[[Array], Array]


@final
@dataclass(frozen=True, eq=False)
class Products:
    """X over ranks, none of which need hold it."""

    dtype: np.dtype[Any]
    traceable: bool  # complete
    rows: Side
    columns: Side
    forward: Product  # F Xᵀ
    backward: Product  # F X
    pair: Callable[[Array, Array], NormalEq]  # (H, Wt) → the pair of W
    pair_of_H: Callable[[Array, Array], NormalEq]
    mean: Callable[[], float]

    @property
    def shape(self) -> tuple[int, int]:
        """(n, m) of all of X."""
        return self.rows.size, self.columns.size

    @property
    def T(self) -> Products:
        """Xᵀ."""
        return replace(
            self, rows=self.columns, columns=self.rows, forward=self.backward, backward=self.forward,
            pair=self.pair_of_H, pair_of_H=self.pair,
        )  # fmt: skip

    def times(self, F: Array) -> Array:
        """(c, rows.width): F Xᵀ of F (c, columns.width)."""
        return self.forward(F)


def alone(X: Matrix) -> Products:
    """X on one machine."""
    rows, columns = (Side.whole(size) for size in X.shape)
    turned = X.T
    return Products(X.dtype, X.traceable, rows, columns, X.times, turned.times, X.normal_eq, turned.normal_eq, X.mean)


def over(shard: Shard, comm: Comm) -> Products:
    """X over the ranks of `comm`, each with its shard. A collective call."""
    cut, own = shard.layout, shard.own
    if not own.traceable:
        raise OptionError("Over several ranks X must be complete: this start cannot do with missing entries.")
    rows, columns = sides(cut, comm)
    forward, backward = PRODUCTS[cut.kind](shard, comm, rows, columns)

    def mean() -> float:
        total, count = own.total()
        total, count = (total, count) if cut.kind == "whole" else sum_numbers(comm, total, count)
        return total / max(count, 1)

    def pair(other: Array, F: Array) -> NormalEq:
        return NormalEq(columns.sum(other @ other.T).astype(F.dtype), forward(other))

    def pair_of_H(other: Array, F: Array) -> NormalEq:
        return NormalEq(rows.sum(other @ other.T).astype(F.dtype), backward(other))

    return Products(own.dtype, True, rows, columns, forward, backward, pair, pair_of_H, mean)


def sides(cut: Layout, comm: Comm) -> tuple[Side, Side]:
    """How W and H are cut up among the ranks."""
    (n, m), everyone = cut.shape, range(cut.ranks)
    rows = Side.cut(n, [cut.part_W(r) for r in everyone], comm) if cut.spread_W else Side.whole(n)
    return rows, Side.cut(m, [cut.part_H(r) for r in everyone], comm) if cut.spread_H else Side.whole(m)


def _rows(shard: Shard, comm: Comm, *_: Side) -> tuple[Product, Product]:
    held = shard.own
    return held.times, lambda F: comm.sum(held.T.times(F))


def _columns(shard: Shard, comm: Comm, *_: Side) -> tuple[Product, Product]:
    held = shard.own
    return lambda F: comm.sum(held.times(F)), held.T.times


def _both(shard: Shard, comm: Comm, rows: Side, columns: Side) -> tuple[Product, Product]:
    assert shard.rows is not None
    assert shard.columns is not None
    return partial(_by_panels, shard.rows, columns), partial(_by_panels, shard.columns.T, rows)


def _by_panels(held: Entries, other: Side, F: Array) -> Array:
    """F is gathered some components at a time, as many as the rank with the least of X has room for beside it."""
    return by_panels(held, other, F, int(other.each(held.nnz).min()) // max(other.size, 1))


def by_panels(held: Entries, other: Side, F: Array, at_once: int) -> Array:
    """(c, n_p): F Xᵀ for the rows of X held here and F (c, m) gathered so many components at a time, at least one."""
    out, at_once = np.empty((len(F), held.shape[0]), F.dtype), max(1, at_once)
    for first in range(0, len(F), at_once):
        out[first : first + at_once] = held.times(other.gather(F[first : first + at_once]))
    return out


def _grid(shard: Shard, comm: Comm, rows: Side, columns: Side) -> tuple[Product, Product]:
    cut, grid = shard.layout, Grid.of(comm, shard.layout.grid)
    (pr, pc), (i, j) = cut.grid, cut.place(shard.rank)
    in_row = [rows.widths[i * pc + other] for other in range(pc)]
    in_column = [columns.widths[other * pc + j] for other in range(pr)]
    return (
        lambda F: grid.row.sum_scatter(shard.own.times(grid.column.gather(F, in_column)), in_row),
        lambda F: grid.column.sum_scatter(shard.own.T.times(grid.row.gather(F, in_row)), in_column),
    )


def _shared(shard: Shard, comm: Comm, *_: Side) -> tuple[Product, Product]:
    cut, grid = shard.layout, Grid.of(comm, shard.layout.grid)
    of_row, of_column = cut.block(shard.rank) or (slice(0), slice(0))
    rows, columns = ([b - a for a, b in pairwise(c)] for c in (cut.row_cuts, cut.column_cuts))
    return (
        lambda F: grid.column.gather(grid.row.sum(shard.own.times(np.ascontiguousarray(F[:, of_column]))), rows),
        lambda F: grid.row.gather(grid.column.sum(shard.own.T.times(np.ascontiguousarray(F[:, of_row]))), columns),
    )


def _whole(shard: Shard, *_: Any) -> tuple[Product, Product]:
    return shard.own.times, shard.own.T.times


PRODUCTS: dict[str, Callable[[Shard, Comm, Side, Side], tuple[Product, Product]]] = {
    "rows": _rows, "columns": _columns, "both": _both, "grid": _grid, "shared": _shared, "whole": _whole,
}  # fmt: skip
