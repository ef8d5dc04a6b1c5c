"""What is known of a data set."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

Arrays = Mapping[str, np.ndarray]  # what an .npz of ours holds: X, or data, indices, indptr and shape


@dataclass(frozen=True)
class Origin:
    """One file as its publisher offers it."""

    file: str
    urls: tuple[str, ...]  # mirrors, in the order in which they are tried
    sha256: str


@dataclass(frozen=True)
class Dataset:
    """A named matrix: what it is, on what terms, and where it can be had.

    With `origins`, it is downloaded from its publisher and converted; with `bundled`, it comes with scikit-learn; with
    neither, it is local only: found as `<name>.npz`, whose digest is `local_sha256`, in the directory $PARTWISE_DATA.
    """

    name: str
    title: str
    shape: tuple[int, int] | None  # None where it follows from the text
    terms: str
    local_sha256: str | None = None
    nnz: int | None = None  # as published; a download must have as many
    origins: tuple[Origin, ...] = ()
    convert: Callable[[Mapping[str, Path]], Arrays] | None = None  # from the origins' files, by name
    bundled: Callable[[], tuple[Arrays, Path]] | None = None  # and the file it comes in

    @property
    def local_only(self) -> bool:
        """Whether there is no public origin whose digest is known."""
        return not (self.origins or self.bundled)
