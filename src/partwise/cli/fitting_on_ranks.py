"""What `partwise fit` does on the ranks of a job, step by step: rank 0 has the run directory and the word, each its part of the rest."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from rich.console import Console
from rich.text import Text

from partwise.cli import screen, sources
from partwise.cli.cores import crowded
from partwise.cli.fitting import Done, Place, Wanted, manifest, resumable
from partwise.cli.interrupts import Interrupts
from partwise.cli.progress import watching
from partwise.comm import Network, job
from partwise.drivers import checkpoint
from partwise.drivers.agreement import agree, all_or_none, anyone, text_of
from partwise.errors import OptionError, RunError
from partwise.estimators.on_ranks import Share, run
from partwise.estimators.preparing import Prepared, prepare
from partwise.estimators.settings import Settings
from partwise.kernels.threads import threads as limited
from partwise.protocols import Comm
from partwise.reports.quantities import counted
from partwise.reports.run_contents import write_shares
from partwise.reports.run_directory import CHECKPOINT, claimed, publish
from partwise.reports.whole_directory import partial_of


class How(NamedTuple):
    """What is only asked on ranks."""

    algorithm: str
    grid: tuple[int, int] | None
    deterministic: bool
    network: Network | None = None  # what auto reckons with


def fit(wanted: Wanted, settings: Settings, place: Place, how: How, *, threads: int | None, quiet: bool) -> Done:
    """Claim the place, open X, read each its part, fit, write each its part, publish."""
    if settings.solver != "auto":
        raise OptionError(f"--solver {settings.solver} is for one process; on ranks say --algorithm NAME.")
    comm = job(deterministic=how.deterministic)
    with (
        _voice(comm) as console, limited(threads or (1 if comm.size > 1 else None)) as used, _claimed(place, comm) as partial,
    ):  # fmt: skip
        source = sources.by_parts(*wanted, comm)
        agree(comm, {"command": screen.typed(), "threads": used})
        with all_or_none(comm):
            how, settings = _as_before(how, settings, place, partial)
        prepared = prepare(source.X, settings, how.algorithm, how.grid, comm, how.network)
        _announce(console, source, prepared, used, quiet=quiet)
        facts = json.loads(text_of(comm, json.dumps(_told(source, settings, used, comm))))
        with resumable(partial):
            share = _run(prepared, partial, place, facts["data"], console, quiet=quiet)
            write_shares(partial, share, {**facts, "cluster": _facts(prepared, how)}, source.X.names, comm)
        with all_or_none(comm):
            if comm.rank == 0:
                publish(
                    partial,
                    place.target,
                    keep_checkpoint=not share.reason.converged,
                    replace=place.force or place.resume,
                )
    return Done(source, settings, share, place.target)


def _as_before(how: How, settings: Settings, place: Place, partial: Path) -> tuple[How, Settings]:
    """A run that goes on keeps the algorithm that auto took, whatever it would take for as many ranks as there are now."""
    held = checkpoint.kept(partial / CHECKPOINT) if place.resume and how.algorithm == "auto" else None
    if held is None or "algorithm" not in held:
        return how, settings
    options = {**held.get("options", {}), **settings.options}
    return how._replace(algorithm=held["algorithm"], network=None), replace(settings, options=options)


def _told(source: sources.OnRanks, settings: Settings, threads: int, comm: Comm) -> dict[str, Any]:
    """Rank 0 speaks for all in the manifest."""
    return manifest(source, settings, threads) if comm.rank == 0 else {}


@contextmanager
def _voice(comm: Comm) -> Iterator[Console]:
    """Rank 0's console; what the others have to say is said by it."""
    console = screen.to_stderr() if comm.rank == 0 else Console(stderr=True, quiet=True)
    with screen.Notes(console):
        yield console


@contextmanager
def _claimed(place: Place, comm: Comm) -> Iterator[Path]:
    """The partial directory, which rank 0 makes and all must see."""
    partial = partial_of(place.target)
    with ExitStack() as until_the_end:
        with all_or_none(comm):
            if comm.rank == 0:
                until_the_end.enter_context(claimed(place.target, force=place.force, resume=place.resume))
        with all_or_none(comm):
            if not partial.is_dir():
                raise RunError(f"{partial}, which rank 0 has made, is not there for this rank. -o must name a place on a file system "
                               "that all ranks share.")  # fmt: skip
        yield partial


def _announce(console: Console, source: sources.OnRanks, prepared: Prepared, threads: int, *, quiet: bool) -> None:
    """What is about to be done, and by how many. A collective call."""
    warning = crowded(prepared.comm, threads)
    if warning is not None:
        console.print(Text(warning, style="yellow"), soft_wrap=True)
    if not quiet:
        choice = prepared.choice
        why = "" if choice.why == "as asked" else f" ({choice.why})"
        on = f"{choice.solver} on {counted(prepared.comm.size, 'rank')}{why}"
        console.print(Text(f"{source.name}: {source.describe()}; {on}"), soft_wrap=True)


def _run(
    prepared: Prepared, partial: Path, place: Place, data: dict[str, Any], console: Console, *, quiet: bool
) -> Share:
    """The loop, watched by rank 0, and open to being stopped on any of them."""
    comm = prepared.comm
    with (
        watching(console, prepared.settings.max_iter, quiet=quiet or comm.rank != 0) as watch,
        Interrupts(watch.say, lambda asked: anyone(comm, asked)) as stop,
    ):
        return run(prepared, keep=place.keep(partial, data, stop), observers=[watch, stop])


def _facts(prepared: Prepared, how: How) -> dict[str, Any]:
    """For the manifest."""
    cut = prepared.method.layout
    return {"ranks": cut.ranks, "layout": cut.kind, "grid": list(cut.grid), "deterministic": how.deterministic}
