"""Checkpoints: whole or absent, verified when read, enough to go on bit for bit.

checkpoint/state-000120.safetensors          every array of the state; of a run on ranks one file for each:
checkpoint/state-000120.0-of-4.safetensors   what rank 0 holds
checkpoint/checkpoint.json                   written last, by rename, by rank 0: iteration, scalars, trace, what the run was, the
                                             digests of the above and whose part each of them is
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, final

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load_file, save_file

from partwise.comm import OWN
from partwise.currency import State
from partwise.drivers.checkpoint_parts import Arrays, Part, Stored, put_together, recut, take_apart, whole
from partwise.drivers.trace import Point, Trace
from partwise.errors import RunError
from partwise.protocols import Comm

SCHEMA = 2
INDEX = "checkpoint.json"
HALF_A_MINUTE = 30.0
FIELDS = {
    "iteration": int,
    "parts": list,
    "identity": dict,
    "scalars": dict,
    "scale": (int, float),
    "trace": list,
}


class Restored(NamedTuple):
    """What a checkpoint gives back."""

    state: State
    trace: Trace


def save(
    folder: Path, state: State, trace: Trace, identity: Mapping[str, Any], comm: Comm = OWN, part: Part | None = None
) -> None:
    """Write a checkpoint; the previous one stays until this one is whole. On ranks a collective call, each with its part."""
    try:
        _save(folder, state, trace, identity, comm, part or whole(state))
    except (OSError, SafetensorError) as error:  # safetensors has its own words for a full disk
        kept = _tidy(folder) if comm.size == 1 else _held(folder)
        before = "The one before it is intact: make room and resume." if kept else "There is none before it: make room."
        raise RunError(
            f"The checkpoint of iteration {trace.last.t} could not be written to {folder}: {error}. {before}"
        ) from None


def _save(folder: Path, state: State, trace: Trace, identity: Mapping[str, Any], comm: Comm, part: Part) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    arrays, scalars = take_apart(state)
    name = _name(trace.last.t, comm.rank, comm.size)
    temporary = folder / f".{name}.tmp"
    save_file({key: np.ascontiguousarray(array) for key, array in arrays.items()}, temporary)
    _settle(temporary, folder / name)
    parts = _told(comm, trace.last.t, file_digest(folder / name), part)  # all are here: every file is whole
    if comm.rank == 0:
        index = {
            "schema": SCHEMA, "iteration": trace.last.t, "parts": parts, "identity": dict(identity), "scalars": scalars,
            "scale": trace.scale, "trace": [list(point) for point in trace.points],
        }  # fmt: skip
        temporary = folder / f".{INDEX}.tmp"
        temporary.write_text(json.dumps(index))
        _settle(temporary, folder / INDEX)
        _tidy(folder)
    comm.barrier()  # nobody begins the next one before this one counts


def _name(t: int, rank: int, size: int) -> str:
    return f"state-{t:06d}{'' if size == 1 else f'.{rank}-of-{size}'}.safetensors"


def _told(comm: Comm, t: int, digest: str, part: Part) -> list[dict[str, Any]]:
    """What the index says of every rank's file."""
    ones = [1] * comm.size
    digests = comm.gather(np.frombuffer(bytes.fromhex(digest), np.uint8)[:, None], ones)
    places = comm.gather(np.array(part.numbers, np.int64)[:, None], ones)
    return [
        {"file": _name(t, rank, comm.size), "sha256": digests[:, rank].tobytes().hex(), "W": w, "H": h}
        for rank, (*w, h0, h1) in enumerate(places.T.tolist())
        for h in [[h0, h1]]
    ]


def _held(folder: Path) -> set[str]:
    """The names of the states that belong to the whole checkpoint in the folder."""
    return {stored.file for stored in _files(_index(folder))} if exists(folder) else set()


def _tidy(folder: Path) -> set[str]:
    """Remove what does not belong to the whole checkpoint in the folder; the names of the states that do."""
    kept = _held(folder)
    for left in (*folder.glob("state-*.safetensors"), *folder.glob(".*.tmp")):
        if left.name not in kept:
            left.unlink(missing_ok=True)
    return kept


def load(folder: Path, identity: Mapping[str, Any], rank: int = 0, part: Part | None = None) -> Restored:
    """Read a checkpoint back, after checking that it is whole and that it is of this very problem.

    A rank says which part of the factors is its own (None: all): the same bits where the checkpoint was cut alike, else the same
    numbers cut anew.
    """
    index = _index(folder)
    _check_identity(folder, index["identity"], identity)
    arrays = recut(part, rank, _files(index), lambda stored: _read(folder, stored))
    trace = Trace(index["scale"], [Point(*point) for point in index["trace"]])
    return Restored(put_together(arrays, index["scalars"]), trace)


