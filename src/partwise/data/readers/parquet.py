"""Parquet: the columns of numbers, and a column or index of row names."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from partwise.data.readers.structure import check_extent, refusing, text
from partwise.data.readers.table import Contents
from partwise.errors import DataError, MissingExtraError, OptionError


class Columns(NamedTuple):
    """Which columns hold what."""

    numbers: list[str]
    row_names: list[str]  # one, or none


def read_parquet(path: Path, columns: Sequence[str] | None = None) -> Contents:
    """X (n, m) in memory, of the columns' common dtype; missing values are NaN."""
    try:
        from pyarrow import parquet
    except ImportError:
        raise MissingExtraError("Reading Parquet", "pyarrow", "io") from None
    with refusing(path, "a Parquet file"), parquet.ParquetFile(path) as file:
        chosen = _choose(file.schema_arrow, columns, path)
        check_extent((file.metadata.num_rows, len(chosen.numbers)), path)
        X, row_names = [], []
        for batch in file.iter_batches(columns=chosen.numbers + chosen.row_names):
            X.append(np.column_stack([_values(batch.column(name)) for name in chosen.numbers]))
            for name in chosen.row_names:
                row_names += text("" if cell is None else cell for cell in batch.column(name).to_pylist())
        return Contents(np.concatenate(X), tuple(chosen.numbers), tuple(row_names) if chosen.row_names else None)


def _choose(schema: Any, columns: Sequence[str] | None, path: Path) -> Columns:
    kinds = {field.name: _kind(field.type) for field in schema}
    if len(kinds) != len(schema):
        raise DataError(f"{path} has several columns of the same name. Expected different names; rename them.")
    index = [name for name in (schema.pandas_metadata or {}).get("index_columns", []) if name in kinds]
    texts = [name for name, kind in kinds.items() if kind == "text" and name not in index]
    row_names = index if len(index) == 1 else [] if index else texts if len(texts) == 1 else []
    if columns is not None:
        absent = [name for name in columns if name not in kinds]
        if absent:
            raise OptionError(f"{path} has no column {absent[0]!r}. Its columns are: {', '.join(list(kinds)[:50])}.")
    numbers = list(columns) if columns is not None else [name for name in kinds if name not in (*index, *row_names)]
    strange = [f"{name} ({schema.field(name).type})" for name in numbers if kinds[name] != "numbers"]
    if strange:
        raise DataError(
            f"{path} has columns that are not numbers: {', '.join(strange[:20])}. Expected numbers, and at most one "
            "column of text with the rows' names: choose columns of numbers with columns=."
        )
    return Columns(numbers, [name for name in row_names if name not in numbers])


def _kind(dtype: Any) -> str:
    from pyarrow import types

    if types.is_dictionary(dtype):
        dtype = dtype.value_type
        return "text" if types.is_string(dtype) or types.is_large_string(dtype) else "other"
    if types.is_integer(dtype) or types.is_floating(dtype) or types.is_boolean(dtype) or types.is_decimal(dtype):
        return "numbers"
    return "text" if types.is_string(dtype) or types.is_large_string(dtype) or types.is_string_view(dtype) else "other"


def _values(column: Any) -> NDArray[Any]:
    """One column of a batch; decimals, and booleans with gaps, have no NumPy form but float64."""
    from pyarrow import float64, types

    if types.is_decimal(column.type) or (types.is_boolean(column.type) and column.null_count):
        column = column.cast(float64())
    return column.to_numpy(zero_copy_only=False)
