"""Letters: what goes between the server and a party, the same on every transport; and the transcript of all that went.

On a wire a letter is one safetensors blob: named arrays, and a header in its metadata. Nothing of it is ever executed.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple, final

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load, save

from partwise.currency import Arrays
from partwise.errors import RunError

SERVER = -1  # as a sender or receiver


class Letter(NamedTuple):
    """To a party, or its answer, which has the same study, kind and t."""

    study: str
    kind: str
    t: int
    party: int
    arrays: Arrays
    word: str = ""  # of a "failed" answer: the sentence why


def encode(letter: Letter) -> bytes:
    """The letter as bytes."""
    header = {"study": letter.study, "kind": letter.kind, "t": letter.t, "party": letter.party, "word": letter.word}
    arrays = {name: np.asarray(array, order="C") for name, array in letter.arrays.items()}
    return save(arrays, metadata={"letter": json.dumps(header)})


def decode(blob: bytes) -> Letter:
    """The letter that bytes hold, or a sentence: bytes from outside may be anything."""
    try:
        arrays = load(blob)
        size = int.from_bytes(blob[:8], "little")
        header = json.loads(json.loads(blob[8 : 8 + size])["__metadata__"]["letter"])
        letter = Letter(
            str(header["study"]),
            str(header["kind"]),
            int(header["t"]),
            int(header["party"]),
            arrays,
            str(header["word"]),
        )
    except (SafetensorError, ValueError, KeyError, TypeError) as error:
        raise RunError(f"{len(blob)} bytes came that are no letter of a study ({error}).") from None
    return letter


class Entry(NamedTuple):
    """One array that went."""

    t: int
    kind: str
    sender: int  # a party, or SERVER
    receiver: int
    name: str
    shape: tuple[int, ...]
    dtype: str
    bytes: int
    digest: str  # blake2b-128 of the array's bytes


@final
@dataclass
class Transcript:
    """Everything that went, in order, as the server saw it. With a path it is written down as it goes, after what is there."""

    entries: list[Entry] = field(default_factory=list)
    path: Path | None = None
    bytes_up: int = 0
    bytes_down: int = 0
    _known: dict[int, tuple[Any, str]] = field(default_factory=dict)  # what is sent to all is digested once

    def __post_init__(self) -> None:
        """A last line that was cut off by a kill goes; what was written before stays."""
        if self.path is not None and self.path.exists():
            written = self.path.read_bytes()
            self.path.write_bytes(written[: written.rfind(b"\n") + 1])

    def sent(self, letter: Letter) -> None:
        """Write down a letter from the server."""
        self._add(letter, SERVER, letter.party)

    def received(self, letter: Letter) -> None:
        """Write down a letter from a party."""
        self._add(letter, letter.party, SERVER)

    def _add(self, letter: Letter, sender: int, receiver: int) -> None:
        for name, array in letter.arrays.items():
            shape, dtype = tuple(array.shape), array.dtype.str
            entry = Entry(
                letter.t, letter.kind, sender, receiver, name, shape, dtype, array.nbytes, self._digest(array)
            )
            self._write_down(entry)
            if sender == SERVER:
                self.bytes_down += array.nbytes
            else:
                self.bytes_up += array.nbytes

    def _write_down(self, entry: Entry) -> None:
        self.entries.append(entry)
        if self.path is not None:
            try:
                with self.path.open("a") as file:
                    file.write(json.dumps(entry._asdict()) + "\n")
            except OSError as error:
                raise RunError(f"The transcript {self.path} cannot be written ({error.strerror}): nothing more is sent. Make room and "
                               "go on.") from None  # fmt: skip

    def _digest(self, array: Any) -> str:
        known = self._known.get(id(array))
        if known is not None and known[0] is array:
            return known[1]
        digest = blake2b(np.ascontiguousarray(array).tobytes(), digest_size=16).hexdigest()
        if len(self._known) > 64:
            self._known.clear()
        self._known[id(array)] = (array, digest)
        return digest
