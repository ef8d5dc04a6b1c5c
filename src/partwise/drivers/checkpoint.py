"""Checkpoints: whole or absent, verified when read, enough to go on bit for bit.

checkpoint/state-000120.safetensors   every array of the state
checkpoint/checkpoint.json            written last, by rename: iteration, scalars, trace, what the run was, the digest of the above
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

from partwise.currency import State
from partwise.drivers.trace import Point, Trace
from partwise.errors import RunError

SCHEMA = 1
INDEX = "checkpoint.json"
FIELDS = {
    "iteration": int,
    "state": str,
    "sha256": str,
    "identity": dict,
    "scalars": dict,
    "scale": (int, float),
    "trace": list,
}


class Restored(NamedTuple):
    """What a checkpoint gives back."""

    state: State
    trace: Trace


def save(folder: Path, state: State, trace: Trace, identity: Mapping[str, Any]) -> None:
    """Write a checkpoint; the previous one stays until this one is whole."""
    try:
        _save(folder, state, trace, identity)
    except (OSError, SafetensorError) as error:  # safetensors has its own words for a full disk
        kept = _tidy(folder)
        before = "The one before it is intact: make room and resume." if kept else "There is none before it: make room."
        raise RunError(
            f"The checkpoint of iteration {trace.last.t} could not be written to {folder}: {error}. {before}"
        ) from None


def _save(folder: Path, state: State, trace: Trace, identity: Mapping[str, Any]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    arrays, scalars = _take_apart(state)
    name = f"state-{trace.last.t:06d}.safetensors"
    temporary = folder / f".{name}.tmp"
    save_file({key: np.ascontiguousarray(array) for key, array in arrays.items()}, temporary)
    _settle(temporary, folder / name)
    index = {
        "schema": SCHEMA, "iteration": trace.last.t, "state": name, "sha256": file_digest(folder / name),
        "identity": dict(identity), "scalars": scalars, "scale": trace.scale, "trace": [list(p) for p in trace.points],
    }  # fmt: skip
    temporary = folder / f".{INDEX}.tmp"
    temporary.write_text(json.dumps(index))
    _settle(temporary, folder / INDEX)
    _tidy(folder)


def _tidy(folder: Path) -> str | None:
    """Remove what does not belong to the whole checkpoint in the folder; the name of the state that does."""
    kept = _index(folder)["state"] if exists(folder) else None
    for left in (*folder.glob("state-*.safetensors"), *folder.glob(".*.tmp")):
        if left.name != kept:
            left.unlink(missing_ok=True)
    return kept


def load(folder: Path, identity: Mapping[str, Any]) -> Restored:
    """Read a checkpoint back, after checking that it is whole and that it is of this very problem."""
    index = _index(folder)
    _check_identity(folder, index["identity"], identity)
    path = folder / index["state"]
    if not path.exists() or file_digest(path) != index["sha256"]:
        raise RunError(
            f"{path} is missing or damaged (its digest is not the one written down); remove {folder} and start again."
        )
    try:
        arrays = load_file(path)
    except SafetensorError as error:
        raise RunError(f"{path} cannot be read ({error}); remove {folder} and start again.") from None
    trace = Trace(index["scale"], [Point(*point) for point in index["trace"]])
    return Restored(_put_together(arrays, index["scalars"]), trace)


def exists(folder: Path) -> bool:
    """Whether there is a whole checkpoint."""
    return (folder / INDEX).exists()


def iteration(folder: Path) -> int | None:
    """The iteration of the checkpoint, if there is one."""
    return _index(folder)["iteration"] if exists(folder) else None


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
    if damaged:
        raise RunError(f"{folder / INDEX} is damaged (see {', '.join(damaged)}); remove {folder} and start again.")
    return index


def _check_identity(folder: Path, held: Mapping[str, Any], asked: Mapping[str, Any]) -> None:
    differing = [key for key in sorted(set(held) | set(asked)) if held.get(key) != asked.get(key)]
    if differing:
        differences = "; ".join(f"{key} was {held.get(key)!r} and is now {asked.get(key)!r}" for key in differing)
        raise RunError(
            f"The checkpoint in {folder} is of another run: {differences}. Resume with the same data and options."
        )


def _take_apart(state: State) -> tuple[dict[str, np.ndarray], dict[str, float]]:
    arrays: dict[str, np.ndarray] = {"Wt": state.Wt, "H": state.H}
    arrays |= {f"carry_W.{i}": part for i, part in enumerate(state.carry_W)}
    arrays |= {f"carry_H.{i}": part for i, part in enumerate(state.carry_H)}
    scalars = {"loss": state.loss, "penalty": state.penalty, "violation": state.violation}
    for key, value in state.memory.items():
        (arrays if isinstance(value, np.ndarray) else scalars)[f"memory.{key}"] = value  # type: ignore[index]
    return arrays, {key: float(value) for key, value in scalars.items()}


def _put_together(arrays: dict[str, np.ndarray], scalars: dict[str, float]) -> State:
    def carry(side: str) -> tuple[np.ndarray, ...]:
        count = sum(key.startswith(f"carry_{side}.") for key in arrays)
        return tuple(arrays[f"carry_{side}.{i}"] for i in range(count))

    memory = {
        key.removeprefix("memory."): value for key, value in (arrays | scalars).items() if key.startswith("memory.")
    }
    return State(
        arrays["Wt"],
        arrays["H"],
        scalars["loss"],
        scalars["penalty"],
        scalars["violation"],
        carry("W"),
        carry("H"),
        memory,
    )


@final
@dataclass
class Checkpointer:
    """An observer that saves every so many iterations if told so, else every half minute; and when it is urgent.

    Where saving takes long it is done more seldom, so that it costs a twentieth of the time at most.
    """

    folder: Path
    identity: Mapping[str, Any]
    every: int | None = None
    urgent: Callable[[], bool] = lambda: False  # asked after every iteration, first of all: save now?
    seconds: float = 30.0
    saved: float = 0.0  # the trace's seconds at the last save
    took: float = 0.0  # seconds it took

    def __call__(self, state: State, trace: Trace) -> None:
        if self.every is not None:
            due = trace.last.t % self.every == 0
        else:
            due = trace.last.seconds - self.saved >= max(self.seconds, 20 * self.took)
        if self.urgent() or due:
            self.save(state, trace)

    def save(self, state: State, trace: Trace) -> None:
        """Save now."""
        began = time.perf_counter()
        save(self.folder, state, trace, self.identity)
        self.saved, self.took = trace.last.seconds, time.perf_counter() - began


def file_digest(path: Path) -> str:
    """sha256 of a file's bytes."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _settle(temporary: Path, final: Path) -> None:
    """Make sure of the bytes, then give the file its name."""
    with temporary.open("rb+") as file:
        os.fsync(file.fileno())
    temporary.replace(final)
