"""A lattice of fixed-point numbers modulo 2^b: sums on it are exact, whatever their order, and masks on it hide perfectly.

    v  →  z = round(v / step), a whole number  →  z mod 2^b, one unsigned word

`step` is a power of two, so that v / step is exact and rounding is the only error: at most step/2 for each number that is
added. Whoever may add how much is settled beforehand (`Lattice.for_sum`): a sum of so many numbers, each at most `reach` in
size, always fits, and a number beyond `reach` is refused. Nothing is ever clipped.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from partwise.currency import Array
from partwise.errors import OptionError, RunError

WORDS = {32: np.dtype(np.uint32), 64: np.dtype(np.uint64)}


@final
@dataclass(frozen=True)
class Lattice:
    """step · ℤ modulo 2^bits, and the largest number that one contributor may add."""

    step: float
    reach: float
    bits: int = 64

    @classmethod
    def for_sum(cls, reach: float, parties: int, bits: int = 64, margin: int = 0) -> Lattice:
        """The finest lattice on which `parties` numbers of size at most `reach`, and `margin` steps more, can be added."""
        if bits not in WORDS:
            raise OptionError(f"bits={bits!r}; expected one of: {', '.join(map(str, WORDS))}.")
        if not (math.isfinite(reach) and reach >= 0 and parties >= 1):
            raise OptionError(
                f"A lattice for {parties} numbers up to {reach!r} cannot be had; both must be finite, parties ≥ 1."
            )
        room = 2 ** (bits - 1) - parties - margin  # each number may be rounded up by one step
        if room < parties:
            raise OptionError(f"{bits} bits cannot hold the sum of {parties} numbers with {margin} steps of margin.")
        least = max(parties * reach / room * (1 + 1e-9), np.finfo(np.float64).tiny)  # above rounding of this very line
        return cls(2.0 ** math.ceil(math.log2(least)), float(reach), bits)

    @property
    def word(self) -> np.dtype[Any]:
        """The unsigned type of a residue."""
        return WORDS[self.bits]

    def snap(self, values: Array) -> NDArray[np.int64]:
        """The whole numbers nearest to values / step, after checking that the values may be added."""
        values = np.asarray(values, np.float64)
        size = float(np.abs(values).max(initial=0.0))
        if not size <= self.reach:  # NaN too
            raise RunError(f"A number of size {size:g} is to be summed, but the range agreed on ends at {self.reach:g}; nothing was "
                           "sent. Agree on a larger range, or look for values that should not be there.")  # fmt: skip
        return np.rint(values / self.step).astype(np.int64)

    def residues(self, whole: NDArray[np.int64]) -> NDArray[Any]:
        """Whole numbers modulo 2^bits."""
        return whole.astype(np.int64, copy=False).view(np.uint64).astype(self.word, copy=False)

    def encode(self, values: Array) -> NDArray[Any]:
        """The residues of values, snapped."""
        return self.residues(self.snap(values))

    def whole(self, residues: NDArray[Any]) -> NDArray[np.int64]:
        """The whole numbers in [−2^(bits−1), 2^(bits−1)) that have these residues."""
        signed = np.int32 if self.bits == 32 else np.int64
        return np.ascontiguousarray(residues, self.word).view(signed).astype(np.int64)

    def decode(self, residues: NDArray[Any]) -> Array:
        """The values that residues stand for."""
        return self.whole(residues).astype(np.float64) * self.step


@final
@dataclass(frozen=True)
class Wide:
    """All of float64, exactly: whole numbers of 2^-1074 modulo 2^2176. For the few numbers whose size nobody knows yet."""

    words: int = 34  # of 64 bits: from the smallest denormal to 2^20 times the largest float
    unit: int = 1074

    @property
    def modulus(self) -> int:
        return 1 << (64 * self.words)

    def encode(self, value: float) -> int:
        """The residue of a finite value."""
        if not math.isfinite(value):
            raise RunError(f"The number {value} is to be summed; expected a finite one. Nothing was sent.")
        above, below = value.as_integer_ratio()
        return above * ((1 << self.unit) // below) % self.modulus

    def decode(self, residue: int) -> float:
        """The value that a residue stands for, rounded once."""
        signed = residue - self.modulus if residue >= self.modulus // 2 else residue
        return signed / (1 << self.unit)
