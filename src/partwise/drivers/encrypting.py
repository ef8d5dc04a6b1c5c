"""A party's side of a sum under Paillier's encryption; of the party that holds the secret key, too.

What a party says goes encrypted to the server, which adds and cannot read; the holder, party 0, decrypts one sum a round and tells it
to the server. Whoever has both what a party sent and the secret key reads it: server and holder must not work together.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import final

import numpy as np

from partwise.currency import Arrays
from partwise.drivers.letters import Letter
from partwise.drivers.safety import Safety
from partwise.drivers.vault import Kept, Vault
from partwise.errors import RunError
from partwise.privacy import paillier
from partwise.protocols import Round

HOLDER = 0  # the party that makes the keys


@final
@dataclass
class Encrypting:
    """Party p's keys, and what it said last; both are kept in its vault, group "cipher"."""

    study: str
    method: Round
    p: int
    vault: Vault
    safety: Safety

    kinds = ("holder", "encrypted", "opened")

    def answers(self, letter: Letter, step: Callable[[int, Arrays], Arrays]) -> Arrays:
        """One step of the protocol; `step(t, down)` gives what the method has the party say."""
        if letter.kind == "encrypted":
            return {"encrypted": self._encrypted(letter.t, letter.arrays, step)}
        if self.p != HOLDER:
            raise RunError(f"Party {self.p} was asked for what only party {HOLDER} can do, which holds the secret key.")
        return {"key": self._public()} if letter.kind == "holder" else {"sum": self._opened(letter)}

    def _public(self) -> paillier.Bytes:
        if "secret" not in self._group():
            secret, public = paillier.new_keys(self.safety.key_bits)
            self._keep({"secret": secret, "public": public})
        return self._group()["public"]

    def _encrypted(self, t: int, arrays: Arrays, step: Callable[[int, Arrays], Arrays]) -> paillier.Bytes:
        sealer = self._sealer(arrays["sum.key"])
        said = step(t, {name: array for name, array in arrays.items() if not name.startswith("sum.")})
        held = self._group()
        if "encrypted" not in held or int(held["round"]) != t:
            plain = self.safety.plaintexts(self.method, t, self.p, arrays).numbers(said, self.safety.entropy)
            self._keep({"round": np.array(t), "encrypted": sealer.encrypt(plain), "reach": arrays["sum.reach"]})
        return self._group()["encrypted"]

    def _sealer(self, public: paillier.Bytes) -> paillier.Sealer:
        """For the key of this study: the first that came, if it is long enough."""
        held = self._group()
        if "public" in held and not np.array_equal(held["public"], public):
            raise RunError(f"Party {self.p} was sent another key to encrypt with than before: someone changed it, or the holder has made "
                           "new keys. Begin a new study, under a new name, if all agree.")  # fmt: skip
        sealer = paillier.Sealer(public)
        if sealer.bits != self.safety.key_bits:
            raise RunError(
                f"Party {self.p} was sent a key of {sealer.bits} bits; the study has {self.safety.key_bits}. Nothing was sent."
            )
        if "public" not in held:
            self._keep({"public": public})
        return sealer

    def _opened(self, letter: Letter) -> paillier.Bytes:
        """The sum, once a round: of the difference of two sums one party would be known."""
        held, t = self._group(), letter.t
        members, sealed = letter.arrays["members"], letter.arrays["encrypted"]
        if "encrypted" not in held or int(held["round"]) != t:
            raise RunError(f"Party {self.p} was asked to open a sum of round {t} in which it has not said anything.")
        if members.sum() < self.safety.fewest:
            raise RunError(f"Party {self.p} was asked to open a sum of {int(members.sum())} parties, and opens none of fewer than "
                           f"{self.safety.fewest}.")  # fmt: skip
        if "opened" in held and int(held["opened"]) == t and not np.array_equal(held["sum"], sealed):
            raise RunError(f"Party {self.p} has opened a sum of round {t} already, and will not open another.")
        self._keep({"opened": np.array(t), "sum": sealed})
        plain = self.safety.plaintexts(self.method, t, self.p, {"sum.reach": held["reach"]})
        return plain.packed(paillier.decrypt(held["secret"], sealed))

    def _group(self) -> Arrays:
        kept = self.vault.kept()
        return {} if kept is None else kept.groups.get("cipher", {})

    def _keep(self, news: Arrays) -> None:
        kept = self.vault.kept()
        assert kept is not None, "a seat begins before it answers"
        self.vault.keep(Kept(kept.t, {**kept.groups, "cipher": {**self._group(), **news}}, kept.facts))
