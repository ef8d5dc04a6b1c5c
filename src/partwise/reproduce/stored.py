"""The results that come with partwise, in both forms; and those in a folder of the user's."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import partwise
from partwise.errors import DataError
from partwise.reports.results import is_results
from partwise.reports.run_directory import MANIFEST
from partwise.reports.tables import Store
from partwise.reproduce.carrying_out import KIND, ROWS, typed
from partwise.reproduce.experiment import Experiment, Row, Size


def shipped(size: Size) -> Path:
    """The folder of the results of this size: in the wheel, or in the documentation of its source."""
    package = Path(partwise.__file__).parent
    folders = (package / "stored", package.parents[1] / "docs" / "papers" / "results")
    return next((folder for folder in folders if folder.is_dir()), folders[0]) / size


def is_stored(experiment: Experiment, size: Size) -> bool:
    """Whether a result of this size comes with partwise."""
    return is_results(shipped(size) / experiment.key, KIND)


def stored(experiment: Experiment, size: Size, folder: Path | None = None) -> tuple[dict[str, Any], list[Row]]:
    """The manifest and the rows of an earlier result of this size: of ours, or of those in a folder."""
    place = (shipped(size) if folder is None else folder) / experiment.key
    if not is_results(place, KIND):
        raise DataError(_missing(experiment, size) if folder is None else _empty(experiment, place))
    manifest = json.loads((place / MANIFEST).read_text(encoding="utf-8"))
    if manifest["size"] != size:
        raise DataError(
            f"{place} is the {manifest['size']} form of {experiment.key}, and cannot be compared with the {size} one. "
            f"{'Leave --quick out' if size is Size.QUICK else 'Give --quick as well'}, or name another folder with --stored."
        )
    return manifest, typed(Store(place).rows(ROWS))


def _missing(experiment: Experiment, size: Size) -> str:
    other = Size.FULL if size is Size.QUICK else Size.QUICK
    hint = "leave --quick out" if size is Size.QUICK else "give --quick as well"
    there = f"; its {other} form is: {hint}, or" if is_stored(experiment, other) else ":"
    return f"The {size} form of {experiment.key} is not among the results that come with partwise{there} name your own with --stored."


def _empty(experiment: Experiment, place: Path) -> str:
    return (
        f"{place} holds no earlier result of {experiment.key}. Expected a folder that `partwise reproduce -o` filled; "
        "name it with --stored."
    )


def measured(experiment: Experiment, size: Size) -> float | None:
    """The seconds of one core that the result which comes with partwise took, if there is one."""
    return float(stored(experiment, size)[0]["seconds"]) if is_stored(experiment, size) else None
