"""Where data sets are kept: found under $PARTWISE_DATA, else in the cache, which is filled whole or not at all."""

from __future__ import annotations

import errno
import os
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pooch

from partwise.data.readers import digest
from partwise.datasets.record import Arrays, Dataset
from partwise.errors import DataError


def local_file(dataset: Dataset) -> Path | None:
    """`<name>.npz` under $PARTWISE_DATA where it is there, checked by its digest."""
    folder = os.environ.get("PARTWISE_DATA")
    if not folder or dataset.local_sha256 is None:
        return None
    path = Path(folder) / f"{dataset.name}.npz"
    if not path.exists():
        return None
    seen = digest(path)
    if seen != dataset.local_sha256:
        raise DataError(
            f"{path} is not {dataset.name}: its SHA-256 is {seen}. Expected {dataset.local_sha256}; "
            "replace the file, or rename it and read it by its path."
        )
    return path


def cache_folder() -> Path:
    """$PARTWISE_CACHE, or the user's cache directory."""
    return Path(os.environ.get("PARTWISE_CACHE") or pooch.os_cache("partwise"))


def cached_file(name: str) -> Path:
    """Where a data set is kept once it has been fetched."""
    return cache_folder() / f"{name}.npz"


def fill(name: str, make: Callable[[Path], Arrays]) -> Path:
    """Keeps what `make`, given a directory for its own files, returns; whatever fails leaves nothing behind."""
    target = cached_file(name)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=f".{name}-", dir=target.parent) as scratch:
            arrays = make(Path(scratch))
            whole = Path(scratch) / "whole.npz"
            np.savez(whole, **arrays)  # type: ignore[arg-type]  # the names are ours
            whole.replace(target)
    except OSError as error:
        reason = "the disk is full" if error.errno == errno.ENOSPC else error.strerror or error
        raise DataError(
            f"{name} cannot be kept in {target.parent}: {reason}. "
            "Make room or give permission there, or set PARTWISE_CACHE to another directory."
        ) from None
    return target
