"""A party's side of the secure sum: which step a letter asks for, and what is kept so that no step is ever taken twice differently."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from partwise.currency import Arrays
from partwise.drivers.letters import Letter
from partwise.drivers.safety import Safety
from partwise.drivers.vault import Kept, Vault
from partwise.errors import RunError
from partwise.privacy import secure_sum
from partwise.privacy.secure_sum import Keys, Opened
from partwise.protocols import Round


@final
@dataclass
class Summing:
    """Party p's keys, and where it stands in the round's sum; both are kept in its vault, group "sum"."""

    study: str
    method: Round
    p: int
    vault: Vault
    safety: Safety
    _keys: Keys | None = None

    kinds = ("keys", "roster", "masked", "seeds", "shares")

    def answers(self, letter: Letter, step: Callable[[int, Arrays], Arrays]) -> Arrays:
        """One step of the protocol; `step(t, down)` gives what the method has the party say."""
        if letter.kind == "keys":
            return self._public()
        if letter.kind == "roster":
            return self._join(letter.arrays)
        if letter.kind == "masked":
            return self._masked(letter.t, letter.arrays, step)
        opened = self._opened(letter)
        if letter.kind == "seeds":
            opened, seeds = secure_sum.give_seeds(self._joined(), opened, _places(letter.arrays["vanished"]))
            self._keep(letter.t, opened.arrays(self.safety.parties))
            return {"seeds": seeds}
        members = _places(letter.arrays["members"])
        opened, shares = secure_sum.give_shares(self._joined(), opened, members, letter.arrays["sealed"])
        self._keep(letter.t, opened.arrays(self.safety.parties))
        return {"shares": shares}

    def _public(self) -> Arrays:
        _ = self.safety.ring  # says why not, where there are too few
        held = self._group()
        if "secret" not in held:
            secret, public = secure_sum.new_keys(self.safety.entropy)
            both = np.frombuffer(secret + public, np.uint8)
            self._keep(None, {"secret": both[:32], "key": both[32:]})
        return {"key": self._group()["key"]}

    def _join(self, arrays: Arrays) -> Arrays:
        held = self._group()
        roster = arrays["public"]
        if "roster" in held and not np.array_equal(held["roster"], roster):
            raise RunError(f"The roster of keys is not the one that party {self.p} joined: a party has made new keys, or someone "
                           "changed it. Begin a new study, under a new name, if all agree.")  # fmt: skip
        if "secret" not in held:
            raise RunError(f"Party {self.p} was sent a roster before it had made keys.")
        keys = secure_sum.join(self.study, self.p, self.safety.ring, held["secret"].tobytes(), roster)
        self._keep(None, {"roster": roster})
        self._keys = keys
        return {"confirmations": keys.confirmations()}

    def _masked(self, t: int, arrays: Arrays, step: Callable[[int, Arrays], Arrays]) -> Arrays:
        keys, attempt, members = self._joined(), int(arrays["sum.attempt"]), _places(arrays["sum.members"])
        before = self._before()
        if before is not None and before.t == t:
            if attempt == before.attempt and before.asked == frozenset(members):
                return {name: self._group()[name] for name in ("masked", "sealed", "commitment")}
            if attempt <= before.attempt or (before.closed and before.closed != frozenset(members)):
                raise RunError(f"Party {self.p} has uploaded in round {t} for attempt {before.attempt} already, and will not again for "
                               f"attempt {attempt} of other parties.")  # fmt: skip
        said = step(t, {name: array for name, array in arrays.items() if not name.startswith("sum.")})
        packing = self.safety.packing(self.method, t, self.p, arrays)
        opened, goes = secure_sum.masked(keys, t, attempt, members, packing, said, self.safety.entropy)
        self._keep(t, {**opened.arrays(self.safety.parties), **goes})
        return goes

    def _opened(self, letter: Letter) -> Opened:
        opened = self._before()
        if opened is None or opened.t != letter.t or opened.attempt != int(letter.arrays["attempt"]):
            raise RunError(
                f"Party {self.p} was asked to help open a sum of round {letter.t} in which it has not uploaded."
            )
        return opened

    def _before(self) -> Opened | None:
        held = self._group()
        return Opened.read(held) if "round" in held else None

    def _joined(self) -> Keys:
        if self._keys is None:
            held = self._group()
            if "roster" not in held:
                raise RunError(f"Party {self.p} has not joined the secure sum: it has seen no roster of keys.")
            ring, secret = self.safety.ring, held["secret"].tobytes()
            self._keys = secure_sum.join(self.study, self.p, ring, secret, held["roster"])
        return self._keys

    def _group(self) -> Arrays:
        kept = self.vault.kept()
        return {} if kept is None else kept.groups.get("sum", {})

    def _keep(self, t: int | None, news: Arrays) -> None:
        kept = self.vault.kept()
        assert kept is not None, "a seat begins before it answers"
        self.vault.keep(Kept(kept.t if t is None else t, {**kept.groups, "sum": {**self._group(), **news}}))


def _places(mask: Any) -> list[int]:
    return [int(p) for p in np.flatnonzero(mask)]
