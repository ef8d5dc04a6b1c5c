"""The loop of server and parties in step: ask all, take what comes, let the server move, until the rounds are done.

What is special to a method is in its `Round`, what is special to a network in its transport, and how replies are gathered, one
by one or only as their sum, in a `Gather`.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol, final

import numpy as np

from partwise.currency import Arrays, Field, Reply
from partwise.drivers.correspondence import Correspondence
from partwise.drivers.vault import Kept, Vault
from partwise.errors import RunError
from partwise.privacy.ledger import Ledger
from partwise.protocols import Round

MEASURED = {"sq_error": Field((), np.dtype(np.float64)), "sq_norm": Field((), np.dtype(np.float64))}


class RoundPoint(NamedTuple):
    """Where a study stood after round t."""

    t: int
    error: float  # relative error of all parties' data; NaN where nobody measured it
    drift: float  # how far the parties' H lay from the server's, relative; 0 if they have none; NaN if the server does not see them
    parties: int  # whose replies counted
    bytes_up: int  # in this round, over all parties, without those of measuring
    bytes_down: int
    seconds: float  # since the start, over all parts of a resumed study, without those of measuring and observing
    clock: float  # what the clock of simulated parties says; NaN where there is none


class RoundsOutcome(NamedTuple):
    """Where the study ended."""

    public: Arrays
    history: list[RoundPoint]
    reason: str


class Gather(Protocol):
    """How the server gets at replies."""

    def __call__(self, method: Round, public: Arrays, t: int, mail: Correspondence) -> list[Reply]: ...


def one_by_one(method: Round, public: Arrays, t: int, mail: Correspondence) -> list[Reply]:
    """Every reply as it is: the server sees what each party says."""
    downs = {p: method.down(public, t, p) for p in range(mail.transport.size)}
    answers = mail.ask("round", t, downs, lambda p: method.declare(t, p).up)
    return [Reply((p,), arrays) for p, arrays in answers.items() if arrays]


@final
@dataclass(frozen=True)
class Terms:
    """How long, how carefully."""

    rounds: int
    tol: float = 0.0  # stop when the error has fallen by less than this share of itself over `window` rounds
    window: int = 5
    least: int = 1  # parties whose replies a round needs
    measure_every: int = 0  # rounds between measurements, where the method does not know its error; 0: only in the end
    gather: Gather = field(default=one_by_one)
    vault: Vault | None = None  # the server's
    ledger: Ledger | None = None  # of the study, where the method is private


def run_rounds(
    method: Round, mail: Correspondence, terms: Terms, observers: Sequence[Callable[[Arrays, RoundPoint], None]] = ()
) -> RoundsOutcome:
    """From the opening, or from where the server's vault left off, to the end; then every party finishes."""
    public, history = _resumed(method, terms)
    each = method.exchanges
    t = history[-1].t * each if history else method.first - 1
    began = time.perf_counter() - (history[-1].seconds if history else 0.0)
    reason = _reason(terms, t // each, history)
    while reason is None:
        up, down = mail.transcript.bytes_up, mail.transcript.bytes_down
        counted: set[int] = set()
        replies: list[Reply] = []
        for _ in range(1 if t < 0 else each):
            t += 1
            replies = _replies(method, public, t, mail, terms)
            counted |= {p for reply in replies for p in reply.parties}
            public = method.server(public, replies, t)
        spent = (mail.transcript.bytes_up - up, mail.transcript.bytes_down - down)
        times = (time.perf_counter() - began, mail.transport.now)
        error = _error(method, public, t // each, mail, terms)
        history.append(RoundPoint(t // each, error, drift(replies, public), len(counted), *spent, *times))
        if terms.vault is not None:
            terms.vault.keep(Kept(t // each, {"public": public}, {"history": [list(point) for point in history]}))
        for observe in observers:
            observe(public, history[-1])
        began = time.perf_counter() - times[0]
        reason = _reason(terms, t // each, history)
    finish(method, public, t + 1, mail)
    return RoundsOutcome(public, history, reason)


def _replies(method: Round, public: Arrays, t: int, mail: Correspondence, terms: Terms) -> list[Reply]:
    """What came in one exchange, if it is enough."""
    faults = len(mail.faults)
    if terms.ledger is not None:
        terms.ledger.spend_once(method.release(method.down(public, t, 0), t, 0), t)  # type: ignore[arg-type]
    replies = terms.gather(method, public, t, mail)
    count = len({p for reply in replies for p in reply.parties})
    if count < terms.least:
        got = f"{count} of the {terms.least} replies that it needs" if count else "no reply"
        raise RunError(
            f"Round {t} got {got}. {mail.told(faults)} Nothing is lost: what was kept of the rounds before lets the study go on."
        )
    return replies


def finish(method: Round, public: Arrays, t: int, mail: Correspondence) -> None:
    """Every party makes its last step, and says nothing."""
    mail.ask("finish", t, {p: method.closing(public, p) for p in range(mail.transport.size)}, lambda p: {})


def measured(method: Round, public: Arrays, t: int, mail: Correspondence) -> float:
    """The relative error over the data of all that answer: each party says two numbers."""
    downs = {p: method.closing(public, p) for p in range(mail.transport.size)}
    answers = mail.ask("measure", t, downs, lambda p: MEASURED)
    error, norm = (sum(float(said[name]) for said in answers.values()) for name in MEASURED)
    return math.sqrt(max(error, 0.0) / norm) if norm > 0 else 0.0


def drift(replies: Sequence[Reply], public: Arrays) -> float:
    """√(mean ‖H_p − H‖²) / ‖H‖ of the H that parties sent; 0 where a party has no H of its own, NaN where only sums are seen."""
    said = [reply for reply in replies if "H" in reply.arrays]
    sent = [reply.arrays["H"] for reply in said if len(reply.parties) == 1]
    if not sent:
        return math.nan if said else 0.0
    apart = np.mean([np.sum((H.astype(np.float64) - public["H"]) ** 2) for H in sent])
    return float(np.sqrt(apart) / max(np.linalg.norm(public["H"]), np.finfo(np.float64).tiny))


def _resumed(method: Round, terms: Terms) -> tuple[Arrays, list[RoundPoint]]:
    kept = None if terms.vault is None else terms.vault.kept()
    if kept is None:
        return method.opening(), []
    return kept.groups["public"], [RoundPoint(*point) for point in kept.facts["history"]]


def _error(method: Round, public: Arrays, t: int, mail: Correspondence, terms: Terms) -> float:
    known = method.known_error(public)
    if known is not None:
        return known
    due = t > 0 and terms.measure_every and (t % terms.measure_every == 0 or t == terms.rounds)
    return measured(method, public, t + 1, mail) if due else math.nan


def _reason(terms: Terms, t: int, history: Sequence[RoundPoint]) -> str | None:
    """Why the study stops here, if it does."""
    if t >= terms.rounds:
        return f"The {terms.rounds} rounds asked for are done."
    errors = [point.error for point in history if not math.isnan(point.error)]
    if terms.tol > 0 and len(errors) > terms.window:
        best = min(errors[: -terms.window])  # extrapolated methods may rise for a while before they fall on
        fell = (best - min(errors[-terms.window :])) / max(best, np.finfo(np.float64).tiny)
        if fell < terms.tol:
            return f"The relative error fell by {max(fell, 0):.1e} of itself in {terms.window} rounds, less than tol = {terms.tol:g}."
    return None
