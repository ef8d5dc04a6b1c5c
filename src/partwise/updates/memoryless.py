"""Updates that remember nothing between calls state only how they solve."""

from __future__ import annotations

from abc import ABC, abstractmethod

from partwise.currency import Array, Carry, NormalEq


class Memoryless(ABC):
    """An update without a carry."""

    def init(self, F: Array) -> Carry:
        return ()

    def __call__(self, F: Array, eq: NormalEq, carry: Carry) -> tuple[Array, Carry]:
        return self.solve(F, eq), carry

    @abstractmethod
    def solve(self, F: Array, eq: NormalEq) -> Array:
        """A new F (k, r)."""
