"""DATA on the command line: a file, or the name of a data set."""

from __future__ import annotations

from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any, final

import numpy as np

from partwise import datasets
from partwise.cli.features import Features
from partwise.data import Entries, MaskedSparse, Sparse, as_matrix
from partwise.data.opening import Opened, open_parts
from partwise.data.readers import FORMATS, Table, read
from partwise.drivers.agreement import all_or_none
from partwise.errors import DataError, OptionError
from partwise.protocols import Comm
from partwise.reports.quantities import shape, share


@final
@dataclass(frozen=True)
class Source:
    """What DATA named, checked and ready."""

    name: str
    table: Table  # without its X, which would be held twice where it was converted
    X: Entries
    options: dict[str, Any]  # what decided how the entries are taken

    def density(self) -> float:
        """The share of entries that a product touches."""
        n, m = self.X.shape
        return self.X.nnz / (n * m)

    @property
    def held(self) -> str:
        """How X is held: dense, sparse (with its density), or read from disk."""
        if _sparse(self.X) is not None:
            return f"sparse ({share(self.density())} stored)"
        return "dense" if self.resident() else "dense, read from disk by blocks"

    def resident(self) -> int:
        """Bytes of X in memory."""
        stored = _sparse(self.X)
        if stored is not None:
            return stored.data.nbytes + stored.indices.nbytes + stored.indptr.nbytes
        array = getattr(self.X, "array", None)
        return 0 if array is None or _mapped(array) else array.nbytes

    def describe(self) -> str:
        """1,797 × 64, dense, float64."""
        return f"{shape(self.X.shape)}, {self.held}, {self.X.dtype}"

    def facts(self) -> dict[str, Any]:
        """For the manifest."""
        table = self.table
        facts = {"name": self.name, "format": table.format, "key": table.key, "sha256": table.digest()}
        stored = {"shape": list(self.X.shape), "dtype": self.X.dtype.name, "stored": self.X.nnz}
        return facts | stored | {"held": self.held, **self.options}


@final
@dataclass(frozen=True)
class OnRanks:
    """What DATA named, of which each rank reads its part."""

    name: str
    X: Opened
    options: dict[str, Any]

    @property
    def held(self) -> str:
        """How X is held: by parts, dense or sparse."""
        n, m = self.X.shape
        return f"sparse ({share(self.X.nnz / (n * m))} stored)" if self.X.sparse else "dense"

    def describe(self) -> str:
        """1,797 × 64, dense, float64."""
        return f"{shape(self.X.shape)}, {self.held}, {self.X.dtype}"

    def facts(self) -> dict[str, Any]:
        """For the manifest; no digest of a file that no rank reads whole."""
        X = self.X
        facts = {"name": self.name, "format": X.format, "key": X.key, "sha256": X.digest(), "bytes": X.bytes}
        stored = {"shape": list(X.shape), "dtype": X.dtype.name, "stored": X.nnz}
        return facts | stored | {"held": self.held, **self.options}


def _sparse(X: Entries) -> Any:
    if isinstance(X, MaskedSparse):
        X = X.entries
    return X.stored if isinstance(X, Sparse) else None


def _mapped(array: Any) -> bool:
    while isinstance(array, np.ndarray):
        if isinstance(array, np.memmap):
            return True
        array = array.base
    return False


def load(
    data: str, key: str | None, missing: str, negative: str, dtype: Any = None, features: Features | None = None
) -> Source:
    """Find, read and check what DATA names; with `features`, exactly those, in their order."""
    table = open_table(data, key)
    X = table.X if features is None else features.of(table)
    options = {"missing": missing, "negative": negative}
    return Source(data, replace(table, X=None), as_matrix(X, dtype=dtype, **options), options)  # type: ignore[arg-type]


def by_parts(data: str, key: str | None, missing: str, negative: str, dtype: Any, comm: Comm) -> OnRanks:
    """Find and open what DATA names, on every rank. A collective call."""
    if missing != "error":
        raise OptionError(
            f"--missing {missing} is for one process: on ranks X must be complete. Impute what is missing first."
        )
    with all_or_none(comm):
        if comm.rank == 0:
            found(data)  # a data set is fetched once, and found by the others where it then is
    with all_or_none(comm):
        X = open_parts(found(data), key=key, negative=negative, dtype=dtype)
    return OnRanks(data, X, {"missing": missing, "negative": negative})


def open_table(data: str, key: str | None) -> Table:
    """What DATA names, read or opened, its values not yet looked at."""
    return read(found(data), key=key)


def found(data: str) -> str | Path:
    """Where it is."""
    known = [dataset.name for dataset in datasets.available()]
    if data in known:  # a file of this name is ./name
        return datasets.fetch(data)
    suffixes = tuple(suffix for form in FORMATS for suffix in form.suffixes)
    if Path(data).exists() or data.lower().endswith(suffixes) or "/" in data:
        return data
    close = get_close_matches(data, known, 3)
    hint = f"Did you mean {' or '.join(close)}?" if close else "`partwise datasets list` shows the data sets."
    raise DataError(f"There is no file {data} (looked from {Path.cwd()}) and no data set of that name. {hint}")
