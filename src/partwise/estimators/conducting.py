"""The server's side of a study, whatever carries the letters: its vault, its transcript, its ledger, and the loop."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from partwise.currency import Arrays
from partwise.drivers.adding import EncryptedSum
from partwise.drivers.arrivals import run_arrivals
from partwise.drivers.correspondence import Correspondence, Fault
from partwise.drivers.gathering import SecureSum
from partwise.drivers.letters import Transcript
from partwise.drivers.rounds import Gather, RoundPoint, RoundsOutcome, Terms, one_by_one, run_rounds
from partwise.drivers.safety import Safety
from partwise.drivers.vault import Vault
from partwise.errors import RunError
from partwise.estimators.study_wishes import Wishes
from partwise.privacy.ledger import FILE, Ledger
from partwise.protocols import Round, Transport

SERVER, TRANSCRIPT = "server", "transcript.jsonl"  # in a study's folder, beside the parties'


def party_folder(p: int) -> str:
    """Where party p keeps its state, in a study's folder."""
    return f"party-{p:04d}"


Observer = Callable[[Arrays, RoundPoint], None]


class Agreed(NamedTuple):
    """What server and parties know alike before the first round."""

    study: str
    method: Round
    safety: Safety
    folder: Path | None  # where everyone's states are kept; None: in memory

    def vault(self, name: str) -> Vault:
        """Of the server, or of a party."""
        return Vault(self.study, None if self.folder is None else self.folder / name, durable=False)


class Conducted(NamedTuple):
    """What the server has in the end."""

    outcome: RoundsOutcome
    transcript: Transcript
    faults: list[Fault]
    ledger: Ledger | None  # of a private study


def conduct(agreed: Agreed, wishes: Wishes, transport: Transport, observers: Sequence[Observer] = ()) -> Conducted:
    """Run the rounds, from the beginning or from where the server's vault left off."""
    study, method, safety, folder = agreed
    if folder is not None:
        make(folder)
    ledger = None if method.promise is None else Ledger(method.promise, None if folder is None else folder / FILE)
    transcript = Transcript(path=None if folder is None else folder / TRANSCRIPT)
    mail = Correspondence(study, transport, transcript=transcript)
    terms = Terms(
        method.rounds, float(wishes.tol), ledger=ledger,
        measure_every=wishes.measure_every if ledger is None and not safety.only_sums else 0,
        gather=gathering(safety), vault=agreed.vault(SERVER),
    )  # fmt: skip
    outcome = (run_arrivals if method.asynchronous else run_rounds)(method, mail, terms, observers)
    return Conducted(outcome, transcript, mail.faults, ledger)


def make(folder: Path) -> None:
    """The study's folder, or a sentence."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RunError(
            f"{folder} cannot be made ({error.strerror}); name another folder for the study's states."
        ) from None


def gathering(safety: Safety) -> Gather:
    """How the server gets at what parties say."""
    if not safety.only_sums:
        return one_by_one
    return SecureSum(safety) if safety.by == "masks" else EncryptedSum(safety)
