"""What the directory of a private run holds: all of it may be published.

manifest.json       what was asked, with what, the promise and what it cost; digests of the other files; the ledger's last digest
model.safetensors   H (k, m), and no W, whose rows tell of single records
names.json          names of features, where the data has them; never of samples
trace.jsonl         one line for each release
ledger.jsonl        the ledger
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import save_file

from partwise.drivers.checkpoint import file_digest
from partwise.errors import RunError
from partwise.estimators.privately import PrivateFactorization
from partwise.privacy.ledger import FILE
from partwise.reports.run_directory import KIND, MANIFEST, MODEL, NAMES, SCHEMA, TRACE, strict, write_json
from partwise.reports.whole_directory import writing


def write_private(
    partial: Path, fit: PrivateFactorization, facts: Mapping[str, Any], feature_names: Sequence[str] | None
) -> None:
    """Write all files, the manifest last."""
    with writing(partial):
        (partial / FILE).write_bytes(fit.ledger.content)  # the same bytes, or a copy of a ledger that is kept elsewhere
        _write_trace(partial / TRACE, fit)
        _write_model(partial / MODEL, fit)
        files = [MODEL, TRACE, FILE]
        if feature_names is not None:
            write_json(partial / NAMES, {"features": feature_names, "samples": None})
            files.append(NAMES)
        digests = {
            name: {"sha256": file_digest(partial / name), "bytes": (partial / name).stat().st_size} for name in files
        }
        write_json(partial / MANIFEST, {"kind": KIND, "schema": SCHEMA, **facts, **outcome(fit), "files": digests})


def outcome(fit: PrivateFactorization) -> dict[str, Any]:
    """What came of it, in the words of the manifest and of --json."""
    terms = fit.ledger.terms
    return {
        "private": not fit.leaks and terms.insecure_seed is None,
        "epsilon": fit.ledger.epsilon,
        "delta": terms.delta,
        "budget": terms.epsilon,
        "unit": terms.unit,
        "neighbours": terms.neighbours,
        "records": terms.count,
        "method": fit.choice.name,
        "method_why": fit.choice.why,
        "releases": len(list(fit.ledger.releases())),
        "published_error": fit.error,
        "ledger_head": fit.ledger.head,
    }


def _write_model(path: Path, fit: PrivateFactorization) -> None:
    try:
        save_file({"H": np.ascontiguousarray(fit.H)}, path)
    except SafetensorError as error:
        raise RunError(f"{path} could not be written: {error}. Nothing was published.") from None
    path.chmod(path.with_name(TRACE).stat().st_mode)  # safetensors lets nobody else read its files


def _write_trace(path: Path, fit: PrivateFactorization) -> None:
    with path.open("w", encoding="utf-8") as file:
        for entry in fit.ledger.releases():
            line = {
                "release": entry["round"],
                "what": entry["what"],
                "noise": entry["scale"],
                "epsilon": entry["epsilon"],
            }
            file.write(json.dumps(strict(line), allow_nan=False, ensure_ascii=False) + "\n")
