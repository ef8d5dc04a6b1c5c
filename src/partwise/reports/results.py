"""A directory of results (tables, figures, a manifest): whole or absent, filled run by run, and gone on with after an interruption.

Until the end it is called `NAME.partial`; what is in there by then is kept, whatever happens, for --resume.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from partwise.drivers.checkpoint import file_digest
from partwise.errors import OptionError, RunError
from partwise.reports import machine
from partwise.reports.lock import LOCK, alone, refuse_if_busy
from partwise.reports.run_directory import MANIFEST, partial_of, write_json, writing
from partwise.reports.whole_directory import refuse_changed

SCHEMA = 1
ASKED = "asked.json"  # in the partial directory: what its results are results of


@contextmanager
def filling(
    target: Path, kind: str, asked: Mapping[str, Any], *, force: bool = False, resume: bool = False
) -> Iterator[Path]:
    """The partial directory to work in; it becomes `target` at the end, and stays as it is if something fails before."""
    partial = partial_of(target)
    refuse_if_busy(partial)
    _prepare(target, partial, kind, dict(asked), force, resume)
    with alone(partial):
        yield partial
        with writing(target):
            (partial / LOCK).unlink(missing_ok=True)
            (partial / ASKED).unlink()
            if target.exists():
                shutil.rmtree(target)
            partial.rename(target)


def is_results(folder: Path, kind: str) -> bool:
    """Whether a directory holds results of this kind, whole."""
    try:
        return json.loads((folder / MANIFEST).read_text(encoding="utf-8")).get("kind") == kind
    except (OSError, ValueError, AttributeError):
        return False


def _prepare(target: Path, partial: Path, kind: str, asked: dict[str, Any], force: bool, resume: bool) -> None:
    if force and resume:
        raise OptionError("--force starts over and --resume goes on: give one of them.")
    occupied = target.is_symlink() or target.is_file() or (target.is_dir() and any(target.iterdir()))
    if occupied and not is_results(target, kind):
        raise OptionError(f"{target} exists and is not a {kind} of partwise: it stays. Choose another name with -o.")
    if occupied and not force:
        raise OptionError(f"{target} exists already. Choose another name with -o, or replace it with --force.")
    begun = (partial / ASKED).exists()
    if resume and not begun:
        raise RunError(f"There is nothing to resume: {partial} does not exist. Leave --resume out.")
    if begun and not (resume or force):
        raise OptionError(
            f"{partial} holds the results of an interrupted call. Go on with them by --resume, or start over by --force."
        )
    if resume:
        _same(partial, asked)
        return
    with writing(partial):
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir(parents=True)
        with suppress(FileNotFoundError, OSError):
            target.rmdir()  # an empty directory that was made to be filled
        write_json(partial / ASKED, asked)


def _same(partial: Path, asked: dict[str, Any]) -> None:
    """Results of different wishes are never mixed."""
    refuse_changed(partial, json.loads((partial / ASKED).read_text(encoding="utf-8")), asked)


def write_manifest(folder: Path, kind: str, facts: Mapping[str, Any]) -> dict[str, Any]:
    """The last file: what was asked, with what it was made, and digests of all the others."""
    with writing(folder):
        files = sorted(path for path in folder.iterdir() if path.is_file() and path.name not in (LOCK, ASKED, MANIFEST))
        digests = {path.name: {"sha256": file_digest(path), "bytes": path.stat().st_size} for path in files}
        manifest = {"kind": kind, "schema": SCHEMA, **facts, "files": digests}
        write_json(folder / MANIFEST, manifest)
    return manifest


def made_with(threads: int) -> dict[str, Any]:
    """When, with which versions, on which machine."""
    return {
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "versions": machine.versions(),
        "machine": machine.machine() | {"blas": machine.blas(), "threads": threads},
    }
