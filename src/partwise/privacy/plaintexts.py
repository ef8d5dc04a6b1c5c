"""What is said as plaintexts of Paillier's encryption: on the very lattices of the secure sum, so that both have the same sum to the bit.

    words          z_0 + z_1 2^b + z_2 2^2b + …      as many whole numbers of the lattice as a plaintext has room for
    wide numbers   z = Σ_j d_j 2^(Bj)                one plaintext for each d_j: they are longer than a key

The lattice is made so that sums of z stay below 2^(b−1) in size: digits never run into each other, and what is decrypted tells sums
only. Digits of wide numbers would tell what was carried from one to the next; so each party adds a random multiple of 2^B to one and
takes it from the next.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from partwise.currency import Arrays
from partwise.errors import OptionError, RunError
from partwise.privacy.secure_sum.packing import WIDE, Bytes, Packing
from partwise.privacy.secure_sum.shamir import Entropy

HIDDEN = 128  # bits of the randomness that hides what is carried


@final
@dataclass(frozen=True)
class Plaintexts:
    """How the arrays of a `Packing` lie in numbers of `bits` bits, the key's."""

    packing: Packing
    bits: int

    def __post_init__(self) -> None:
        if self.digit < 64:
            raise OptionError(f"A key of {self.bits} bits is too short for sums of {self.packing.parties} parties.")

    @property
    def slots(self) -> int:
        """Words in a plaintext, which leaves room for a sign."""
        return (self.bits - 2) // self.packing.bits

    @property
    def digit(self) -> int:
        """B: bits of a digit of a wide number, so that sums of all parties' fit."""
        return self.bits - HIDDEN - self.packing.parties.bit_length() - 3

    @cached_property
    def words(self) -> int:
        """How many words all arrays with a range have."""
        return self.packing.cut * 8 // self.packing.bits

    @cached_property
    def digits(self) -> int:
        """How many digits a wide number has."""
        return -(-64 * WIDE.words // self.digit)

    @property
    def count(self) -> int:
        """How many plaintexts there are."""
        wide = (self.packing.size - self.packing.cut) // (8 * WIDE.words)
        return -(-self.words // self.slots) + wide * self.digits

    def numbers(self, arrays: Arrays, entropy: Entropy) -> list[int]:
        """The plaintexts of what one party says; a number out of range is refused by a sentence."""
        packed = self.packing.pack(arrays)
        words = np.zeros(-(-self.words // self.slots) * self.slots, self._word)
        words[: self.words] = packed[: self.packing.cut].view(self._word)
        rows = (words + self._half).reshape(-1, self.slots)
        plain = [int.from_bytes(row.tobytes(), "little") - self._level for row in rows]
        for at in range(self.packing.cut, self.packing.size, 8 * WIDE.words):
            residue = int.from_bytes(packed[at : at + 8 * WIDE.words].tobytes(), "little")
            plain += self._split(residue - WIDE.modulus if residue >= WIDE.modulus // 2 else residue, entropy)
        return plain

    def packed(self, sums: Sequence[int]) -> Bytes:
        """The sums of plaintexts as the residues that the secure sum ends with."""
        if len(sums) != self.count:
            raise RunError(f"{len(sums)} numbers came to be decrypted; expected {self.count}.")
        split = -(-self.words // self.slots)
        size = self.slots * self.packing.bits // 8
        try:
            rows = b"".join((number + self._level).to_bytes(size, "little") for number in sums[:split])
        except OverflowError:
            raise RunError("What was decrypted is no sum of numbers in the range agreed on: something was changed on its way, or encrypted "
                           "under another key.") from None  # fmt: skip
        words = (np.frombuffer(rows, self._word) - self._half)[: self.words]
        wide = [self._joined(sums[at : at + self.digits]) for at in range(split, self.count, self.digits)]
        return np.frombuffer(words.tobytes() + b"".join(wide), np.uint8)

    def _split(self, z: int, entropy: Entropy) -> list[int]:
        """z = Σ_j d_j 2^(Bj), with what is carried hidden."""
        carried = [0, *(int.from_bytes(entropy(HIDDEN // 8), "little") for _ in range(self.digits - 1)), 0]
        whole = [(z >> self.digit * j) & ((1 << self.digit) - 1) for j in range(self.digits - 1)]
        whole.append(z >> self.digit * (self.digits - 1))
        return [d - carried[j] + (carried[j + 1] << self.digit) for j, d in enumerate(whole)]

    def _joined(self, sums: Sequence[int]) -> bytes:
        z = sum(d << self.digit * j for j, d in enumerate(sums))
        return (z % WIDE.modulus).to_bytes(8 * WIDE.words, "little")

    @property
    def _word(self) -> Any:
        return np.dtype(f"<u{self.packing.bits // 8}")

    @property
    def _half(self) -> NDArray[Any]:
        return self._word.type(1 << (self.packing.bits - 1))

    @cached_property
    def _level(self) -> int:
        """Σ_i 2^(b−1) 2^(bi): lifts all digits above zero, where bytes are digits."""
        return sum(1 << (self.packing.bits * (i + 1) - 1) for i in range(self.slots))
