"""Lines of JSON that can only be appended: each holds the digest of all before it, and is on the disk before one goes on.

A changed, dropped or reordered line breaks the chain. Whoever can rewrite the whole file can make a new chain, and a tail can be
cut off: so the last digest (`head`) is to be kept elsewhere, as a run's manifest does.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple, final

from partwise.errors import RunError

try:
    import fcntl
except ImportError:  # Windows: there the size of the file alone tells of another writer
    fcntl = None

START = "0" * 64  # what the first line follows
LINE, PREVIOUS, DIGEST = "line", "previous", "digest"
Entry = Mapping[str, Any]


class Found(NamedTuple):
    """What a file held."""

    entries: list[dict[str, Any]]  # up to where the chain breaks
    broken: str | None  # where and how it breaks
    torn: bytes  # a last line without its end: the writer was interrupted, and the line does not count
    size: int  # bytes before the torn line


def digest_of(entry: Entry) -> str:
    """SHA-256 of an entry's canonical JSON, its own digest left out."""
    said = {key: value for key, value in entry.items() if key != DIGEST}
    return hashlib.sha256(_text(said).encode()).hexdigest()


def _text(entry: Entry) -> str:
    return json.dumps(entry, ensure_ascii=False, allow_nan=False, separators=(",", ":"), sort_keys=True)


def read(content: bytes) -> Found:
    """Check a chain from its beginning."""
    whole, _, torn = content.rpartition(b"\n")
    entries: list[dict[str, Any]] = []
    previous = START
    for number, raw in enumerate(whole.split(b"\n") if whole else []):
        entry, fault = _parsed(raw, number, previous)
        if entry is None:
            return Found(entries, fault, torn, len(content) - len(torn))
        entries.append(entry)
        previous = entry[DIGEST]
    return Found(entries, None, torn, len(content) - len(torn))


def _parsed(raw: bytes, number: int, previous: str) -> tuple[dict[str, Any] | None, str]:
    here = f"line {number + 1}"
    try:
        entry = json.loads(raw, parse_constant=_no_number)
    except (ValueError, RecursionError):
        return None, f"{here} is not JSON"
    if not isinstance(entry, dict) or not {LINE, PREVIOUS, DIGEST} <= set(entry):
        return None, f"{here} is not a link of the chain: it lacks its number, its digest or the one before"
    if not _unchanged(entry, raw):
        return None, f"{here} was changed after it was written: its digest is not that of its content"
    if entry[LINE] != number or entry[PREVIOUS] != previous:
        return None, f"{here} does not follow the line before it: lines were dropped, reordered or put in"
    return entry, ""


def _unchanged(entry: Entry, raw: bytes) -> bool:
    try:
        return digest_of(entry) == entry[DIGEST] and _text(entry).encode() == raw
    except ValueError:  # numbers beyond a float's range, halves of surrogate pairs
        return False


def _no_number(name: str) -> None:
    raise ValueError(name)


@final
class Chain:
    """An open chain. Without a path it is kept in memory only."""

    def __init__(self, path: Path | None = None) -> None:
        self.path = path
        self.entries: list[dict[str, Any]] = []
        self.repaired = 0  # bytes of a torn last line that were cut off
        self._size = 0
        if path is not None:
            self._open(path)

    @property
    def head(self) -> str:
        """The digest of the last line: of the whole chain."""
        return self.entries[-1][DIGEST] if self.entries else START

    @property
    def content(self) -> bytes:
        """All lines, as a file holds them."""
        return "".join(_text(entry) + "\n" for entry in self.entries).encode()

    def append(self, entry: Entry) -> dict[str, Any]:
        """Add a line; when this returns, it is on the disk."""
        linked = {LINE: len(self.entries), PREVIOUS: self.head, **entry}
        linked = json.loads(_text(linked))  # as it will be read back
        linked[DIGEST] = digest_of(linked)
        if self.path is not None:
            self._write(self.path, (_text(linked) + "\n").encode())
        self.entries.append(linked)
        return linked

    def _open(self, path: Path) -> None:
        try:
            content = path.read_bytes()
        except FileNotFoundError:
            return
        except OSError as error:
            raise RunError(
                f"{path} cannot be read ({error.strerror}). Expected a ledger, or nothing, under that name."
            ) from None
        found = read(content)
        if found.broken is not None:
            raise RunError(
                f"{path} is not as it was written: {found.broken}. Nothing is added to it; keep it, and find out who changed it."
            )
        self.entries, self._size, self.repaired = found.entries, found.size, len(found.torn)
        if found.torn:
            with _storing(path), path.open("r+b") as file:
                file.truncate(found.size)
                _sync(file.fileno())

    def _write(self, path: Path, text: bytes) -> None:
        fresh = not path.exists()
        with _storing(path), path.open("ab") as file:
            if fcntl is not None:
                fcntl.flock(file, fcntl.LOCK_EX)
            if os.fstat(file.fileno()).st_size != self._size:
                raise RunError(
                    f"{path} was written to by somebody else meanwhile. One run keeps one ledger: give this run its own."
                )
            try:
                file.write(text)
                file.flush()
                _sync(file.fileno())
            except OSError:
                os.ftruncate(file.fileno(), self._size)
                raise
        if fresh:
            _sync_folder(path.parent)
        self._size += len(text)


class _storing:
    """A disk that is full, read-only or gone becomes a sentence."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, OSError):
            raise RunError(
                f"{self._path} could not be written: {error.strerror or error}. Nothing is released that is not in its ledger."
            ) from None


def _sync(descriptor: int) -> None:
    os.fsync(descriptor)


def _sync_folder(folder: Path) -> None:
    """The file's name, too, survives a power failure (where the system can do that)."""
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except OSError:
        return
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
