"""Data sets by name."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path

import numpy as np

from partwise.data.readers import Table, read
from partwise.datasets.cache import cached_file, fill, local_file
from partwise.datasets.download import Unreachable, download
from partwise.datasets.local import LOCAL
from partwise.datasets.public import PUBLIC
from partwise.datasets.record import Arrays, Dataset
from partwise.errors import DataError, OptionError

_BY_NAME: Mapping[str, Dataset] = {dataset.name: dataset for dataset in (*PUBLIC, *LOCAL)}


def available() -> list[Dataset]:
    """All data sets that are known, by name; `whereabouts` tells which are here."""
    return sorted(_BY_NAME.values(), key=lambda dataset: dataset.name)


def describe(name: str) -> Dataset:
    """What is known of one data set."""
    if name not in _BY_NAME:
        close = get_close_matches(name, _BY_NAME, 3)
        hint = f"Did you mean {' or '.join(close)}?" if close else f"Known are: {', '.join(sorted(_BY_NAME))}."
        raise OptionError(f"There is no data set {name!r}. {hint}")
    return _BY_NAME[name]


def whereabouts(name: str) -> str:
    """`local` (under $PARTWISE_DATA), `cached`, `bundled` (with scikit-learn), `download`, or `local only` and not here."""
    dataset = describe(name)
    if local_file(dataset) is not None:
        return "local"
    if not dataset.local_only and cached_file(name).exists():
        return "cached"
    if dataset.bundled is not None:
        return "bundled"
    return "download" if dataset.origins else "local only"


def load(name: str) -> Table:
    """The matrix, fetched where it is not here yet; what is bundled needs neither network nor cache."""
    dataset = describe(name)
    if dataset.bundled is not None and local_file(dataset) is None:
        arrays, path = dataset.bundled()
        return Table(arrays["X"], tuple(arrays["feature_names"].tolist()), None, path, "bundled", None)
    return read(fetch(name))


def fetch(name: str) -> Path:
    """The .npz that holds the data set: under $PARTWISE_DATA, else in the cache, else downloaded and converted into it."""
    dataset = describe(name)
    local = local_file(dataset)
    if local is not None:
        return local
    if dataset.local_only:
        raise DataError(_absent(dataset, "there is no public origin whose checksum is known, so it is local only"))
    kept = cached_file(name)
    return kept if kept.exists() else fill(name, lambda scratch: _make(dataset, scratch))


def _make(dataset: Dataset, scratch: Path) -> Arrays:
    if dataset.bundled is not None:
        return dataset.bundled()[0]
    try:
        files = {origin.file: download(origin, scratch) for origin in dataset.origins}
    except Unreachable as error:
        raise DataError(_absent(dataset, str(error))) from None
    assert dataset.convert is not None  # every data set with origins has one
    arrays = dataset.convert(files)
    _check(dataset, arrays)
    return arrays


def _check(dataset: Dataset, arrays: Arrays) -> None:
    """What was converted is what is known: its shape, and how many numbers are not zero."""
    shape = arrays["X"].shape if "X" in arrays else tuple(int(extent) for extent in arrays["shape"])
    nnz = int(np.count_nonzero(arrays["X" if "X" in arrays else "data"]))
    if shape != (dataset.shape or shape) or nnz != (dataset.nnz or nnz):
        raise DataError(
            f"{dataset.name} was converted to shape {shape} with {nnz} nonzero numbers. "
            f"Expected {dataset.shape} with {dataset.nnz}; its origin may have changed: report this."
        )


def _absent(dataset: Dataset, tried: str) -> str:
    places = [f"{dataset.name}.npz in the directory $PARTWISE_DATA"] if dataset.local_sha256 else []
    places += [] if dataset.local_only else [str(cached_file(dataset.name))]
    looked = " and ".join(places)
    if dataset.local_only:
        remedy = f"Put the file (SHA-256 {dataset.local_sha256}) into a directory and set PARTWISE_DATA to it"
    else:
        remedy = f"Connect to the network, or fetch {dataset.name} on another machine and copy the file to one of these places"
    return f"{dataset.name} is not on this machine: looked for {looked}; {tried}. {remedy}."
