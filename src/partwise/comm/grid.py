"""Ranks as a grid of pr rows and pc columns: rank r sits at (r // pc, r % pc)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from partwise.errors import OptionError
from partwise.protocols import Comm


@final
@dataclass(frozen=True, eq=False)
class Grid:
    """All ranks, those of this rank's row of the grid, and those of its column."""

    comm: Comm
    row: Comm  # pc ranks, which hold the same rows of X
    column: Comm  # pr ranks, which hold the same columns of X

    @classmethod
    def of(cls, comm: Comm, shape: tuple[int, int]) -> Grid:
        """Split a communicator; a collective call."""
        pr, pc = shape
        if pr * pc != comm.size:
            raise OptionError(f"A grid of {pr} × {pc} has {pr * pc} places, but there are {comm.size} ranks.")
        i, j = divmod(comm.rank, pc)
        return cls(comm, comm.split(i, j), comm.split(j, i))


def grids(ranks: int) -> list[tuple[int, int]]:
    """Every (pr, pc) with pr · pc = ranks."""
    return [(pr, ranks // pr) for pr in range(1, ranks + 1) if ranks % pr == 0]
