"""Block principal pivoting: the exact nonnegative least-squares solution (Kim & Park 2011)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from partwise.currency import Array, NormalEq
from partwise.kernels.bpp import bpp
from partwise.updates.memoryless import Memoryless


@final
@dataclass(frozen=True)
class Bpp(Memoryless):
    """argmin_{F ≥ 0} ½⟨F, gram F⟩ − ⟨F, cross⟩, starting from the passive sets of the F at hand."""

    def solve(self, F: Array, eq: NormalEq) -> Array:
        return bpp(F, eq.gram, eq.cross)
