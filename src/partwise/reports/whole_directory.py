"""Directories that are whole or absent: made under another name, and renamed when all is in them."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from partwise.errors import OptionError, RunError
from partwise.reports.lock import LOCK, alone, refuse_if_busy

Ours = Callable[[Path], bool]  # whether a directory is one of those that we may replace


def partial_of(target: Path) -> Path:
    """Where a directory is before it is whole."""
    if target.name in ("", ".."):
        raise OptionError(
            f"{target} cannot be the name of a directory to make; give it a name of its own, as in -o run."
        )
    return target.with_name(target.name + ".partial")


def occupied(target: Path) -> bool:
    """An empty directory does not count: somebody made it to be filled."""
    return target.is_symlink() or target.is_file() or (target.is_dir() and any(target.iterdir()))


def refuse_occupied(target: Path, ours: Ours, *, kind: str, force: bool) -> None:
    """What is not ours stays; what is goes only if that was said."""
    if occupied(target) and not ours(target):
        raise OptionError(f"{target} exists and is not {kind} of partwise: it stays. Choose another name with -o.")
    if occupied(target) and not force:
        raise OptionError(f"{target} exists already. Choose another name with -o, or replace it with --force.")


@contextmanager
def making(target: Path, ours: Ours, *, kind: str, force: bool) -> Iterator[Path]:
    """An empty directory to fill, which gets its name at the end; a failure leaves nothing. What a killed process left is removed."""
    partial = partial_of(target)
    refuse_if_busy(partial)
    refuse_occupied(target, ours, kind=kind, force=force)
    with writing(partial):
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir(parents=True)
    try:
        with alone(partial), writing(partial):
            yield partial
        rename(partial, target, ours, replace=force)
    except BaseException:
        shutil.rmtree(partial, ignore_errors=True)
        raise


def rename(partial: Path, target: Path, ours: Ours, *, replace: bool) -> None:
    """Give the complete directory its name; what had the name goes only then."""
    with writing(target):
        (partial / LOCK).unlink(missing_ok=True)
        if not occupied(target):
            with suppress(FileNotFoundError):
                target.rmdir()
            partial.rename(target)
            return
        if not (replace and ours(target)):
            raise RunError(f"{target} came into being meanwhile; what was made is in {partial}: rename it yourself.")
        before = target.with_name(f"{target.name}.replaced-{os.getpid()}")
        target.rename(before)
        partial.rename(target)
        shutil.rmtree(before, ignore_errors=True)


def refuse_changed(partial: Path, known: Mapping[str, Any], asked: Mapping[str, Any]) -> None:
    """What was begun with some wishes is not gone on with for others."""
    now = json.loads(json.dumps(asked))
    changed = sorted(name for name in {*known, *now} if known.get(name) != now.get(name))
    if changed:
        told = ", ".join(f"{name} ({known.get(name)} then, {now.get(name)} now)" for name in changed)
        raise OptionError(f"{partial} holds results with other {told}. Ask for the same, or start over by --force.")


@contextmanager
def writing(folder: Path) -> Iterator[None]:
    """A disk that is full, read-only or gone becomes a sentence."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or str(error)
        raise RunError(
            f"{error.filename or folder} could not be written: {reason}. Nothing half-written was kept."
        ) from None
