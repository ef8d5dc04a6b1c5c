"""The server's side of a sum under Paillier's encryption: it adds what it cannot read, and is told the sum.

holder      ↑ public key                                  party 0 alone, once
encrypted   ↓ the round's message, key    ↑ ciphertexts   everyone
opened      ↓ their product, who is in it ↑ the sum       party 0 alone
"""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import final

import numpy as np

from partwise.currency import Arrays, Field, Reply
from partwise.drivers.correspondence import Correspondence
from partwise.drivers.encrypting import HOLDER
from partwise.drivers.safety import Safety
from partwise.errors import OptionError, RunError
from partwise.privacy import paillier
from partwise.privacy.plaintexts import Plaintexts
from partwise.protocols import Round

BYTE = np.dtype(np.uint8)
LONG = 60.0  # seconds of encryption that nobody should wait for without having been told
_log = logging.getLogger("partwise")


@final
@dataclass
class EncryptedSum:
    """A `Gather` that shows the server sums only, as SFMF's authors have it. The secure sum does the same, a thousand times faster."""

    safety: Safety
    key: paillier.Bytes | None = None
    _sealer: paillier.Sealer | None = None
    _told: bool = False

    def __post_init__(self) -> None:
        paillier.phe()
        if self.safety.parties < self.safety.fewest:
            raise OptionError(f"A sum that hides its parts needs {self.safety.fewest} parties at least and has {self.safety.parties}: of "
                              "the sum of two each would know the other's part.")  # fmt: skip

    def __call__(self, method: Round, public: Arrays, t: int, mail: Correspondence) -> list[Reply]:
        if not method.sums:
            raise OptionError(
                "This method's server needs to see what each party says: it cannot have sums only. Take method='exact'."
            )
        ranges = method.reach(public, t)
        asked = {"sum.key": self._asked(mail), "sum.reach": np.array([ranges[name] for name in sorted(ranges)])}
        plain = self.safety.plaintexts(method, t, HOLDER, asked)
        if t > 0 and not self._told:
            self._tell(plain, method.rounds - t + 1)
        sealed = self._encrypted(method, public, t, mail, asked, plain)
        members = tuple(sorted(sealed))
        if len(members) < self.safety.fewest:
            raise RunError(f"Of the parties of round {t} {len(members)} are left; this sum needs {self.safety.fewest} at least. "
                           f"{mail.told()}")  # fmt: skip
        return [Reply(members, self._opened(t, mail, sealed, plain))]

    def sealer(self) -> paillier.Sealer:
        """With the study's key."""
        assert self.key is not None, "the holder is asked before anything is encrypted"
        self._sealer = self._sealer or paillier.Sealer(self.key)
        return self._sealer

    def _asked(self, mail: Correspondence) -> paillier.Bytes:
        """The public key, from the party that holds the secret one."""
        if self.key is None:
            form = {"key": Field((self.safety.key_bits // 8,), BYTE)}
            said = mail.ask("holder", 0, {HOLDER: {}}, lambda p: form)
            if HOLDER not in said:
                raise RunError(
                    f"Party {HOLDER} makes the keys of this study, and gave none: nothing was encrypted. {mail.told()}"
                )
            self.key = said[HOLDER]["key"]
        return self.key

    def _encrypted(
        self, method: Round, public: Arrays, t: int, mail: Correspondence, asked: Arrays, plain: Plaintexts
    ) -> Mapping[int, paillier.Bytes]:
        """{party: its ciphertexts}"""
        sealer = self.sealer()
        form = {"encrypted": Field((plain.count, sealer.width), BYTE)}
        downs = {p: {**method.down(public, t, p), **asked} for p in range(self.safety.parties)}
        said = mail.ask("encrypted", t, downs, lambda p: form)
        wrong = [p for p, words in said.items() if not sealer.fits(words["encrypted"])]
        for p in wrong:
            mail.fault(t, p, f"sent numbers that are no ciphertexts under the key of the study (round {t}).")
        return {p: words["encrypted"] for p, words in said.items() if p not in wrong}

    def _opened(self, t: int, mail: Correspondence, sealed: Mapping[int, paillier.Bytes], plain: Plaintexts) -> Arrays:
        """The sum, as the holder tells it."""
        members = np.zeros(self.safety.parties, bool)
        members[list(sealed)] = True
        message = {"members": members, "encrypted": self.sealer().add(sealed.values())}
        form = {"sum": Field((plain.packing.size,), BYTE)}
        said = mail.ask("opened", t, {HOLDER: message}, lambda p: form)
        if HOLDER not in said:
            raise RunError(f"Party {HOLDER} alone can decrypt the sum of round {t}, and did not. {mail.told()} Nothing is lost: what was "
                           "kept of the rounds before lets the study go on when it is back.")  # fmt: skip
        return plain.packing.unpack(np.array(said[HOLDER]["sum"]))

    def _tell(self, plain: Plaintexts, rounds: int) -> None:
        """What the encryption will take, by what one takes here and now, if that is long."""
        self._told, began = True, time.perf_counter()
        self.sealer().encrypt([1])
        each = time.perf_counter() - began
        whole = each * plain.count * self.safety.parties * rounds
        if whole > LONG:
            _log.warning(
                "Paillier's encryption: %d parties encrypt %d ciphertexts of %d bytes in each round, at %.2g s each; with %d rounds to go "
                "this takes about %s in one process. secure_sum=True has the same sums in a fraction of it.",
                self.safety.parties, plain.count, self.sealer().width, each, rounds, _duration(whole),
            )  # fmt: skip


def _duration(seconds: float) -> str:
    """In words."""
    minutes = seconds / 60
    return f"{minutes:.0f} minutes" if minutes < 100 else f"{minutes / 60:.1f} hours"