def _files(index: Mapping[str, Any]) -> list[Stored]:
    return [Stored(p["file"], p["sha256"], Part(slice(*p["W"]), slice(*p["H"]))) for p in index["parts"]]


def _read(folder: Path, stored: Stored) -> Arrays:
    path = folder / stored.file
    if not path.exists() or file_digest(path) != stored.sha256:
        raise RunError(
            f"{path} is missing or damaged (its digest is not the one written down); remove {folder} and start again."
        )
    try:
        return load_file(path)
    except SafetensorError as error:
        raise RunError(f"{path} cannot be read ({error}); remove {folder} and start again.") from None


def exists(folder: Path) -> bool:
    """Whether there is a whole checkpoint."""
    return (folder / INDEX).exists()


def iteration(folder: Path) -> int | None:
    """The iteration of the checkpoint, if there is one."""
    return _index(folder)["iteration"] if exists(folder) else None


def kept(folder: Path) -> Mapping[str, Any] | None:
    """What run the checkpoint is of, if there is one."""
    return _index(folder)["identity"] if exists(folder) else None


def _index(folder: Path) -> dict[str, Any]:
    try:
        index = json.loads((folder / INDEX).read_text())
    except FileNotFoundError:
        raise RunError(f"{folder} holds no checkpoint ({INDEX} is not there), so there is nothing to resume.") from None
    except (ValueError, OSError) as error:
        raise RunError(f"{folder / INDEX} cannot be read ({error}); remove {folder} and start again.") from None
    if not isinstance(index, dict):
        raise RunError(f"{folder / INDEX} is not a checkpoint's index; remove {folder} and start again.")
    if index.get("schema") != SCHEMA:
        raise RunError(f"{folder / INDEX} has schema {index.get('schema')!r}; this version reads {SCHEMA}: resume with the version "
                       "that wrote it, or start again.")  # fmt: skip
    damaged = [name for name, kind in FIELDS.items() if not isinstance(index.get(name), kind)]
    if not damaged and not (index["parts"] and all(map(_is_part, index["parts"]))):
        damaged = ["parts"]
    if damaged:
        raise RunError(f"{folder / INDEX} is damaged (see {', '.join(damaged)}); remove {folder} and start again.")
    return index


def _is_part(told: Any) -> bool:
    """Whether the index says a file of this folder, its digest, and two ranges."""
    if not isinstance(told, dict) or not all(isinstance(told.get(name), str) for name in ("file", "sha256")):
        return False
    ranges = [told.get("W"), told.get("H")]
    fit = (isinstance(r, list) and len(r) == 2 and all(isinstance(end, int) for end in r) for r in ranges)
    return Path(told["file"]).name == told["file"] and all(fit)


def _check_identity(folder: Path, held: Mapping[str, Any], asked: Mapping[str, Any]) -> None:
    differing = [key for key in sorted(set(held) | set(asked)) if held.get(key) != asked.get(key)]
    if differing:
        differences = "; ".join(f"{key} was {held.get(key)!r} and is now {asked.get(key)!r}" for key in differing)
        raise RunError(
            f"The checkpoint in {folder} is of another run: {differences}. Resume with the same data and options."
        )


@final
@dataclass
class Checkpointer:
    """An observer that saves every so many iterations, or seconds, if told so, else every half minute; and when it is urgent.

    Where nothing was told and saving takes long it is done more seldom, so that it costs a twentieth of the time at most. On ranks all
    decide alike: the trace's clock is rank 0's, and so is the time that saving took.
    """

    folder: Path
    identity: Mapping[str, Any]
    every: int | None = None
    urgent: Callable[[], bool] = lambda: False  # asked after every iteration, first of all: save now?
    seconds: float | None = None
    saved: float = 0.0  # the trace's seconds at the last save
    took: float = 0.0  # seconds it took
    comm: Comm = OWN
    part: Part | None = None  # of the factors, that this rank holds; None: all

    def __call__(self, state: State, trace: Trace) -> None:
        if self.every is not None:
            due = trace.last.t % self.every == 0
        else:
            pause = max(HALF_A_MINUTE, 20 * self.took) if self.seconds is None else self.seconds
            due = trace.last.seconds - self.saved >= pause
        if self.urgent() or due:
            self.save(state, trace)

    def save(self, state: State, trace: Trace) -> None:
        """Save now."""
        began = time.perf_counter()
        save(self.folder, state, trace, self.identity, self.comm, self.part)
        took = self.comm.broadcast(np.array([time.perf_counter() - began]))
        self.saved, self.took = trace.last.seconds, float(took[0])


def file_digest(path: Path) -> str:
    """sha256 of a file's bytes."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _settle(temporary: Path, final: Path) -> None:
    """Make sure of the bytes, then give the file its name."""
    with temporary.open("rb+") as file:
        os.fsync(file.fileno())
    temporary.replace(final)
