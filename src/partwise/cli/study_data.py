"""The parties' data of a study: files of their own, or the rows of one matrix dealt out to them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from partwise import datasets
from partwise.cli import sources
from partwise.cli.study_file import Party, Split, StudyFile
from partwise.data import Entries, as_matrix
from partwise.data.partition import by_label, partition
from partwise.data.readers import Table, digest
from partwise.data.readers.labels import read_label_file, read_labels
from partwise.errors import DataError, DataTypeError, OptionError
from partwise.estimators.parties import Offer, admit
from partwise.reports.quantities import count


class Gathered(NamedTuple):
    """Every party's X (n_p, m), and what is known of it."""

    names: list[str]
    Xs: list[Entries]
    features: list[str] | None
    rows: list[NDArray[np.intp]] | None  # of the matrix that was dealt out
    row_names: list[tuple[str, ...] | None]
    facts: dict[str, Any]

    def describe(self) -> str:
        """20 parties of 35 to 350 rows, 784 features, float64."""
        sizes = sorted(X.shape[0] for X in self.Xs)
        rows = count(sizes[0]) if sizes[0] == sizes[-1] else f"{count(sizes[0])} to {count(sizes[-1])}"
        parties = "1 party" if len(sizes) == 1 else f"{count(len(sizes))} parties"
        return f"{parties} of {rows} rows, {count(self.Xs[0].shape[1])} features, {self.Xs[0].dtype}"


def gather(study: StudyFile) -> Gathered:
    """Read, check, match the features by name."""
    return _own(study) if study.split is None else _dealt(study, study.split)


def _own(study: StudyFile) -> Gathered:
    tables = [_opened(study, party) for party in study.parties]
    offers = [
        Offer(table.X, table.feature_names, f"party {party.name}")
        for party, table in zip(study.parties, tables, strict=True)
    ]
    admitted = admit(offers, dtype=study.dtype, negative=study.negative)
    facts = [{"name": party.name, "data": party.data, **_about(table, X)}
             for party, table, X in zip(study.parties, tables, admitted.Xs, strict=True)]  # fmt: skip
    names, rows = [party.name for party in study.parties], [table.row_names for table in tables]
    return Gathered(names, admitted.Xs, admitted.names, None, rows, {"parties": facts})


def _opened(study: StudyFile, party: Party) -> Table:
    try:
        return sources.open_table(_where(study, party.data), party.key)
    except DataTypeError as error:
        raise DataTypeError(f"party {party.name}: {error}") from None
    except DataError as error:
        raise DataError(f"party {party.name}: {error}") from None


def _dealt(study: StudyFile, split: Split) -> Gathered:
    table = sources.open_table(_where(study, split.data), split.key)
    labels, labelled = _labels(study, split, table.path)
    places = partition(table.shape[0], split.parties, split.partition, labels=labels, seed=study.wishes.seed)
    X = as_matrix(table.X, dtype=study.dtype, negative=study.negative)  # type: ignore[arg-type]
    Xs: Any = [X.rows(rows) for rows in places]
    width = len(str(split.parties - 1))
    names = [f"party-{p:0{width}d}" for p in range(split.parties)]
    known = table.row_names
    rows = [None if known is None else tuple(known[i] for i in part) for part in places]
    features = None if table.feature_names is None else list(table.feature_names)
    about = {"data": split.data, **_about(table, X), "partition": split.partition, "labels": labelled}
    facts = {
        "dealt": about,
        "parties": [{"name": name, "rows": len(part)} for name, part in zip(names, places, strict=True)],
    }
    return Gathered(names, Xs, features, places, rows, facts)


def _labels(study: StudyFile, split: Split, data: Path) -> tuple[Any, dict[str, str] | None]:
    """The labels, where the partition goes by them, and where they are from."""
    if not by_label(split.partition):
        if split.labels is not None:
            raise OptionError(f'{study.path}: partition = "{split.partition}" looks at no labels: leave labels out.')
        return None, None
    named = split.labels or "y"
    if named.lower().endswith(".npy"):
        path = study.beside(named)
        return read_label_file(path), {"from": named, "sha256": digest(path)}
    return read_labels(data, named), {"from": named}


def _where(study: StudyFile, data: str) -> str:
    """The name of a data set, or a path beside the study's file."""
    known = {dataset.name for dataset in datasets.available()}
    return data if data in known else str(study.beside(data))


def _about(table: Table, X: Any) -> Mapping[str, Any]:
    return {
        "format": table.format,
        "key": table.key,
        "sha256": table.digest(),
        "shape": list(X.shape),
        "dtype": X.dtype.name,
    }
