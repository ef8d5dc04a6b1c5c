"""What `partwise fit` does, step by step."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from rich.console import Console
from rich.text import Text

from partwise.cli import screen, sources
from partwise.cli.failures import Stopped
from partwise.cli.interrupts import Interrupts
from partwise.cli.progress import watching
from partwise.cli.wishes import Pace
from partwise.drivers import checkpoint
from partwise.estimators.factorize import Factorization, Keep, Prepared, prepare, run
from partwise.estimators.on_ranks import Share
from partwise.estimators.settings import Settings
from partwise.kernels.threads import threads as limited
from partwise.reports import machine
from partwise.reports.run_contents import write_contents
from partwise.reports.run_directory import CHECKPOINT, claimed, publish


class Wanted(NamedTuple):
    """The data, as asked for."""

    data: str
    key: str | None
    missing: str
    negative: str
    dtype: str | None


class Place(NamedTuple):
    """Where the run goes, and what may be there already."""

    target: Path
    every: Pace  # between checkpoints
    force: bool
    resume: bool

    def keep(self, partial: Path, data: Mapping[str, Any], stop: Interrupts) -> Keep:
        """Checkpoints in the partial directory, of these data alone."""
        same = {f"data.{fact}": data[fact] for fact in ("sha256", "key", "missing", "negative")}
        folder, (every, seconds) = partial / CHECKPOINT, self.every
        return Keep(folder, every, self.resume, same, stop.urgent, seconds)


class Done(NamedTuple):
    """A run that is whole."""

    source: sources.Source | sources.OnRanks
    settings: Settings
    fit: Factorization | Share
    target: Path


def fit(wanted: Wanted, settings: Settings, place: Place, *, threads: int | None, quiet: bool) -> Done:
    """Claim the place, read, fit, write, publish."""
    target, _, force, resume = place
    console = screen.to_stderr()
    with screen.Notes(console), limited(threads) as used, claimed(target, force=force, resume=resume) as partial:
        source = sources.load(wanted.data, wanted.key, wanted.missing, wanted.negative, wanted.dtype)
        prepared = prepare(source.X, settings)
        if not quiet:
            console.print(Text(f"{source.name}: {source.describe()}"), soft_wrap=True)
        facts = manifest(source, settings, used)
        with resumable(partial):
            result = _run(prepared, partial, place, facts["data"], console, quiet)
            write_contents(partial, result, facts, source.table.feature_names, source.table.row_names)
        publish(partial, target, keep_checkpoint=not result.reason.converged, replace=force or resume)
    return Done(source, settings, result, target)


def _run(
    prepared: Prepared, partial: Path, place: Place, data: dict[str, Any], console: Console, quiet: bool
) -> Factorization:
    """The loop, watched, and open to being stopped."""
    with watching(console, prepared.settings.max_iter, quiet=quiet) as watch, Interrupts(watch.say) as stop:
        keep = place.keep(partial, data, stop)
        return run(prepared, keep=keep, observers=[watch, stop])


@contextmanager
def resumable(partial: Path) -> Iterator[None]:
    """Whoever is stopped here learns how to go on."""
    try:
        yield
    except (Stopped, KeyboardInterrupt) as stopped:
        reached = checkpoint.iteration(partial / CHECKPOINT)
        how = "Stopped" if isinstance(stopped, Stopped) else "Stopped at once"
        if reached is None:
            raise Stopped(f"{how}, before there was anything to keep.") from None
        raise Stopped(f"{how}; iteration {reached} is kept. Go on with:  {screen.typed('--resume')}") from None


def manifest(source: sources.Source | sources.OnRanks, settings: Settings, threads: int) -> dict[str, Any]:
    """What the manifest says before the run: what was asked, of which data, with what."""
    wishes = {f.name: getattr(settings, f.name) for f in fields(settings) if f.name != "fixed_components"}
    return {
        "command": screen.typed(),
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "seed": settings.seed,
        "settings": wishes,
        "data": source.facts(),
        "versions": machine.versions(),
        "machine": machine.machine() | {"blas": machine.blas(), "threads": threads},
    }
