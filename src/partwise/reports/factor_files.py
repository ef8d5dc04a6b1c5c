"""A factor in a file of its own: .npy, or a table of text with names."""

from __future__ import annotations

import csv
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from partwise.currency import Array
from partwise.errors import OptionError
from partwise.reports.whole_directory import writing

Names = Sequence[str] | None


def check_target(target: Path, *, force: bool) -> None:
    """Refuse early what could not be written at the end."""
    if target.suffix not in WRITERS:
        raise OptionError(f"{target} has a suffix that tells no format for W; expected one of {', '.join(WRITERS)}.")
    if target.is_dir() or (target.exists() and not force):
        raise OptionError(f"{target} exists already. Choose another name with -o, or replace it with --force.")
    if not target.parent.is_dir():
        raise OptionError(f"{target} lies in a directory that does not exist. Make {target.parent} first.")


def write_factor(target: Path, W: Array, row_names: Names) -> None:
    """W (n, k) into the file: whole, or not at all."""
    temporary = target.with_name(f".{target.name}.partial")
    try:
        with writing(target):
            WRITERS[target.suffix](temporary, W, row_names)
            temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)


def _npy(path: Path, W: Array, row_names: Names) -> None:
    with path.open("wb") as file:
        np.save(file, np.ascontiguousarray(W), allow_pickle=False)


def _text(delimiter: str) -> Callable[[Path, Array, Names], None]:
    def write(path: Path, W: Array, row_names: Names) -> None:
        with path.open("w", encoding="utf-8", newline="") as file:
            rows = csv.writer(file, delimiter=delimiter, lineterminator="\n")
            head = [f"part{j}" for j in range(W.shape[1])]
            rows.writerow(head if row_names is None else ["", *head])
            for i, row in enumerate(W):
                rows.writerow([str(x) for x in row] if row_names is None else [row_names[i], *map(str, row)])

    return write


WRITERS: dict[str, Callable[[Path, Array, Names], None]] = {".npy": _npy, ".csv": _text(","), ".tsv": _text("\t")}
