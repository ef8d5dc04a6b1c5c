"""One label for each row: an array of an .npz, by its name, or an .npy. Never unpickled."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from zipfile import ZipFile

import numpy as np
from numpy.typing import NDArray

from partwise.data.readers.structure import refusing
from partwise.errors import DataError

KINDS = "iubUS"  # whole numbers, booleans and text name things; other numbers don't


def read_labels(path: Path, name: str) -> NDArray[Any]:
    """(n,): the array `name` of an .npz."""
    if path.suffix.lower() != ".npz":
        raise DataError(f"{path} has no place for labels: only .npz files have. Write the data as .npz with X and {name}, or give labels = "
                        '"FILE.npy", one for each row.')  # fmt: skip
    with refusing(path, f"an .npz with {name}"), ZipFile(path) as archive:
        held = [member.removesuffix(".npy") for member in archive.namelist() if member.endswith(".npy")]
        if name not in held:
            raise DataError(f"{path} has no array {name!r} with a label for each row; it holds {', '.join(held)}. Say which it is by "
                            'labels = "NAME", or give labels = "FILE.npy".')  # fmt: skip
        with archive.open(f"{name}.npy") as file:
            return _checked(np.lib.format.read_array(file, allow_pickle=False), f"{name} of {path}")


def read_label_file(path: Path) -> NDArray[Any]:
    """(n,): an .npy."""
    if not path.is_file():
        raise DataError(f"There is no file {path} with labels (looked from {Path.cwd()}). Check the path.")
    with refusing(path, "labels as numpy.save writes them"):
        return _checked(np.load(path, allow_pickle=False), str(path))


def _checked(labels: NDArray[Any], where: str) -> NDArray[Any]:
    if labels.ndim != 1 or labels.dtype.kind not in KINDS:
        raise DataError(
            f"{where} has shape {labels.shape} and dtype {labels.dtype}; expected one label for each row, whole numbers or text."
        )
    return labels
