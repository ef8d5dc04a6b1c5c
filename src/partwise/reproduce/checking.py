"""Results beside stored ones: what is determined must be the same within the stated tolerance, times need not be."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from partwise.reproduce.carrying_out import Result, key_of
from partwise.reproduce.experiment import Row, Size
from partwise.reproduce.stored import stored

SHOWN = 5  # differences that a sentence names


class Check(NamedTuple):
    """How a result compares with a stored one."""

    compared: int  # numbers
    differences: list[str]  # sentences

    @property
    def agrees(self) -> bool:
        """Whether nothing differs, and something was compared."""
        return self.compared > 0 and not self.differences


def differences(result: Result, folder: Path | None = None) -> Check:
    """Every number of a column in `same`, in every row that both have; the verdict too, if both had all data.

    The stored result is the one of the same size that comes with partwise, or one in a folder.
    """
    experiment = result.experiment
    manifest, earlier = stored(experiment, Size(result.manifest["size"]), folder)
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
