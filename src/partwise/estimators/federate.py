"""`federate`: from the parties' data and wishes to one H and every party's W. The estimator and the command line both call it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, final

import numpy as np

from partwise.algorithms.federated.merging import ONE_ROUND
from partwise.algorithms.federated.methods import method
from partwise.algorithms.federated.private_methods import Asked
from partwise.algorithms.federated.study import Study
from partwise.consensus.metrics import rmsd_sum
from partwise.currency import Array, Arrays
from partwise.drivers.adding import EncryptedSum
from partwise.drivers.arrivals import run_arrivals
from partwise.drivers.correspondence import Correspondence, Fault
from partwise.drivers.gathering import SecureSum
from partwise.drivers.letters import Transcript
from partwise.drivers.rounds import Gather, RoundPoint, Terms, one_by_one, run_rounds
from partwise.drivers.safety import Safety
from partwise.drivers.seat import Seat
from partwise.drivers.transports.clocked import Clocked, Speeds
from partwise.drivers.transports.in_process import InProcess
from partwise.drivers.transports.unreliable import Dropouts, Unreliable
from partwise.drivers.vault import Vault
from partwise.errors import OptionError
from partwise.estimators.hiding import Hiding
from partwise.estimators.naming import by_name, named
from partwise.estimators.privacy_wishes import Privacy
from partwise.privacy.ledger import FILE, Ledger
from partwise.privacy.sharing import FEWEST
from partwise.protocols import Matrix, Round, Transport

ROUNDS = 30

Observer = Callable[[Arrays, RoundPoint], None]
Carried = Callable[[Sequence[Seat]], Transport]
SERVER, TRANSCRIPT = "server", "transcript.jsonl"  # in a study's folder, beside the parties'


@final
@dataclass(frozen=True)
class Wishes:
    """Every wish but the data."""

    n_components: int
    method: str = "exact"
    rounds: int | None = None  # None: 30, or as many as the private method makes
    tol: float = 0.0
    seed: int = 0
    secure_sum: bool | str = False  # nobody, not even the server, sees what one party says: see `Hiding`
    speeds: str = "equal"  # of simulated parties: "equal" or "uniform:1..10"
    dropout: float = 0.0  # probability that a party vanishes in a round
    measure_every: int = (
        1  # rounds between measurements, where a method does not know its error; none under a secure sum
    )
    options: Mapping[str, Any] = field(default_factory=dict)  # the method's own
    privacy: Privacy | None = None  # what is promised; then sums are secure as it says, and nobody measures the error

    def __post_init__(self) -> None:
        for name in ("n_components", "rounds"):
            value = getattr(self, name)
            if name == "rounds" and value is None:
                continue
            if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 1:
                raise OptionError(f"{name}={value!r}; expected a positive whole number.")
        if not isinstance(self.tol, (int, float, np.number)) or not 0 <= self.tol < math.inf:
            raise OptionError(f"tol={self.tol!r}; expected a number ≥ 0.")
        if isinstance(self.measure_every, bool) or not isinstance(self.measure_every, int) or self.measure_every < 0:
            raise OptionError(
                f"measure_every={self.measure_every!r}; expected rounds between measurements, or 0 for none."
            )
        if not 0 <= self.seed < 2**63:
            raise OptionError(f"seed={self.seed!r}; expected a whole number from 0 to 2⁶³ − 1.")
        hiding = Hiding.of(self.secure_sum)
        if self.privacy is not None and hiding is not None and hiding.by != "masks":
            raise OptionError(f"secure_sum={self.secure_sum!r} is for comparing methods without noise; a private study has the secure sum "
                              "by itself: leave it out.")  # fmt: skip
        if self.privacy is not None and hiding is not None and not self.privacy.secure_sum:
            raise OptionError("secure_sum=True, and secure_sum=False under privacy: say it once, under privacy.")
        if self.privacy is not None and self.tol:
            raise OptionError(f"tol={self.tol!r} would stop by an error that depends on every record. A private study makes a number of "
                              "rounds that is settled beforehand: leave tol=0, and set rounds.")  # fmt: skip

    def round_method(self, shape: tuple[int, Sequence[int]], dtype: Any) -> Round:
        """The method for m features and parties of these sizes."""
        m, sizes = shape
        if self.privacy is not None:
            return self.privacy.round_method(
                Asked(self.method, int(self.n_components), m, sizes, self.rounds, self.seed, self.options)
            )
        study = Study(int(self.n_components), m, len(sizes), self.last, self.seed, np.dtype(dtype), tuple(sizes))
        chosen = method(self.method, study, self.options)
        if self.secure_sum and not chosen.sums:
            raise OptionError(
                f"method={self.method!r} needs to see what each party says, so it cannot have secure_sum; take method='exact'."
            )
        return chosen

    def safety(self, parties: int) -> Safety:
        """What all parties insist on: sums only, if they are to be secure, and of enough parties to make the noise."""
        if self.privacy is None:
            hiding = Hiding.of(self.secure_sum)
            return Safety(parties) if hiding is None else Safety(parties, True, hiding.by, key_bits=hiding.key_bits)
        shares = self.privacy.shares(parties)
        return Safety(parties, only_sums=shares.secure, fewest=max(FEWEST, shares.least) if shares.secure else FEWEST)

    @property
    def last(self) -> int:
        """The last round."""
        return 1 if self.method in ONE_ROUND else int(self.rounds or ROUNDS)


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
    safety = wishes.safety(len(Xs))
    vaults = [
        Vault(study, None if folder is None else folder / f"party-{p:04d}", durable=False) for p in range(len(Xs))
    ]
    seats = [Seat(study, chosen, X, p, vault, safety) for p, (X, vault) in enumerate(zip(Xs, vaults, strict=True))]
    promise = chosen.promise
    ledger = None if promise is None else Ledger(promise, None if folder is None else folder / FILE)
    server = Vault(study, None if folder is None else folder / SERVER, durable=False)
    default = partial(transport, wishes=wishes, asynchronous=chosen.asynchronous, now=clock(server))
    mail = Correspondence(
        study, (carried or default)(seats), transcript=Transcript(path=None if folder is None else folder / TRANSCRIPT)
    )
    terms = Terms(
        chosen.rounds, float(wishes.tol), ledger=ledger,
        measure_every=wishes.measure_every if promise is None and not safety.only_sums else 0,
        gather=gathering(safety), vault=server,
    )  # fmt: skip
    outcome = (run_arrivals if chosen.asynchronous else run_rounds)(chosen, mail, terms, observers)
    H = np.ascontiguousarray(outcome.public["H"])
    kept = [seat.finished() for seat in seats]
    fits = [] if promise is not None else zip(Xs, kept, strict=True)  # in a private study nobody may know
    errors = [X.sq_error(part["Wt"], H) for X, part in fits]
    own = [(part["Wt_own"].T, part["H"]) for part in kept] if "Wt_own" in kept[0] else None
    return Federation(
        H, [part["Wt"].T for part in kept], own, errors, [X.sq_norm() for X in Xs], [X.shape for X in Xs],
        outcome.history, outcome.reason, mail.transcript, mail.faults, ledger,
    )  # fmt: skip


def gathering(safety: Safety) -> Gather:
    """How the server gets at what parties say."""
    if not safety.only_sums:
        return one_by_one
    return SecureSum(safety) if safety.by == "masks" else EncryptedSum(safety)


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
