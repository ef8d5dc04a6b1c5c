"""Results beside stored ones: what is determined must be the same within the stated tolerance, times need not be."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import partwise
from partwise.errors import DataError
from partwise.reports.results import is_results
from partwise.reports.run_directory import MANIFEST
from partwise.reports.tables import Store
from partwise.reproduce.carrying_out import KIND, ROWS, Result, key_of, typed
from partwise.reproduce.experiment import Experiment, Row

SHOWN = 5  # differences that a sentence names


class Check(NamedTuple):
    """How a result compares with a stored one."""

    compared: int  # numbers
    differences: list[str]  # sentences

    @property
    def agrees(self) -> bool:
        """Whether nothing differs, and something was compared."""
        return self.compared > 0 and not self.differences


def stored_folder() -> Path:
    """The results that come with partwise: in the wheel, or in the documentation of its source."""
    package = Path(partwise.__file__).parent
    return next((f for f in (package / "stored", package.parents[1] / "docs" / "papers" / "results") if f.is_dir()),
                package / "stored")  # fmt: skip


def stored(experiment: Experiment, folder: Path) -> tuple[dict[str, Any], list[Row]]:
    """The manifest and the rows of an earlier result."""
    place = folder / experiment.key
    if not is_results(place, KIND):
        raise DataError(
            f"{place} holds no earlier result of {experiment.key}. Expected a folder that `partwise reproduce -o` filled; "
            "name it with --stored."
        )
    return json.loads((place / MANIFEST).read_text(encoding="utf-8")), typed(Store(place).rows(ROWS))


def differences(result: Result, folder: Path) -> Check:
    """Every number of a column in `same`, in every row that both have; the verdict too, if both had all data."""
    experiment = result.experiment
    manifest, earlier = stored(experiment, folder)
    names = list(experiment.names)
    known = {key_of(row, names): row for row in earlier}
    found, compared = list[str](), 0
    for row in result.rows:
        before = known.get(key_of(row, names))
        if before is not None:
            compared += len(experiment.same)
            found += _unlike(row, before, names, experiment.same)
    if not compared:
        found.append("no row of the stored result is of the same run.")
    whole = not (manifest.get("left_out") or result.manifest.get("left_out"))
    if whole and manifest["verdict"] != result.verdict:
        found.append(f"the claim {result.verdict}; stored: it {manifest['verdict']}.")
    return Check(compared, found)


def _unlike(row: Row, before: Row, names: list[str], same: Mapping[str, float]) -> list[str]:
    where = ", ".join(f"{name} {row[name]}" for name in names)
    return [
        f"{where}: {column} is {row[column]}, stored {before[column]} (tolerance {tolerance:g})."
        for column, tolerance in same.items()
        if not _close(row[column], before[column], tolerance)
    ]


def _close(now: Any, before: Any, tolerance: float) -> bool:
    if isinstance(now, str) or isinstance(before, str):
        return now == before
    if math.isnan(now) or math.isnan(before):
        return math.isnan(now) and math.isnan(before)
    return now == before or math.isclose(now, before, rel_tol=tolerance)
