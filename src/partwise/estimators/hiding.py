"""What may be wished of sums that hide what they are of: `FederatedNMF(secure_sum=…)`, and `[privacy] secure_sum` of a study.toml."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, final

import numpy as np

from partwise.drivers.safety import KEY_BITS
from partwise.errors import OptionError

LEAST, MOST = 2048, 8192  # bits of a key: shorter ones can be broken, longer ones take hours


@final
@dataclass(frozen=True)
class Hiding:
    """True: the secure sum, by masks. "paillier", "paillier:3072": the same sum under encryption, to compare with."""

    by: Literal["masks", "paillier"] = "masks"
    key_bits: int = KEY_BITS

    @classmethod
    def of(cls, asked: Any) -> Hiding | None:
        """From what the user writes; None: what parties say is seen by the server."""
        if isinstance(asked, (bool, np.bool_)):
            return cls() if asked else None
        kind, _, bits = asked.partition(":") if isinstance(asked, str) else ("", "", "")
        if kind != "paillier" or (bits and not bits.isdecimal()) or asked.endswith(":"):
            raise OptionError(
                f"secure_sum={asked!r}; expected True, False, or 'paillier' to compare with, 'paillier:3072' for a longer key."
            )
        if bits and not (LEAST <= int(bits) <= MOST and int(bits) % 16 == 0):
            raise OptionError(f"secure_sum={asked!r}; expected a key of {LEAST} to {MOST} bits, a multiple of 16.")
        return cls("paillier", int(bits or KEY_BITS))

    def __str__(self) -> str:
        return "secure sums" if self.by == "masks" else f"sums under Paillier's encryption, {self.key_bits} bits"
