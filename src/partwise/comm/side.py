"""One side of X, and how its factor is cut up among ranks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from partwise.comm.own import OWN
from partwise.protocols import Comm


class Side(NamedTuple):
    """A factor F (k, size) whose columns are spread: this rank holds F[:, part]."""

    size: int
    part: slice
    widths: tuple[int, ...]  # of everybody's parts, by rank
    comm: Comm  # of those among whom F is cut up; OWN where everyone holds all of it

    @classmethod
    def whole(cls, size: int) -> Self:
        """All of it is here."""
        return cls(size, slice(0, size), (size,), OWN)

    @classmethod
    def cut(cls, size: int, parts: Sequence[slice], comm: Comm) -> Self:
        """Cut into one part for each rank of `comm`."""
        return cls(size, parts[comm.rank], tuple(part.stop - part.start for part in parts), comm)

    @property
    def width(self) -> int:
        """How many columns this rank holds."""
        return self.part.stop - self.part.start

    def gather(self, F: NDArray[Any]) -> NDArray[Any]:
        """(k, size): the whole factor, of everybody's parts."""
        return self.comm.gather(np.ascontiguousarray(F), self.widths)

    def sum(self, A: Any) -> NDArray[np.float64]:
        """The sum over the whole factor, in float64, of what everyone summed over the own part."""
        return self.comm.sum(np.asarray(A, np.float64))

    def each(self, value: float) -> NDArray[np.float64]:
        """(P,): a number of every rank that holds a part."""
        return self.comm.gather(np.array([value], np.float64), [1] * self.comm.size)

    def most(self, F: NDArray[Any]) -> float:
        """The largest entry of a factor ≥ 0."""
        return float(self.each(float(F.max(initial=0))).max())
