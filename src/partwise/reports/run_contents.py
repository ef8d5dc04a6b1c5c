"""What a run directory holds, written and read back.

manifest.json       what was asked, of which data, with what, and what came of it; digests of the other files
model.safetensors   W (n, k) and H (k, m); of a run on ranks files of parts: see `model_files`
names.json          names of features and samples, where the data has them
trace.jsonl         one line for each iteration
checkpoint/         only where the run could go on: it was stopped by its limit of iterations or seconds
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, final

from partwise.currency import Array
from partwise.drivers.agreement import all_or_none
from partwise.drivers.checkpoint import file_digest
from partwise.drivers.trace import Trace
from partwise.errors import DataError, OptionError, RunError
from partwise.estimators.factorize import Factorization
from partwise.estimators.on_ranks import Share
from partwise.estimators.settings import Settings
from partwise.protocols import Comm
from partwise.reports.model_files import Files, check_file, read_factor, write_model, write_parts
from partwise.reports.run_directory import KIND, MANIFEST, MODEL, NAMES, SCHEMA, TRACE, strict, write_json
from partwise.reports.whole_directory import writing

Names = Sequence[str] | None


@final
@dataclass(frozen=True)
class Run:
    """A run that was read back. What of it is used was found whole: W, which may be long, when it is asked for."""

    folder: Path
    manifest: Mapping[str, Any]
    H: Array  # (k, m)
    feature_names: Names
    row_names: Names

    @cached_property
    def W(self) -> Array:
        """(n, k)."""
        W = read_factor(self.folder, self.manifest, "W")
        if W.shape[1] != len(self.H):
            raise DataError(
                f"{self.folder} has a W of {W.shape[1]} parts and an H of {len(self.H)}. Make the run again."
            )
        return W

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
        write_model(partial, fit.W, fit.H)
        files = {MODEL: _known(partial / MODEL)}
        _write_rest(partial, fit, facts, files, (feature_names, row_names))


def write_shares(
    partial: Path, share: Share, facts: Mapping[str, Any], names: Callable[[], tuple[Names, Names]], comm: Comm
) -> None:
    """The same of a run on ranks: every rank writes its parts, and rank 0 the rest. A collective call."""
    with writing(partial):
        files, places = write_parts(partial, share, comm)
    with all_or_none(comm), writing(partial):
        if comm.rank == 0:
            _write_rest(partial, share, {**facts, "model": places}, files, names())


def _write_rest(
    partial: Path, fit: Factorization | Share, facts: Mapping[str, Any], files: Files, names: tuple[Names, Names]
) -> None:
    _write_trace(partial / TRACE, fit.trace, relative=fit.problem.beta == 2)
    files[TRACE] = _known(partial / TRACE)
    if names != (None, None):
        write_json(partial / NAMES, {"features": names[0], "samples": names[1]})
        files[NAMES] = _known(partial / NAMES)
    write_json(partial / MANIFEST, {"kind": KIND, "schema": SCHEMA, **facts, **outcome(fit), "files": files})


def _known(path: Path) -> dict[str, Any]:
    return {"sha256": file_digest(path), "bytes": path.stat().st_size}


def outcome(fit: Factorization | Share) -> dict[str, Any]:
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
    names: dict[str, Any] = {}
    if NAMES in manifest.get("files", {}):
        check_file(folder / NAMES, manifest["files"][NAMES])
        names = json.loads((folder / NAMES).read_text(encoding="utf-8"))
    return Run(folder, manifest, read_factor(folder, manifest, "H"), names.get("features"), names.get("samples"))


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
