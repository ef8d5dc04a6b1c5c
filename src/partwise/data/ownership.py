"""Who owns what of X (n, m), W and H among P ranks: arithmetic, apart from all moving of data.

kind     a rank reads of X              W                H                   methods
rows     its rows                       its rows         all                 DID, DBCD, DADMM, sketched
columns  its columns                    all              its columns         DID and sketched, where X is wide
both     its rows, and its columns      its rows         its columns         DSANLS
grid     one block                      a part of the    a part of the       HPC-ANLS
                                        block's rows     block's columns
shared   one block                      all              all                 D-HALS
whole    all                            all              all                 Maxios
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, final, get_args

from partwise.errors import OptionError

Kind = Literal["rows", "columns", "both", "grid", "shared", "whole"]


def even_cuts(size: int, parts: int) -> tuple[int, ...]:
    """0 = c₀ ≤ c₁ ≤ … ≤ c_parts = size: parts differ by one at most, the larger ones first; some are empty if parts > size."""
    each, more = divmod(size, parts)
    return tuple(part * each + min(part, more) for part in range(parts + 1))


@final
@dataclass(frozen=True)
class Layout:
    """How X (n, m) is cut: `row_cuts` and `column_cuts` are those of the pieces that ranks read."""

    kind: Kind
    shape: tuple[int, int]
    ranks: int
    row_cuts: tuple[int, ...]
    column_cuts: tuple[int, ...]

    @property
    def grid(self) -> tuple[int, int]:
        """(pr, pc): how many pieces along either side; (P, 1) for "rows"."""
        return len(self.row_cuts) - 1, len(self.column_cuts) - 1

    @property
    def T(self) -> Layout:
        """How Xᵀ is cut, where X is by its rows, its columns, or both."""
        kind: Kind = {"rows": "columns", "columns": "rows"}.get(self.kind, self.kind)  # type: ignore[assignment]
        n, m = self.shape
        return Layout(kind, (m, n), self.ranks, self.column_cuts, self.row_cuts)

    def place(self, rank: int) -> tuple[int, int]:
        """(i, j): where on the grid a rank sits."""
        return divmod(rank, self.grid[1])

    def rows(self, rank: int) -> slice | None:
        """The rows of X that this rank reads whole; None: none."""
        return _piece(self.row_cuts, rank) if self.kind in ("rows", "both") else None

    def columns(self, rank: int) -> slice | None:
        """The columns of X that this rank reads whole; None: none."""
        return _piece(self.column_cuts, rank) if self.kind in ("both", "columns") else None

    def block(self, rank: int) -> tuple[slice, slice] | None:
        """The block of X that this rank reads; None: none."""
        if self.kind in ("rows", "columns", "both"):
            return None
        i, j = self.place(rank) if self.kind != "whole" else (0, 0)
        return _piece(self.row_cuts, i), _piece(self.column_cuts, j)

    def part_W(self, rank: int) -> slice:
        """The rows of W that this rank holds."""
        if self.kind in ("rows", "both"):
            return _piece(self.row_cuts, rank)
        if self.kind == "grid":
            i, j = self.place(rank)
            return _part(_piece(self.row_cuts, i), self.grid[1], j)
        return slice(0, self.shape[0])

    def part_H(self, rank: int) -> slice:
        """The columns of H that this rank holds."""
        if self.kind in ("both", "columns"):
            return _piece(self.column_cuts, rank)
        if self.kind == "grid":
            i, j = self.place(rank)
            return _part(_piece(self.column_cuts, j), self.grid[0], i)
        return slice(0, self.shape[1])

    @property
    def spread_W(self) -> bool:
        """Whether W is cut up; if not, every rank holds all of it."""
        return self.kind in ("rows", "both", "grid")

    @property
    def spread_H(self) -> bool:
        """Whether H is cut up."""
        return self.kind in ("both", "columns", "grid")


def layout(
    kind: Kind, shape: tuple[int, int], ranks: int, *, grid: tuple[int, int] | None = None,
    row_cuts: Sequence[int] | None = None, column_cuts: Sequence[int] | None = None,
) -> Layout:  # fmt: skip
    """The layout of a kind; cuts of one's own may be uneven. `grid` (pr, pc) is for "grid" and "shared"."""
    if kind not in get_args(Kind):
        raise OptionError(f"layout {kind!r} does not exist; choose one of {', '.join(get_args(Kind))}.")
    fixed = {"rows": (ranks, 1), "columns": (1, ranks), "both": (ranks, ranks), "whole": (1, 1)}
    pr, pc = fixed.get(kind, grid or (ranks, 1))
    if kind in ("grid", "shared") and pr * pc != ranks:
        raise OptionError(f"A grid of {pr} × {pc} has {pr * pc} places, but there are {ranks} ranks.")
    rows = even_cuts(shape[0], pr) if row_cuts is None else tuple(row_cuts)
    columns = even_cuts(shape[1], pc) if column_cuts is None else tuple(column_cuts)
    for cuts, size, parts, side in ((rows, shape[0], pr, "rows"), (columns, shape[1], pc, "columns")):
        if len(cuts) != parts + 1 or cuts[0] != 0 or cuts[-1] != size or any(a > b for a, b in pairwise(cuts)):
            raise OptionError(f"{side} cut at {cuts}; expected {parts + 1} rising numbers from 0 to {size}.")
    return Layout(kind, shape, ranks, rows, columns)


def best_grid(shape: tuple[int, int], ranks: int) -> tuple[int, int]:
    """(pr, pc) with the fewest numbers to be gathered and scattered by a rank: blocks as near to squares as ranks allow.

    H_j is gathered among the pr ranks that hold its columns, W_i among the pc that hold its rows.
    """

    def moved(grid: tuple[int, int]) -> tuple[float, int]:
        pr, pc = grid
        rows, columns = -(-shape[0] // pr), -(-shape[1] // pc)
        return columns * (pr - 1) / pr + rows * (pc - 1) / pc, pc

    return min(((pr, ranks // pr) for pr in range(1, ranks + 1) if ranks % pr == 0), key=moved)


def widths(pieces: Sequence[slice]) -> list[int]:
    """How wide the pieces are."""
    return [piece.stop - piece.start for piece in pieces]


def _piece(cuts: tuple[int, ...], number: int) -> slice:
    return slice(cuts[number], cuts[number + 1])


def _part(piece: slice, parts: int, number: int) -> slice:
    """One of so many even parts of a piece."""
    cuts = even_cuts(piece.stop - piece.start, parts)
    return slice(piece.start + cuts[number], piece.start + cuts[number + 1])
