"""The leak ledger: how much of a party's data its sketches have shown, and when it is too much.

A sketch of the data, S X with an S that others can draw too, is d linear equations for every column of X. After distinct S of
n rows together X is known exactly (DSANLS, Theorem 3); before that nothing protects it but the number of unknowns, and what an
attacker knows beforehand (zeros, a prior) fills that in sooner. So this ledger counts the rank of all distinct sketches that were
shown, against n, and stops *before* a sketch that would exceed the allowance. It counts; it guarantees nothing: no ε covers
what is shown here. The allowance is 0 unless the user writes another down.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, final

from partwise.currency import Disclosure
from partwise.errors import OptionError, RunError
from partwise.privacy.chain import Chain

SHOWN, REFUSED = "sketch shown", "sketch refused"
EXACT = "subsample"  # shows entries of X themselves


class LeakRefusedError(RunError):
    """A sketch of the data would have shown more than is allowed; it was not sent."""


@final
class LeakLedger:
    """What one party has shown. With a path it is durable, hash-chained, and continued where it is found."""

    def __init__(self, allowance: float = 0.0, path: Path | None = None) -> None:
        if isinstance(allowance, bool) or not isinstance(allowance, (int, float)) or not 0 <= allowance <= 1:
            raise OptionError(f"allowance={allowance!r}; expected a share of the rows between 0 and 1, such as 0.05.")
        self.allowance = float(allowance)
        self._chain = Chain(path)

    @property
    def entries(self) -> list[dict[str, Any]]:
        """All lines, refusals among them."""
        return list(self._chain.entries)

    @property
    def head(self) -> str:
        """The digest of all of it."""
        return self._chain.head

    @property
    def rank(self) -> int:
        """Independent rows that the distinct sketches have together, at most."""
        return max((entry["rank"] for entry in self._chain.entries if entry["kind"] == SHOWN), default=0)

    def show(self, sketch: Disclosure, t: int) -> None:
        """Write a sketch down before it is sent, or refuse it."""
        entry = {"round": t, "sketch": sketch.kind, "drawn_from": sketch.name, "d": sketch.d, "rows": sketch.n}
        if sketch.kind == EXACT:
            self._refuse(entry, "subsampling shows entries of the data as they are; take another sketch")
        known = any(past["kind"] == SHOWN and past["drawn_from"] == sketch.name for past in self._chain.entries)
        rank = min(self.rank + (0 if known else sketch.d), sketch.n)
        share = rank / max(sketch.n, 1)
        if share > self.allowance:
            after = -(-sketch.n // sketch.d)
            self._refuse(entry, f"the sketches of this party's {sketch.n} rows would have rank {rank}, which is {share:.0%} of what gives "
                         f"the data away, and the allowance is {self.allowance:.0%}. {after} such sketches give them away entirely. "
                         "Take method='exact', use the same sketch again, or write down a larger allowance")  # fmt: skip
        counted = {"rank": rank, "share": share, "allowance": self.allowance, "again": known}
        self._chain.append({"kind": SHOWN, **entry, **counted})

    def _refuse(self, entry: dict[str, Any], why: str) -> None:
        self._chain.append({"kind": REFUSED, **entry, "rank": self.rank, "why": why})
        raise LeakRefusedError(f"A sketch of the data was not sent in round {entry['round']}: {why}.")
