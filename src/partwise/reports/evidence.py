"""What an audit looks at: the ledger of a run, what its manifest says of it, and the transcript of what went between parties."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

from partwise.drivers.checkpoint import file_digest
from partwise.errors import DataError
from partwise.privacy.ledger import FILE
from partwise.reports.quantities import counted, size
from partwise.reports.run_directory import MANIFEST

TRANSCRIPT = "transcript.jsonl"


class Evidence(NamedTuple):
    """Of one run."""

    ledger: Path
    content: bytes  # of the ledger
    digest: str | None  # of the ledger, by the manifest
    traffic: list[str]  # what went between parties, in words
    faults: list[str]  # what of it is not as the manifest says


def gather(path: Path) -> Evidence:
    """From a run directory, whole or interrupted, or from a ledger's file alone."""
    if path.is_file():
        return Evidence(path, _read(path), None, [], [])
    if not path.is_dir():
        raise DataError(f"{path} does not exist. Expected a run directory with a {FILE}, or such a file.")
    ledger, digests, faults = path / FILE, *_manifest(path)
    if not ledger.is_file():
        beside = path.with_name(path.name + ".partial")
        more = f" An interrupted run is in {beside}." if (beside / FILE).is_file() else ""
        missing = (
            "Its manifest lists one: somebody removed it."
            if FILE in digests
            else "Only private and federated runs have one."
        )
        raise DataError(f"{path} holds no {FILE}. {missing}{more}")
    faults += [
        f"{name} is not as the run's manifest says: it was changed after the run."
        for name, digest in digests.items()
        if name != FILE and (not (path / name).is_file() or file_digest(path / name) != digest)
    ]
    transcript = path / TRANSCRIPT
    traffic = _traffic(_read(transcript), transcript) if transcript.is_file() else []
    return Evidence(ledger, _read(ledger), digests.get(FILE), traffic, faults)


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise DataError(f"{path} cannot be read ({error.strerror}).") from None


def _manifest(folder: Path) -> tuple[dict[str, str], list[str]]:
    """(digests of files, faults); a run that was interrupted has no manifest."""
    if not (folder / MANIFEST).is_file():
        return {}, []
    try:
        files = json.loads(_read(folder / MANIFEST)).get("files", {})
        return {str(name): str(known["sha256"]) for name, known in files.items()}, []
    except (ValueError, AttributeError, KeyError, TypeError, RecursionError):
        return {}, [f"{MANIFEST} cannot be read: it is damaged."]


def _traffic(content: bytes, path: Path) -> list[str]:
    """One line for each kind of array that went one way, over all rounds and parties."""
    groups: dict[tuple[str, str, str], list[dict[str, Any]]] = {}
    for number, raw in enumerate(content.splitlines(), start=1):
        try:
            entry = json.loads(raw)
            up = int(entry["sender"]) >= 0
            entry["site"], entry["bytes"] = int(entry["sender"] if up else entry["receiver"]), int(entry["bytes"])
            key = ("each site → server" if up else "server → each site", str(entry["kind"]), str(entry["name"]))
        except (ValueError, KeyError, TypeError, RecursionError):
            raise DataError(
                f"{path}, line {number}, is no line of a transcript. Get the file again from whoever ran the study."
            ) from None
        groups.setdefault(key, []).append(entry)
    return [_told(*key, entries) for key, entries in sorted(groups.items())]


def _told(way: str, kind: str, name: str, entries: list[dict[str, Any]]) -> str:
    sites = {entry["site"] for entry in entries}
    shapes = sorted({"×".join(map(str, entry.get("shape", []))) or "one number" for entry in entries})
    amount = size(sum(entry["bytes"] for entry in entries))
    shown = ", ".join(shapes[:3]) + (", …" if len(shapes) > 3 else "")
    return (
        f"{way}: {name} ({shown}; {kind}), {counted(len(entries), 'time')} over {counted(len(sites), 'site')}, {amount}"
    )
