"""What all parties and the server of a study agree on before it begins, where sums are to hide what they are of."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Literal, final

from partwise.currency import Arrays
from partwise.privacy.plaintexts import Plaintexts
from partwise.privacy.secure_sum import Packing, Ring
from partwise.privacy.secure_sum.shamir import Entropy
from partwise.protocols import Round

KEY_BITS = 2048  # of Paillier's encryption, where nobody says more


@final
@dataclass(frozen=True)
class Safety:
    """A party trusts its own copy, not what a letter says."""

    parties: int = 0
    only_sums: bool = False  # refuse to say anything in the open
    by: Literal["masks", "paillier"] = "masks"  # how sums hide what they are of
    degree: int | None = None
    threshold: int | None = None
    bits: int = 64
    seed: int = 0
    fewest: int = 3  # parties in a sum that the party helps to open
    key_bits: int = KEY_BITS
    entropy: Entropy = field(default=os.urandom)

    @property
    def ring(self) -> Ring:
        """Who masks with whom."""
        return Ring(self.parties, self.degree, self.threshold, self.seed, self.fewest)

    def packing(self, method: Round, t: int, p: int, reach: Arrays) -> Packing:
        """How what is said in round t is laid out."""
        fields = method.declare(t, p).up
        ranges = dict(zip(sorted(fields), map(float, reach["sum.reach"]), strict=True))
        return Packing(fields, ranges, self.parties, self.bits)

    def plaintexts(self, method: Round, t: int, p: int, reach: Arrays) -> Plaintexts:
        """The same, in numbers that are encrypted."""
        return Plaintexts(self.packing(method, t, p, reach), self.key_bits)
