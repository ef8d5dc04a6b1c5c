"""HALS with entries bounded above as well."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from partwise.currency import Array, NormalEq
from partwise.updates.hals import Hals
from partwise.updates.memoryless import Memoryless


@final
@dataclass(frozen=True)
class BoxHals(Memoryless):
    """One sweep of f_j ← min(max(0, f_j + (cross_j − gram_j F) / gram_jj), most)."""

    most: float

    def solve(self, F: Array, eq: NormalEq) -> Array:
        moved = Hals().solve(F, eq)
        if moved.max(initial=0) <= self.most:  # a sweep sets every entry once: if none ends above, none was cut
            return moved
        moved, most = np.minimum(F, F.dtype.type(self.most)), F.dtype.type(self.most)
        for j in range(len(F)):
            if eq.gram[j, j] >= np.finfo(F.dtype).tiny:
                step = (eq.cross[j] - eq.gram[j] @ moved) / eq.gram[j, j]
                moved[j] = np.clip(moved[j] + step, 0, most)
        return moved
