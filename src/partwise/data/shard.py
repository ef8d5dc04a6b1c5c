"""What one rank holds of X: only what its layout gives it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np

from partwise.data.entries import Entries
from partwise.data.ownership import Layout
from partwise.errors import DataError


@final
@dataclass(frozen=True, eq=False)
class Shard:
    """A rank's share of X (n, m), cut by a layout. What the layout does not give is None."""

    layout: Layout
    rank: int
    rows: Entries | None = None  # (n_p, m)
    columns: Entries | None = None  # (n, m_p)
    block: Entries | None = None  # (n_i, m_j)

    def __post_init__(self) -> None:
        n, m = self.layout.shape
        rows, columns, block = self.layout.rows(self.rank), self.layout.columns(self.rank), self.layout.block(self.rank)
        _check(self.rank, "rows", self.rows, None if rows is None else (rows.stop - rows.start, m))
        _check(self.rank, "columns", self.columns, None if columns is None else (n, columns.stop - columns.start))
        sizes = None if block is None else (block[0].stop - block[0].start, block[1].stop - block[1].start)
        _check(self.rank, "block", self.block, sizes)

    @property
    def shape(self) -> tuple[int, int]:
        """(n, m): of all of X."""
        return self.layout.shape

    @property
    def part_W(self) -> slice:
        """The rows of W that this rank holds."""
        return self.layout.part_W(self.rank)

    @property
    def part_H(self) -> slice:
        """The columns of H that this rank holds."""
        return self.layout.part_H(self.rank)

    @property
    def own(self) -> Entries:
        """Entries that no other rank counts as its own, but for "whole": its rows, its block, or its columns."""
        held = self.rows if self.rows is not None else self.columns if self.block is None else self.block
        assert held is not None
        return held

    @property
    def T(self) -> Shard:
        """The same of Xᵀ, where X is cut by its rows, its columns, or both."""
        rows, columns = (None if held is None else held.T for held in (self.columns, self.rows))
        return Shard(self.layout.T, self.rank, rows, columns)

    @property
    def dtype(self) -> np.dtype[Any]:
        """Of the entries."""
        return self.own.dtype


def shard_of(X: Entries, layout: Layout, rank: int) -> Shard:
    """A rank's share of an X that is in memory: dense parts are views."""
    rows, columns, block = layout.rows(rank), layout.columns(rank), layout.block(rank)
    return Shard(
        layout,
        rank,
        None if rows is None else X.rows(rows),
        None if columns is None else X.T.rows(columns).T,
        None if block is None else X.rows(block[0]).T.rows(block[1]).T,
    )


def _check(rank: int, what: str, held: Entries | None, shape: tuple[int, int] | None) -> None:
    """What is held must be what the layout gives."""
    if (None if held is None else held.shape) != shape:
        seen = "nothing" if held is None else f"shape {held.shape}"
        raise DataError(
            f"The {what} that rank {rank} holds have {seen}; by its layout it should be {shape or 'nothing'}."
        )
