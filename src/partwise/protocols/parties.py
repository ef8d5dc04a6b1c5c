"""Methods between organisations, and what carries their letters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from partwise.currency import Arrays, Disclosure, Exchange, Reply
from partwise.protocols.data import Matrix


class Round(Protocol):
    """A named method between organisations: what a party does and what the server does in round t, as pure functions.

    The loop is a driver's, the way of the messages a transport's. Every party p holds X (n_p, m) and what it keeps (`private`);
    the server holds `public`, of which `public["H"]` (k, m) is the model. A party's `private["Wt"]` is its (k, n_p), and
    `private["H"]`, where a method leaves one, its own version of the components. What `party` returns first never leaves it.
    """

    @property
    def first(self) -> int:
        """The first round: 1, or 0 for a method that begins with a round of sizes."""
        ...

    @property
    def exchanges(self) -> int:
        """How many exchanges with the parties one round takes; t counts exchanges."""
        ...

    @property
    def sums(self) -> bool:
        """Whether the server needs no more than the sum of the replies, so that it may be a secure sum."""
        ...

    @property
    def asynchronous(self) -> bool:
        """Whether the server folds each reply as it comes (`server` is then given one reply, and t counts the replies)."""
        ...

    def declare(self, t: int, p: int) -> Exchange:
        """All that goes between the server and party p in round t; nothing else may."""
        ...

    def reach(self, public: Arrays, t: int) -> Mapping[str, float]:
        """A bound, by name, on every number a party says in round t, if `sums`: what the secure sum makes room for.

        `inf` is allowed for a few numbers whose size nobody knows yet; they take 34 words each.
        """
        ...

    def disclosure(self, t: int, p: int) -> Disclosure | None:
        """The sketch of its data that party p shows in round t, if the method shows any: it goes by the leak ledger."""
        ...

    @property
    def rounds(self) -> int:
        """How many rounds the study is set up for."""
        ...

    @property
    def promise(self) -> Any | None:
        """The `privacy.terms.Terms` of a method that is differentially private: then parties keep a ledger, and never `measure`."""
        ...

    def release(self, down: Arrays, t: int, p: int) -> Any | None:
        """The `privacy.ledger.Release` that party p's reply to `down` will be, if the method is private: it is paid for beforehand."""
        ...

    def opening(self) -> Arrays:
        """What the server knows before the first round: nothing of the data."""
        ...

    def begin(self, X: Matrix, p: int) -> Arrays:
        """What party p keeps before its first round."""
        ...

    def down(self, public: Arrays, t: int, p: int) -> Arrays:
        """What the server sends to party p in round t."""
        ...

    def party(self, X: Matrix, private: Arrays, down: Arrays, t: int, p: int) -> tuple[Arrays, Arrays]:
        """(stays, goes): what party p keeps after round t, and what it says. Nothing that is given is written to."""
        ...

    def server(self, public: Arrays, replies: Sequence[Reply], t: int) -> Arrays:
        """What the server knows after round t. Replies come in the order of the parties, or as one sum, if `sums`."""
        ...

    def closing(self, public: Arrays, p: int) -> Arrays:
        """What the server sends to party p when there are no more rounds, or when it wants to know the error: the model."""
        ...

    def finish(self, X: Matrix, private: Arrays, down: Arrays, p: int) -> Arrays:
        """What party p keeps in the end: its W for the last H among it. `down` is what `closing` gave."""
        ...

    def measure(self, X: Matrix, private: Arrays, down: Arrays, p: int) -> Arrays:
        """{"sq_error", "sq_norm"} (each of shape ()) of party p, its W being fitted to what the server sends."""
        ...

    def known_error(self, public: Arrays) -> float | None:
        """The relative error, where the server can tell it from what it knows; else None."""
        ...


class Transport(Protocol):
    """Carries letters (see `drivers.letters`) to parties and back; knows nothing of methods."""

    @property
    def size(self) -> int:
        """How many parties there are."""
        ...

    def post(self, letters: Sequence[Any]) -> None:
        """Send letters, each to the party that it names."""
        ...

    def next(self, seconds: float | None = None) -> Any | None:
        """The next answer that comes; None if none will come, or none came in so many seconds."""
        ...

    @property
    def now(self) -> float:
        """What the clock of simulated parties says; NaN where only the one on the wall is known."""
        ...
