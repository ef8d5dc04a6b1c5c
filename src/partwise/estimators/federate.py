"""`federate`: from the parties' data and wishes to one H and every party's W. The estimator and the command line both call it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import final

import numpy as np

from partwise.consensus.metrics import rmsd_sum
from partwise.currency import Array
from partwise.drivers.correspondence import Fault
from partwise.drivers.letters import Transcript
from partwise.drivers.rounds import RoundPoint
from partwise.drivers.seat import Seat
from partwise.drivers.transports.clocked import Clocked, Speeds
from partwise.drivers.transports.in_process import InProcess
from partwise.drivers.transports.unreliable import Dropouts, Unreliable
from partwise.drivers.vault import Vault
from partwise.estimators.conducting import SERVER, Agreed, Observer, conduct, party_folder
from partwise.estimators.naming import by_name, named
from partwise.estimators.study_wishes import Wishes
from partwise.privacy.ledger import Ledger
from partwise.protocols import Matrix, Transport

Carried = Callable[[Sequence[Seat]], Transport]


@final
@dataclass(frozen=True)
class Federation:
    """X_p ≈ W_p H for every party, and how it came about."""

    H: Array  # (k, m)
    Ws: list[Array]  # (n_p, k), exact for H
    own: list[tuple[Array, Array]] | None  # (W_p, H_p) of a party's own components, where the method leaves it some
    sq_errors: list[float]  # ‖X_p − W_p H‖²
    sq_norms: list[float]
    shapes: list[tuple[int, int]]
    history: list[RoundPoint]
    reason: str
    transcript: Transcript
    faults: list[Fault]
    ledger: Ledger | None = None  # of a private study

    @property
    def relative_error(self) -> float:
        """‖X − WH‖ / ‖X‖ over all parties' data; NaN in a private study: no noise hides a record in it."""
        if self.ledger is not None:
            return math.nan
        norm = sum(self.sq_norms)
        return math.sqrt(sum(self.sq_errors) / norm) if norm > 0 else 0.0

    @property
    def rmsd_sum(self) -> float:
        """Σ_p RMSD(X_p, W_p H); NaN in a private study."""
        return math.nan if self.ledger is not None else rmsd_sum(self.sq_errors, self.shapes)

    @property
    def bytes_up(self) -> int:
        """What parties said, over all rounds, those of earlier parts of a resumed study among them; not what only measures the error."""
        return sum(point.bytes_up for point in self.history)

    @property
    def bytes_down(self) -> int:
        """What they were sent, the last H among it."""
        closing = sum(entry.bytes for entry in self.transcript.entries if entry.kind == "finish")
        return sum(point.bytes_down for point in self.history) + closing

    @property
    def seconds(self) -> float:
        """What the rounds took."""
        return self.history[-1].seconds if self.history else 0.0

    @property
    def drift(self) -> float:
        """How far the parties' H lay from the server's in the last round; 0 where they have none, NaN where it is not seen."""
        return self.history[-1].drift if self.history else math.nan


def federate(
    Xs: Sequence[Matrix], wishes: Wishes, *, study: str = "study", folder: Path | None = None,
    observers: Sequence[Observer] = (), carried: Carried | None = None, names: Sequence[str] | None = None,
) -> Federation:  # fmt: skip
    """Run a study in this process. With a folder, everyone's state is kept there, and a study that is there goes on.

    The result is that of a study that was never interrupted, to the bit; of asynchronous methods a party's answer that was on its
    way is lost instead, and asked for again.
    `carried` makes another transport of the parties' seats. `names`: of the parties, for errors and faults; else they go by number.
    """
    with by_name(names):
        found = _federated(Xs, wishes, study, folder, observers, carried)
    return replace(found, faults=[fault._replace(sentence=named(fault.sentence, names)) for fault in found.faults])


def _federated(
    Xs: Sequence[Matrix], wishes: Wishes, study: str, folder: Path | None, observers: Sequence[Observer], carried: Carried | None
) -> Federation:  # fmt: skip
    """The study itself."""
    chosen = wishes.round_method((Xs[0].shape[1], [X.shape[0] for X in Xs]), Xs[0].dtype)
    agreed = Agreed(study, chosen, wishes.safety(len(Xs)), folder)
    seats = [Seat(study, chosen, X, p, agreed.vault(party_folder(p)), agreed.safety) for p, X in enumerate(Xs)]
    now = clock(agreed.vault(SERVER))
    default = partial(transport, wishes=wishes, asynchronous=chosen.asynchronous, now=now)
    outcome, transcript, faults, ledger = conduct(agreed, wishes, (carried or default)(seats), observers)
    H = np.ascontiguousarray(outcome.public["H"])
    kept = [seat.finished() for seat in seats]
    fits = [] if ledger is not None else zip(Xs, kept, strict=True)  # in a private study nobody may know
    errors = [X.sq_error(part["Wt"], H) for X, part in fits]
    own = [(part["Wt_own"].T, part["H"]) for part in kept] if "Wt_own" in kept[0] else None
    return Federation(
        H, [part["Wt"].T for part in kept], own, errors, [X.sq_norm() for X in Xs], [X.shape for X in Xs],
        outcome.history, outcome.reason, transcript, faults, ledger,
    )  # fmt: skip


def transport(seats: Sequence[Seat], wishes: Wishes, *, asynchronous: bool, now: float = 0.0) -> Transport:
    """Parties in this process, with the speeds and the dropouts that are wished for; as many at work at a time as there are threads."""
    speeds = Speeds.named(wishes.speeds, len(seats), wishes.seed)
    lost = Dropouts(wishes.dropout, wishes.seed)
    if asynchronous:
        return Clocked(seats, speeds, now, lost)
    carried = Clocked(seats, speeds, now) if wishes.speeds != "equal" else InProcess(seats, threads=True)
    return Unreliable(carried, lost) if wishes.dropout else carried


def clock(server: Vault) -> float:
    """Where the clock of simulated parties stood when the study was interrupted."""
    kept = server.kept()
    return 0.0 if kept is None else RoundPoint(*kept.facts["history"][-1]).clock
