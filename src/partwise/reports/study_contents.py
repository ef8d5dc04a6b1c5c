"""What the run directory of a study holds.

manifest.json             what was asked, of which data, with what, and what came of it; digests of the other files
model.safetensors         H (k, m); no party's W
parties/NAME.safetensors  W (n_p, k); of data that were dealt out the rows; where the party has them its own H and the W for that
names.json                names of features, and of each party's samples, where the data have them
trace.jsonl               one line for each round
transcript.jsonl          one line for each array that went between a party and the server: when, what, its size and its digest
ledger.jsonl              of a private study: every release, as the server knows of it
checkpoint/               only where the study could go on: everybody's state, which in a real study nobody has in one place
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import save_file

from partwise.drivers.checkpoint import file_digest
from partwise.errors import RunError
from partwise.estimators.conducting import TRANSCRIPT
from partwise.estimators.federate import Federation
from partwise.privacy.ledger import FILE as LEDGER
from partwise.reports.run_directory import CHECKPOINT, KIND, MANIFEST, MODEL, NAMES, SCHEMA, TRACE, strict, write_json
from partwise.reports.whole_directory import writing

PARTIES = "parties"


class Named(Protocol):
    """What of a study's data its results are told by."""

    @property
    def names(self) -> list[str]: ...

    @property
    def features(self) -> list[str] | None: ...

    @property
    def rows(self) -> list[NDArray[np.intp]] | None: ...

    @property
    def row_names(self) -> Sequence[tuple[str, ...] | None]: ...


def write_study(partial: Path, found: Federation, facts: Mapping[str, Any], data: Named) -> None:
    """Write all files, the manifest last; `facts` is what the manifest says."""
    with writing(partial):
        try:
            save_file({"H": found.H}, partial / MODEL)
            _write_parties(partial / PARTIES, found, data)
        except SafetensorError as error:
            raise RunError(f"The results could not be written to {partial}: {error}. Every round is kept: make room and go on with "
                           "--resume.") from None  # fmt: skip
        _write_trace(partial / TRACE, found)
        for name in (TRANSCRIPT, LEDGER):
            if (partial / CHECKPOINT / name).exists():
                shutil.copyfile(partial / CHECKPOINT / name, partial / name)  # the study may go on, and so may these
        _write_names(partial / NAMES, data)
        mode = (partial / TRACE).stat().st_mode
        files = [
            path
            for path in partial.rglob("*")
            if path.is_file() and CHECKPOINT not in path.parts and not path.name.startswith(".")
        ]
        for path in files:
            path.chmod(mode)  # safetensors lets nobody else read its files
        digests = {path.relative_to(partial).as_posix(): {"sha256": file_digest(path), "bytes": path.stat().st_size}
                   for path in sorted(files) if path.name != MANIFEST}  # fmt: skip
        write_json(partial / MANIFEST, {"kind": KIND, "schema": SCHEMA, **facts, "files": digests})


def outcome(found: Federation) -> dict[str, Any]:
    """What came of a study, in the words of the manifest and of --json."""
    return {
        "relative_error": found.relative_error,
        "rmsd_sum": found.rmsd_sum,
        "rounds": found.history[-1].t if found.history else 0,
        "bytes_up": found.bytes_up,
        "bytes_down": found.bytes_down,
        "drift": found.drift,
        "seconds": found.seconds,
        "clock": found.history[-1].clock if found.history else 0.0,
        "stopping_reason": found.reason,
        "parties": len(found.Ws),
        "faults": [fault._asdict() for fault in found.faults],
    }


def _write_parties(folder: Path, found: Federation, data: Named) -> None:
    folder.mkdir(exist_ok=True)
    for p, name in enumerate(data.names):
        held: dict[str, NDArray[Any]] = {"W": np.ascontiguousarray(found.Ws[p])}
        if data.rows is not None:
            held["rows"] = np.ascontiguousarray(data.rows[p])
        if found.own is not None:
            held |= {"W_own": np.ascontiguousarray(found.own[p][0]), "H_own": np.ascontiguousarray(found.own[p][1])}
        save_file(held, folder / f"{name}.safetensors")


def _write_trace(path: Path, found: Federation) -> None:
    names = {"t": "round", "error": "relative_error"}
    with path.open("w", encoding="utf-8") as file:
        for point in found.history:
            line = {names.get(name, name): value for name, value in point._asdict().items()}
            file.write(json.dumps(strict(line), allow_nan=False) + "\n")


def _write_names(path: Path, data: Named) -> None:
    samples = {name: rows for name, rows in zip(data.names, data.row_names, strict=True) if rows is not None}
    if data.features is not None or samples:
        write_json(path, {"features": data.features, "samples": samples or None})
