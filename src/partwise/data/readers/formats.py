"""Which reader serves which file."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from partwise.data.readers.hdf5 import read_h5ad, read_hdf5
from partwise.data.readers.matrix_market import read_matrix_market
from partwise.data.readers.npy import read_npy
from partwise.data.readers.npz import read_npz
from partwise.data.readers.parquet import read_parquet
from partwise.data.readers.shards import read_shards
from partwise.data.readers.structure import check_may_be_whole
from partwise.data.readers.table import Contents, Table
from partwise.data.readers.text_table import read_text_table
from partwise.data.readers.zarr_store import read_zarr
from partwise.data.shards.manifest import is_shards
from partwise.errors import DataError, OptionError


@dataclass(frozen=True)
class Format:
    """A kind of file: how it is recognised, read, and what may be asked of it."""

    name: str
    suffixes: tuple[str, ...]
    read: Callable[..., Contents]
    options: frozenset[str] = frozenset()
    directory: bool = False  # a directory may be one
    by_parts: str | None = None  # whether it stays on disk, to be read by parts


ALWAYS, SOMETIMES = "always", "where X is dense"
_KEY = frozenset({"key"})
_TEXT = frozenset({"columns", "delimiter", "header"})

FORMATS = (
    Format("npy", (".npy",), read_npy, by_parts=ALWAYS),
    Format("npz", (".npz",), read_npz, _KEY),
    Format("matrix-market", (".mtx", ".mtx.gz"), read_matrix_market),
    Format("csv", (".csv", ".csv.gz"), read_text_table, _TEXT),
    Format("tsv", (".tsv", ".tsv.gz"), read_text_table, _TEXT),
    Format("parquet", (".parquet",), read_parquet, frozenset({"columns"})),
    Format("h5ad", (".h5ad",), read_h5ad, _KEY, by_parts=SOMETIMES),
    Format("hdf5", (".h5", ".hdf5"), read_hdf5, _KEY, by_parts=SOMETIMES),
    Format("zarr", (".zarr", ".zarr.zip"), read_zarr, _KEY, directory=True, by_parts=SOMETIMES),
)
_SHARDS = Format("shards", (), read_shards, directory=True, by_parts=ALWAYS)  # told by its manifest


def read(
    path: str | Path,
    *,
    key: str | None = None,
    columns: Sequence[str] | None = None,
    delimiter: str | None = None,
    header: bool | None = None,
    most: int | None = None,
) -> Table:
    """The matrix in a file, whose format its suffix tells, or in a directory that `partwise shard` made.

    `key`: which array or layer, of .npz, .h5ad, HDF5 and zarr. `columns`: names of the columns to take, of .csv, .tsv
    and .parquet. `delimiter` and `header` (true or false, else found by looking): of .csv and .tsv. `most`: bytes beyond which
    a file that can only be read whole is refused.
    """
    path = Path(path)
    form = _format_of(path)
    asked: dict[str, Any] = {"key": key, "columns": columns, "delimiter": delimiter, "header": header}
    given = {name: value for name, value in asked.items() if value is not None}
    for name in given:
        if name not in form.options:
            raise OptionError(
                f"{name}= means nothing for {path}. It is for {', '.join(_suffixes(name))}; leave it out."
            )
    _check_openable(path, form)
    if most is not None and not form.by_parts:
        check_may_be_whole(path.stat().st_size, most, path)
    if most is not None and form.by_parts is SOMETIMES:
        given["most"] = most
    contents = form.read(path, **given)
    return Table(contents.X, contents.feature_names, contents.row_names, path, form.name, contents.key)


def _suffixes(option: str | None = None) -> list[str]:
    return [suffix for form in FORMATS if option is None or option in form.options for suffix in form.suffixes]


def _format_of(path: Path) -> Format:
    if is_shards(path):
        return _SHARDS
    name = path.name.lower()
    for form in FORMATS:
        if name.endswith(form.suffixes):
            return form
    seen = f"ends in {path.suffix!r}" if path.suffix else "has no suffix"
    raise DataError(f"{path} {seen}, which tells no known format. Known are: {', '.join(_suffixes())}.")


def _check_openable(path: Path, form: Format) -> None:
    """A file that is there, holds something and may be read."""
    try:
        if path.is_dir():
            if not form.directory:
                raise DataError(
                    f"{path} is a directory. Expected a file ending in {' or '.join(form.suffixes)}: name one in it."
                )
            return
        if not path.exists():
            raise DataError(f"There is no file {path} (looked from {Path.cwd()}). Check the path.")
        if not path.is_file():
            raise DataError(f"{path} is no ordinary file. Expected one; write the data to disk first.")
        with path.open("rb") as file:
            empty = not file.read(1)
    except OSError as error:
        raise DataError(f"{path} cannot be opened: {error.strerror}. Check its permissions.") from None
    if empty:
        raise DataError(f"{path} is empty (0 bytes). Expected {form.name} data; write or copy it again.")
