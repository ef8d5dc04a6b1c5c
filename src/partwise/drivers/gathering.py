"""The server's side of the secure sum over letters: keys once, then in each round uploads, and what opens their sum.

keys     ↑ public key                     roster   ↓ all keys      ↑ confirmations
masked   ↓ the round's message            ↑ masked residues, sealed shares, commitment
seeds    ↓ who vanished                   ↑ seeds shared with them        only if someone did, until nobody more does
shares   ↓ who remained, sealed shares    ↑ shares of their own masks
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import final

import numpy as np

from partwise.currency import Arrays, Field, Reply
from partwise.drivers.correspondence import Correspondence
from partwise.drivers.safety import Safety
from partwise.errors import OptionError, RunError
from partwise.privacy.secure_sum import Uploads, differing, unmasked
from partwise.privacy.secure_sum.party import SEALED
from partwise.privacy.secure_sum.primitives import KEY, door
from partwise.protocols import Round

BYTE = np.dtype(np.uint8)


@final
@dataclass
class SecureSum:
    """A `Gather` that shows the server sums only."""

    safety: Safety
    members: list[int] = field(default_factory=list)  # who has joined
    attempt: int = 0

    def __post_init__(self) -> None:
        door()  # says what to install before anybody is asked

    def __call__(self, method: Round, public: Arrays, t: int, mail: Correspondence) -> list[Reply]:
        if not method.sums:
            raise OptionError(
                "This method's server needs to see what each party says: it cannot have secure sums. Take method='exact'."
            )
        if not self.members:
            self.members = self._joined(mail)
        self.attempt = max(
            self.attempt + 1, time.time_ns() // 1000
        )  # later than any before an interruption: rounds take longer
        uploads, reach = self._uploads(method, public, t, mail)
        members, seeds = self._remaining(t, mail, uploads)
        shares = self._shares(t, mail, uploads, members)
        packing = self.safety.packing(method, t, members[0], {"sum.reach": reach})
        return [Reply(tuple(members), unmasked(self.safety.ring, packing, uploads, members, seeds, shares))]

    def _joined(self, mail: Correspondence) -> list[int]:
        """Agree on keys; the parties that are in from now on."""
        ring, everyone = self.safety.ring, range(mail.transport.size)
        if ring.parties != mail.transport.size:
            raise OptionError(
                f"The secure sum is set up for {ring.parties} parties, and {mail.transport.size} are there."
            )
        keys = mail.ask("keys", 0, {p: {} for p in everyone}, lambda p: {"key": Field((KEY,), BYTE)})
        if len(keys) < ring.fewest:
            raise RunError(f"{len(keys)} parties gave keys; a secure sum needs {ring.fewest} at least. {mail.told()}")
        roster = np.zeros((ring.parties, KEY), np.uint8)
        for p, said in keys.items():
            roster[p] = said["key"]
        form = {"confirmations": Field((ring.width, KEY), BYTE)}
        said = mail.ask("roster", 0, {p: {"public": roster} for p in keys}, lambda p: form)
        if len(said) < ring.fewest:
            raise RunError(f"{len(said)} parties joined; a secure sum needs {ring.fewest} at least. {mail.told()}")
        wrong = differing(ring, {p: words["confirmations"] for p, words in said.items()})
        if wrong:
            raise RunError(f"Parties {wrong[0][0]} and {wrong[0][1]} do not hold the same key ({len(wrong)} such pairs): a key was changed "
                           "on its way. Nothing was summed.")  # fmt: skip
        return list(said)

    def _uploads(self, method: Round, public: Arrays, t: int, mail: Correspondence) -> tuple[Uploads, np.ndarray]:
        ranges = method.reach(public, t)
        reach = np.array([ranges[name] for name in sorted(ranges)], np.float64)
        asked = {"sum.members": self._mask(self.members), "sum.attempt": np.array(self.attempt), "sum.reach": reach}
        packing = self.safety.packing(method, t, self.members[0], asked)
        form = {
            "masked": Field((packing.size,), BYTE),
            "sealed": Field((self.safety.ring.width, SEALED), BYTE),
            "commitment": Field((KEY,), BYTE),
        }
        said = mail.ask("masked", t, {p: {**method.down(public, t, p), **asked} for p in self.members}, lambda p: form)
        return Uploads(*({p: words[name] for p, words in said.items()} for name in form)), reach

    def _remaining(
        self, t: int, mail: Correspondence, uploads: Uploads
    ) -> tuple[list[int], dict[int, dict[int, bytes]]]:
        """(who is left, {member: {vanished neighbour: seed}}): ask until nobody more vanishes."""
        ring = self.safety.ring
        alive, seeds = sorted(uploads.masked), {p: {} for p in uploads.masked}
        gone = sorted(set(self.members) - set(alive))
        while gone:
            near = {p: sorted(set(ring.neighbours(p)) & set(gone)) for p in alive}
            message = {"vanished": self._mask(gone), "attempt": np.array(self.attempt)}
            said = mail.ask(
                "seeds",
                t,
                dict.fromkeys(alive, message),
                lambda p, near=near: {"seeds": Field((len(near[p]), KEY), BYTE)},
            )
            for p, words in said.items():
                seeds[p] |= {q: row.tobytes() for q, row in zip(near[p], words["seeds"], strict=True)}
            alive, gone = sorted(said), sorted(set(alive) - set(said))
        if len(alive) < ring.fewest:
            raise RunError(
                f"Of the parties of round {t} {len(alive)} are left; this sum needs {ring.fewest} at least. {mail.told()}"
            )
        return alive, {p: seeds[p] for p in alive}

    def _shares(
        self, t: int, mail: Correspondence, uploads: Uploads, members: Sequence[int]
    ) -> dict[int, dict[int, bytes]]:
        """{member: {holder: share}} of the members' own masks."""
        ring, inside = self.safety.ring, set(members)
        owners = {p: sorted({*ring.neighbours(p), p} & inside) for p in members}
        messages = {
            p: {
                "members": self._mask(members),
                "attempt": np.array(self.attempt),
                "sealed": uploads.sealed_for(ring, p, members),
            }
            for p in members
        }
        said = mail.ask("shares", t, messages, lambda p: {"shares": Field((len(owners[p]), KEY), BYTE)})
        shares: dict[int, dict[int, bytes]] = {p: {} for p in members}
        for holder, words in said.items():
            for owner, row in zip(owners[holder], words["shares"], strict=True):
                shares[owner][holder] = row.tobytes()
        return shares

    def _mask(self, members: Sequence[int]) -> np.ndarray:
        mask = np.zeros(self.safety.parties, bool)
        mask[list(members)] = True
        return mask
