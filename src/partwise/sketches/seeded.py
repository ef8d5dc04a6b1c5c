"""What the four sketches share: S is named by (seed, purpose, t), and its rows are drawn by blocks."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partwise.currency import Array
from partwise.randomness import Purpose, generator

WHOLE = 2**63  # the block that names what concerns all rows of S at once; no row lies in it


@dataclass(frozen=True)
class Seeded(ABC):
    """A random S (m, d) with E[SSᵀ] = I. Nothing is drawn before `apply`, and then only the rows that it meets."""

    m: int
    d: int
    seed: int
    t: int
    purpose: Purpose

    @property
    def shape(self) -> tuple[int, int]:
        """(m, d)."""
        return self.m, self.d

    @abstractmethod
    def apply(self, A: Any, start: int = 0) -> Array:
        """(r, d): A S[start : start + width], for a dense or scipy-sparse A (r, width)."""

    def lift(self, F: Array, start: int, width: int, rows: int) -> tuple[NDArray[np.intp] | None, Array] | None:
        """F Sᵀ for F (r, d), in columns start … start + width: (which of them are not zero, or None for all; these columns).

        None where X S is sooner made than that for an X of so many rows: where a row of S has many entries, or X has few rows.
        """
        return None

    def _generator(self, block: int) -> np.random.Generator:
        return generator(self.seed, self.purpose, self.t, block)
