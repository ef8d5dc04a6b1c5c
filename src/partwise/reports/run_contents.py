"""What a run directory holds, written and read back.

manifest.json       what was asked, of which data, with what, and what came of it; digests of the other files
model.safetensors   W (n, k) and H (k, m)
names.json          names of features and samples, where the data has them
trace.jsonl         one line for each iteration
checkpoint/         only where the run could go on: it was stopped by its limit of iterations or seconds
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load_file, save_file

from partwise.currency import Array
from partwise.drivers.checkpoint import file_digest
from partwise.drivers.trace import Trace
from partwise.errors import DataError, OptionError, RunError
from partwise.estimators.factorize import Factorization
from partwise.estimators.settings import Settings
from partwise.reports.run_directory import KIND, MANIFEST, MODEL, NAMES, SCHEMA, TRACE, strict, write_json
from partwise.reports.whole_directory import writing

Names = Sequence[str] | None


@final
@dataclass(frozen=True)
class Run:
    """A run that was read back and found whole."""

    folder: Path
    manifest: Mapping[str, Any]
    W: Array  # (n, k)
    H: Array  # (k, m)
    feature_names: Names
    row_names: Names

    @property
    def settings(self) -> Settings:
        """What was wished of it."""
        try:
            return Settings(**self.manifest["settings"])
        except (KeyError, TypeError, OptionError) as error:
            raise RunError(
                f"{self.folder / MANIFEST} has settings that this version does not know ({error})."
            ) from None


def write_contents(
    partial: Path, fit: Factorization, facts: Mapping[str, Any], feature_names: Names, row_names: Names
) -> None:
    """Write all files, the manifest last; `facts` is what the manifest says beside the outcome."""
    with writing(partial):
        try:
            save_file({"W": np.ascontiguousarray(fit.W), "H": np.ascontiguousarray(fit.H)}, partial / MODEL)
        except SafetensorError as error:
            raise RunError(f"{partial / MODEL} could not be written: {error}. The checkpoint is intact: make room and "
                           "go on with --resume.") from None  # fmt: skip
        _write_trace(partial / TRACE, fit.trace, relative=fit.problem.beta == 2)
        (partial / MODEL).chmod((partial / TRACE).stat().st_mode)  # safetensors lets nobody else read its files
        files = [MODEL, TRACE]
        if feature_names is not None or row_names is not None:
            write_json(partial / NAMES, {"features": feature_names, "samples": row_names})
            files.append(NAMES)
        digests = {
            name: {"sha256": file_digest(partial / name), "bytes": (partial / name).stat().st_size} for name in files
        }
        write_json(partial / MANIFEST, {"kind": KIND, "schema": SCHEMA, **facts, **outcome(fit), "files": digests})


def outcome(fit: Factorization) -> dict[str, Any]:
    """What came of a run, in the words of the manifest and of --json."""
    return {
        "relative_error": fit.relative_error,
        "loss": fit.loss,
        "iterations": fit.iterations,
        "seconds": fit.seconds,
        "solver": fit.choice.solver,
        "solver_why": fit.choice.why,
        "stopping_reason": fit.reason.sentence,
        "converged": fit.reason.converged,
    }


def _write_trace(path: Path, trace: Trace, *, relative: bool) -> None:
    with path.open("w", encoding="utf-8") as file:
        for point in trace.points:
            error = trace.relative_error(point.loss) if relative else None
            line = {"iteration": point.t, "loss": point.loss, "relative_error": error}
            line |= {"violation": point.violation, "seconds": point.seconds}
            file.write(json.dumps(strict(line), allow_nan=False) + "\n")


def read_run(folder: Path) -> Run:
    """Read a run directory, after checking that it is one, of this version, and as it was written."""
    manifest = _manifest(folder)
    for name, known in manifest.get("files", {}).items():
        _check_file(folder / name, known)
    W, H = _model(folder / MODEL)
    names = json.loads((folder / NAMES).read_text(encoding="utf-8")) if NAMES in manifest.get("files", {}) else {}
    return Run(folder, manifest, W, H, names.get("features"), names.get("samples"))


def _manifest(folder: Path) -> dict[str, Any]:
    try:
        manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        raise DataError(
            f"{folder} is not a run directory (it holds no {MANIFEST}). Expected what `partwise fit -o` made."
        ) from None
    except (OSError, ValueError) as error:
        raise DataError(f"{folder / MANIFEST} cannot be read ({error}). Make the run again.") from None
    if not isinstance(manifest, dict) or manifest.get("kind") != KIND:
        raise DataError(f"{folder / MANIFEST} is not of a partwise run. Expected what `partwise fit -o` made.")
    if manifest.get("schema") != SCHEMA:
        raise DataError(
            f"{folder} has schema {manifest.get('schema')!r}; this version reads {SCHEMA}. Use the version that made it."
        )
    return manifest


def _check_file(path: Path, known: Mapping[str, Any]) -> None:
    if not path.is_file():
        raise DataError(
            f"{path} is missing, though the manifest lists it. Copy the run directory whole, or make the run again."
        )
    if file_digest(path) != known.get("sha256"):
        raise DataError(
            f"{path} is damaged: its digest is not the one in the manifest ({path.stat().st_size} bytes, expected "
            f"{known.get('bytes')}). Copy the run directory again, or make the run again."
        )


def _model(path: Path) -> tuple[Array, Array]:
    try:
        arrays = load_file(path)
    except (SafetensorError, OSError) as error:
        raise DataError(f"{path} cannot be read ({error}). Make the run again.") from None
    W, H = arrays.get("W"), arrays.get("H")
    if W is None or H is None or W.ndim != 2 or H.ndim != 2 or W.shape[1] != len(H):
        shapes = {name: array.shape for name, array in arrays.items()}
        raise DataError(f"{path} holds {shapes}. Expected W (n, k) and H (k, m). Make the run again.")
    if not all(np.isfinite(F).all() and (F >= 0).all() for F in (W, H)):
        raise DataError(
            f"{path} holds negative or non-finite numbers; factors are finite and nonnegative. Make the run again."
        )
    return W, H
