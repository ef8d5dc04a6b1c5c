"""What `partwise federate simulate` does, step by step."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from rich.console import Console
from rich.text import Text

from partwise.cli import screen
from partwise.cli.failures import Stopped
from partwise.cli.interrupts import Interrupts
from partwise.cli.progress import watching
from partwise.cli.study_data import Gathered, gather
from partwise.cli.study_file import StudyFile, read_study
from partwise.currency import Arrays
from partwise.drivers.rounds import RoundPoint
from partwise.drivers.vault import reached
from partwise.errors import OptionError
from partwise.estimators.conducting import SERVER
from partwise.estimators.federate import Federation, federate
from partwise.estimators.hiding import Hiding
from partwise.estimators.pooled import gap, pooled_error
from partwise.kernels.threads import threads as limited
from partwise.reports import machine
from partwise.reports.quantities import count, duration, ratio, share, size
from partwise.reports.run_directory import CHECKPOINT, claimed, publish, write_json
from partwise.reports.study_contents import outcome, write_study
from partwise.reports.whole_directory import refuse_changed, writing

ASKED = "asked.json"  # among the states: what they are states of
MAY_CHANGE = ("rounds", "tol", "measure_every", "dropout")  # without a new beginning
SHOWN = 3  # faults, at most


class Place(NamedTuple):
    """Where the run goes, and what may be there already."""

    target: Path
    force: bool
    resume: bool


class Done(NamedTuple):
    """A study that is whole."""

    study: StudyFile
    data: Gathered
    found: Federation
    facts: dict[str, Any]  # what --json says
    target: Path


def simulate(path: Path, place: Place, *, threads: int | None, pooled: bool, quiet: bool) -> Done:
    """Read the study, claim the place, gather, run, write, publish."""
    study, console = read_study(path), screen.to_stderr()
    if pooled and study.wishes.privacy is not None:
        raise OptionError(
            "--pooled would tell an error that no noise hides. Leave it out, or rehearse without [privacy]."
        )
    target, force, resume = place
    with (
        screen.Notes(console), limited(threads) as used,
        claimed(target, force=force, resume=resume, begun=_begun) as partial, resumable(partial),
    ):  # fmt: skip
        data = gather(study)
        if not quiet:
            console.print(Text(f"{study.name}: {data.describe()}; {study.wishes.method}"), soft_wrap=True)
        _refuse_other(partial, study, data)
        found = _run(study, data, partial, console, quiet)
        facts = outcome(found) | _gap(study, data, found, pooled)
        write_study(partial, found, {**_manifest(study, data, used), **facts}, data)
        publish(partial, target, keep_checkpoint=_may_go_on(study, found), replace=force or resume)
    return Done(study, data, found, facts, target)


def _run(study: StudyFile, data: Gathered, partial: Path, console: Console, quiet: bool) -> Federation:
    """The rounds, watched, and open to being stopped."""
    most = study.wishes.round_method((data.Xs[0].shape[1], [X.shape[0] for X in data.Xs]), data.Xs[0].dtype).rounds
    with watching(console, most, quiet=quiet, step="round", every=1) as watch, Interrupts(watch.say) as stop:

        def observe(public: Arrays, point: RoundPoint) -> None:
            watch.at(point.t, told(point), point.seconds)
            if stop.urgent():
                raise Stopped

        return federate(
            data.Xs, study.wishes, study=study.name, folder=partial / CHECKPOINT, observers=[observe], names=data.names
        )


def told(point: RoundPoint) -> str:
    """Where a study stands: error, drift, bytes."""
    error = "" if math.isnan(point.error) else f", relative error {ratio(point.error)}"
    drift = "" if math.isnan(point.drift) else f", drift {point.drift:.2g}"
    return f"{error}{drift}, {size(point.bytes_up)} up, {size(point.bytes_down)} down"


def _gap(study: StudyFile, data: Gathered, found: Federation, pooled: bool) -> dict[str, Any]:
    if not pooled:
        return {}
    best = pooled_error(data.Xs, study.wishes.n_components, study.wishes.seed)
    return {"pooled_error": best, "gap_to_pooled": gap(found.relative_error, best)}


def _begun(folder: Path) -> bool:
    return reached(folder / SERVER) is not None


def _refuse_other(partial: Path, study: StudyFile, data: Gathered) -> None:
    """States of another study, or of other data, are not gone on with."""
    facts = {name: value for name, value in study.facts().items() if name not in MAY_CHANGE}
    asked, path = {**facts, **data.facts}, partial / CHECKPOINT / ASKED
    if path.exists():
        refuse_changed(partial, json.loads(path.read_text(encoding="utf-8")), asked)
        return
    with writing(path):
        path.parent.mkdir(exist_ok=True)
        write_json(path, asked)


def _may_go_on(study: StudyFile, found: Federation) -> bool:
    """Whether the rounds were used up, so that more of them may be wanted; a budget of privacy is for the rounds that were planned."""
    return study.wishes.privacy is None and bool(found.history) and found.history[-1].t >= study.wishes.last > 1


@contextmanager
def resumable(partial: Path) -> Iterator[None]:
    """Whoever is stopped here learns how to go on."""
    try:
        yield
    except (Stopped, KeyboardInterrupt) as stopped:
        how = "Stopped" if isinstance(stopped, Stopped) else "Stopped at once"
        t = reached(partial / CHECKPOINT / SERVER)
        if t is None:
            raise Stopped(f"{how}, before there was anything to keep.") from None
        raise Stopped(f"{how}; round {t} is kept. Go on with:  {screen.typed('--resume')}") from None


def _manifest(study: StudyFile, data: Gathered, threads: int) -> dict[str, Any]:
    """What was asked, of which data, with what; `settings` is what `partwise apply` goes by."""
    return {
        "command": screen.typed(),
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "seed": study.wishes.seed,
        "settings": {"n_components": study.wishes.n_components, "seed": study.wishes.seed},
        "study": study.facts(),
        "data": {"missing": "error", "negative": study.negative, **data.facts},
        "versions": machine.versions(),
        "machine": machine.machine() | {"blas": machine.blas(), "threads": threads},
    }


def tell(done: Done) -> None:
    """The table, and what one may do next."""
    found, target = done.found, screen.quoted(done.target)
    rows = [
        ("data", done.data.describe()),
        (
            "method",
            ", ".join(map(str, filter(None, (done.study.wishes.method, Hiding.of(done.study.wishes.secure_sum))))),
        ),
        ("relative error", ratio(found.relative_error)),
        ("sum of RMSD", ratio(found.rmsd_sum)),
        ("rounds", f"{count(done.facts['rounds'])} in {duration(found.seconds)}"),
        ("messages", f"{size(found.bytes_up)} up, {size(found.bytes_down)} down"),
    ]
    if not math.isnan(found.drift):
        rows.append(("drift", f"{found.drift:.3g}"))
    if "gap_to_pooled" in done.facts:
        rows.append(
            ("pooled fit", f"{ratio(done.facts['pooled_error'])}, a gap of {share(done.facts['gap_to_pooled'])}")
        )
    rows += _faults(done)
    rows += [("stopped", found.reason), ("results", f"{target}/")]
    after = [f"partwise apply {target} NEW -o W.npy", *([f"partwise audit {target}"] if found.ledger else [])]
    screen.show(f"{done.study.name} between {len(done.data.Xs)} parties", rows, after)


def _faults(done: Done) -> list[tuple[str, str]]:
    """What went wrong with whom."""
    faults = done.found.faults
    told = [fault.sentence for fault in faults[:SHOWN]]
    more = [f"… and {count(len(faults) - SHOWN)} more, in manifest.json"] if len(faults) > SHOWN else []
    return [("" if number else "faults", line) for number, line in enumerate([*told, *more])]


def tell_json(done: Done) -> None:
    """relative_error, rmsd_sum, rounds, bytes_up, bytes_down, drift, seconds, and more."""
    screen.show_json({**done.facts, "method": done.study.wishes.method, "run": str(done.target)})
