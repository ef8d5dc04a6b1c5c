"""What a party, or the server, keeps between rounds: in memory, or on disk so that a study can go on after an interruption.

    folder/state-000012.safetensors    every array, and in its metadata study, round and facts; written elsewhere, then renamed

The state before it stays until the new one is whole.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, final

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

from partwise.currency import Arrays
from partwise.errors import RunError


def reached(folder: Path) -> int | None:
    """The round after which the state in a folder was kept, if there is one."""
    rounds = sorted(folder.glob("state-*.safetensors"))
    return int(rounds[-1].stem.removeprefix("state-")) if rounds else None


class Kept(NamedTuple):
    """State after round t, by groups of named arrays, and what belongs to it."""

    t: int
    groups: Mapping[str, Arrays]
    facts: Mapping[str, Any] = {}


@final
@dataclass
class Vault:
    """Keyed by study and round. Without a folder everything stays in memory."""

    study: str
    folder: Path | None = None
    durable: bool = (
        True  # what is kept outlasts the machine's loss of power, not only the process; costs a wait for the disk
    )
    _held: Kept | None = field(default=None, repr=False)

    def keep(self, kept: Kept) -> None:
        """Replace what is kept."""
        self._held = kept
        if self.folder is not None:
            try:
                self._write(self.folder, kept)
            except (OSError, SafetensorError) as error:
                raise RunError(f"Round {kept.t} of study {self.study!r} could not be kept in {self.folder}: {error}. What was kept "
                               "before is intact: make room and go on.") from None  # fmt: skip

    def kept(self) -> Kept | None:
        """What is kept, if anything is."""
        if self._held is None and self.folder is not None:
            self._held = self._read(self.folder)
        return self._held

    def _write(self, folder: Path, kept: Kept) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"state-{max(kept.t, 0):06d}.safetensors"
        temporary = folder / f".{path.name}.tmp"
        arrays = {
            f"{group}/{name}": np.asarray(a, order="C")  # ascontiguousarray would make single numbers into vectors
            for group, part in kept.groups.items()
            for name, a in part.items()
        }
        about = {"study": self.study, "t": kept.t, "groups": sorted(kept.groups), "facts": dict(kept.facts)}
        save_file(arrays, temporary, metadata={"kept": json.dumps(about)})
        if self.durable:
            with temporary.open("rb+") as file:
                os.fsync(file.fileno())
        temporary.replace(path)
        for old in folder.glob("state-*.safetensors"):
            if old != path:
                old.unlink(missing_ok=True)

    def _read(self, folder: Path) -> Kept | None:
        paths = sorted(folder.glob("state-*.safetensors"))
        if not paths:
            return None
        path = paths[-1]
        try:
            with safe_open(path, framework="numpy") as file:
                about = json.loads(file.metadata()["kept"])
                arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (no mapping)
            groups: dict[str, dict[str, Any]] = {group: {} for group in about["groups"]}
            for key, array in arrays.items():
                group, name = key.split("/", 1)
                groups[group][name] = array
            kept, study = Kept(int(about["t"]), groups, about["facts"]), about["study"]
        except (SafetensorError, OSError, ValueError, KeyError, TypeError) as error:
            raise RunError(f"{path} cannot be read ({error}); remove it to start the study again.") from None
        if study != self.study:
            raise RunError(f"{folder} holds the state of study {study!r}, not of {self.study!r}; name another folder.")
        return kept
