"""The factors in a run directory: in one file, or of a run on ranks a file for each rank's rows of W and columns of H.

model.safetensors        W (n, k) and H (k, m)
W.0-of-4.safetensors     rank 0's rows of W, (n_p, k); the manifest says which they are
H.0-of-4.safetensors     rank 0's columns of H, (k, m_p); where all ranks have all of H, only rank 0 writes it
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load_file, save_file

from partwise.currency import Array
from partwise.drivers.agreement import all_or_none
from partwise.drivers.checkpoint import file_digest
from partwise.drivers.checkpoint_parts import Part
from partwise.errors import DataError, RunError
from partwise.protocols import Comm
from partwise.reports.run_directory import MANIFEST, MODEL

Files = dict[str, dict[str, Any]]  # sha256 and bytes, by name
LONG = {"W": 0, "H": 1}  # the axis of W (n, k) and H (k, m) that is cut


class Held(Protocol):
    """What a rank has of the factors."""

    @property
    def W(self) -> Array: ...

    @property
    def H(self) -> Array: ...

    @property
    def part(self) -> Part: ...


def write_model(folder: Path, W: Array, H: Array) -> None:
    """Both factors in one file."""
    _save(folder / MODEL, {"W": W, "H": H})


def write_parts(folder: Path, held: Held, comm: Comm) -> tuple[Files, dict[str, list[dict[str, Any]]]]:
    """(files, which places of W and H each of them holds): every rank writes its own. A collective call."""
    files: Files = {}
    places: dict[str, list[dict[str, Any]]] = {}
    for name, F, part in (("W", held.W, held.part.W), ("H", held.H, held.part.H)):
        parts = comm.gather(np.array([[part.start], [part.stop]], np.int64), [1] * comm.size).T.tolist()
        writers = [rank for rank, own in enumerate(parts) if own[0] < own[1] and own not in parts[:rank]]
        names = [f"{name}.{rank}-of-{comm.size}.safetensors" for rank in range(comm.size)]
        with all_or_none(comm):
            digest, size = _written(folder / names[comm.rank], name, F) if comm.rank in writers else (bytes(32), 0)
        digests = comm.gather(np.frombuffer(digest, np.uint8)[:, None], [1] * comm.size)
        sizes = comm.gather(np.array([size], np.int64), [1] * comm.size)
        files |= {names[r]: {"sha256": digests[:, r].tobytes().hex(), "bytes": int(sizes[r])} for r in writers}
        places[name] = [{"file": names[r], "from": parts[r][0], "to": parts[r][1]} for r in writers]
    return files, places


def _written(path: Path, name: str, F: Array) -> tuple[bytes, int]:
    """(sha256, bytes) of the file."""
    _save(path, {name: F})
    return bytes.fromhex(file_digest(path)), path.stat().st_size


def _save(path: Path, arrays: Mapping[str, Array]) -> None:
    try:
        path.touch()
        usual = path.stat().st_mode  # safetensors lets nobody else read its files
        save_file({name: np.ascontiguousarray(F) for name, F in arrays.items()}, path)
        path.chmod(usual)
    except (SafetensorError, OSError) as error:
        raise RunError(f"{path} could not be written: {error}. The checkpoint is intact: make room and go on with "
                       "--resume.") from None  # fmt: skip


def read_factor(folder: Path, manifest: Mapping[str, Any], name: str) -> Array:
    """W (n, k) or H (k, m), whole, after comparing the digests of its files."""
    places = manifest.get("model")
    if places is None:
        F = _load(folder / MODEL, manifest).get(name)
    else:
        F = _joined(folder, manifest, name, places)
    if F is None or F.ndim != 2:
        raise DataError(f"{folder} holds no {name} of two dimensions. Make the run again.")
    if not (np.isfinite(F).all() and (F >= 0).all()):
        raise DataError(
            f"{name} of {folder} has negative or non-finite numbers; factors are finite and nonnegative. Make the run again."
        )
    return F


def _joined(folder: Path, manifest: Mapping[str, Any], name: str, places: Any) -> Array:
    """The parts side by side, which must follow one another without a gap."""
    try:
        parts = sorted((int(p["from"]), int(p["to"]), str(p["file"])) for p in places[name])
    except (KeyError, TypeError, ValueError):
        parts = []
    found, reached = [], 0
    for start, stop, file in parts:
        F = _load(folder / file, manifest).get(name)
        if start != reached or F is None or F.ndim != 2 or F.shape[LONG[name]] != stop - start:
            raise DataError(
                f"{folder / file} does not hold places {reached} to {stop - 1} of {name}. Make the run again."
            )
        found.append(F)
        reached = stop
    if not found:
        raise DataError(f"{folder / MANIFEST} names no files of {name}. Make the run again.")
    return np.concatenate(found, axis=LONG[name])


def _load(path: Path, manifest: Mapping[str, Any]) -> dict[str, Array]:
    check_file(path, manifest.get("files", {}).get(path.name, {}))
    try:
        return load_file(path)
    except (SafetensorError, OSError) as error:
        raise DataError(f"{path} cannot be read ({error}). Make the run again.") from None


def check_file(path: Path, known: Mapping[str, Any]) -> None:
    """A file that is as it was written."""
    if not path.is_file():
        raise DataError(
            f"{path} is missing, though the manifest lists it. Copy the run directory whole, or make the run again."
        )
    if file_digest(path) != known.get("sha256"):
        raise DataError(
            f"{path} is damaged: its digest is not the one in the manifest ({path.stat().st_size} bytes, expected "
            f"{known.get('bytes')}). Copy the run directory again, or make the run again."
        )
