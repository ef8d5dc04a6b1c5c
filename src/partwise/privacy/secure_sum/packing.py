"""From named arrays to the residues that are masked and added, and back.

[ words of all arrays that have a range, by name | wide residues of those that have none, by name ]    as bytes
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from partwise.currency import Arrays, Field
from partwise.privacy.lattice import Lattice, Wide

Bytes = NDArray[np.uint8]
WIDE = Wide()


@final
@dataclass(frozen=True)
class Packing:
    """What each of `parties` may say (`fields`), and how large its numbers may be (`reach`, inf: of any size)."""

    fields: Mapping[str, Field]
    reach: Mapping[str, float]
    parties: int
    bits: int = 64

    @cached_property
    def lattices(self) -> dict[str, Lattice]:
        """The lattice of each array that has a range."""
        finite = {name: reach for name, reach in sorted(self.reach.items()) if math.isfinite(reach)}
        return {name: Lattice.for_sum(reach, self.parties, self.bits) for name, reach in finite.items()}

    @cached_property
    def wide(self) -> list[str]:
        """The arrays that have none."""
        return sorted(set(self.fields) - set(self.lattices))

    @cached_property
    def cut(self) -> int:
        """Bytes of words, before the wide residues."""
        return sum(math.prod(self.fields[name].shape) for name in self.lattices) * (self.bits // 8)

    @cached_property
    def size(self) -> int:
        """Bytes of the whole."""
        return self.cut + 8 * WIDE.words * sum(math.prod(self.fields[name].shape) for name in self.wide)

    def pack(self, arrays: Arrays) -> Bytes:
        """Arrays as bytes; a number out of range is refused by a sentence."""
        parts = [lattice.encode(arrays[name]).tobytes() for name, lattice in self.lattices.items()]
        for name in self.wide:
            parts += [WIDE.encode(float(value)).to_bytes(8 * WIDE.words, "little") for value in arrays[name].ravel()]
        return np.frombuffer(b"".join(parts), np.uint8).copy()

    def add(self, into: Bytes, other: Bytes, sign: int = 1) -> None:
        """into ← into ± other, residue by residue."""
        word: Any = np.dtype(f"u{self.bits // 8}")
        mine, theirs = into[: self.cut].view(word), other[: self.cut].view(word)
        (np.add if sign > 0 else np.subtract)(mine, theirs, out=mine)
        width = 8 * WIDE.words
        for at in range(self.cut, self.size, width):
            a, b = (int.from_bytes(part[at : at + width].tobytes(), "little") for part in (into, other))
            moved = ((a + sign * b) % WIDE.modulus).to_bytes(width, "little")
            into[at : at + width] = np.frombuffer(moved, np.uint8)

    def unpack(self, packed: Bytes) -> dict[str, NDArray[Any]]:
        """Bytes as arrays of float64."""
        out, at = {}, 0
        for name, lattice in self.lattices.items():
            shape = self.fields[name].shape
            stop = at + math.prod(shape) * (self.bits // 8)
            out[name] = lattice.decode(packed[at:stop].view(lattice.word)).reshape(shape)
            at = stop
        for name in self.wide:
            shape = self.fields[name].shape
            stop = at + 8 * WIDE.words * math.prod(shape)
            rows = packed[at:stop].reshape(-1, 8 * WIDE.words)
            out[name] = np.array([WIDE.decode(int.from_bytes(row.tobytes(), "little")) for row in rows]).reshape(shape)
            at = stop
        return out
