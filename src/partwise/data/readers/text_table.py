"""Tables of text, .csv and .tsv, also gzipped: numbers in rows, with or without a header and a column of row names."""

from __future__ import annotations

import csv
import gzip
from collections.abc import Iterator, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from partwise.data.readers.structure import refusing
from partwise.data.readers.table import Contents
from partwise.errors import DataError, OptionError

_KIND = "a table of numbers as UTF-8 text"
_MISSING = ("", "NA")  # what a spreadsheet and R write for a missing number
_BLOCK = 4096  # rows that are held as text at a time

Row = tuple[int, list[str]]  # the line it ends on, its cells


class Layout(NamedTuple):
    """Where a table's numbers are."""

    width: int  # cells in a row
    names: list[str] | None  # of all columns but that of the row names
    named_rows: int  # 1 where the first column holds row names, else 0

    def positions(self, columns: Sequence[str] | None, path: Path) -> list[int]:
        """Of the wanted columns, counted without the row names."""
        if columns is None:
            return list(range(self.width - self.named_rows))
        if self.names is None:
            raise OptionError(f"{path} has no header, so columns={list(columns)} cannot be found; leave columns= out.")
        absent = [name for name in columns if name not in self.names]
        if absent:
            raise OptionError(f"{path} has no column {absent[0]!r}. Its columns are: {', '.join(self.names[:50])}.")
        return [self.names.index(name) for name in columns]


def read_text_table(
    path: Path, columns: Sequence[str] | None = None, delimiter: str | None = None, header: bool | None = None
) -> Contents:
    """X (n, m) as float64; empty cells and NA are NaN. `header=None` tells a header from numbers by looking."""
    delimiter = delimiter or ("\t" if ".tsv" in path.name.lower() else ",")
    with refusing(path, _KIND), _open(path) as file:
        reader = csv.reader(file, delimiter=delimiter, strict=True)
        rows = ((reader.line_num, cells) for cells in reader if cells)
        first = list(islice(rows, 2))
        layout = _layout([cells for _, cells in first], header, path)
        body = chain(first if layout.names is None else first[1:], rows)
        wanted = layout.positions(columns, path)
        row_names, X = _body(body, layout, wanted, path)
    names = None if layout.names is None else tuple(layout.names[j] for j in wanted)
    return Contents(X, names, tuple(row_names) if layout.named_rows else None)


def _open(path: Path) -> IO[str]:
    opener: Any = gzip.open if path.suffix.lower() == ".gz" else open
    return opener(path, "rt", encoding="utf-8-sig", newline="")


def _layout(first: list[list[str]], header: bool | None, path: Path) -> Layout:
    if not first:
        raise DataError(f"{path} holds no rows. Expected {_KIND}.")
    top = first[0]
    header = _looks_like_header(top, first[1:]) if header is None else header
    if not header:
        return Layout(len(top), None, int(len(top) > 1 and _is_text(top[0])))
    if len(first) == 1:
        raise DataError(f"{path} holds a header and no rows below it. Expected at least one row of numbers.")
    below = first[1]
    short = len(below) == len(top) + 1  # R leaves the corner out
    if not short and len(below) != len(top):
        raise _uneven(path, 2, len(below), len(top))
    named = short or (len(below) > 1 and (_is_text(below[0]) or not top[0].strip()))
    return Layout(len(below), top if short else top[int(named) :], int(named))


def _looks_like_header(top: list[str], below: list[list[str]]) -> bool:
    if any(_is_text(cell) for cell in top[1:]):
        return True
    if _is_text(top[0]):  # a header, unless it is the name of a row among named rows
        return bool(below) and not _is_text(below[0][0])
    return (
        len(top) > 1 and not top[0].strip() and top[1:] == [str(j) for j in range(len(top) - 1)]
    )  # pandas numbers columns


def _is_text(cell: str) -> bool:
    return _number(cell) is None


def _number(cell: str) -> float | None:
    """None where the cell is neither a number nor missing; Python alone takes 1_000 for a number."""
    if cell.strip() in _MISSING:
        return float("nan")
    try:
        return None if "_" in cell else float(cell)
    except ValueError:
        return None


def _body(rows: Iterator[Row], layout: Layout, wanted: list[int], path: Path) -> tuple[list[str], NDArray[np.float64]]:
    row_names: list[str] = []
    blocks: list[NDArray[np.float64]] = []
    taken = [j + layout.named_rows for j in wanted]
    every = taken == list(range(layout.named_rows, layout.width))
    while block := list(islice(rows, _BLOCK)):
        numbers = []
        for line, cells in block:
            if len(cells) != layout.width:
                raise _uneven(path, line, len(cells), layout.width)
            numbers.append(
                _numbers(cells[layout.named_rows :] if every else [cells[j] for j in taken], line, layout, wanted, path)
            )
        if layout.named_rows:
            row_names += [cells[0] for _, cells in block]
        blocks.append(np.array(numbers, dtype=np.float64))
    return row_names, np.concatenate(blocks)


def _uneven(path: Path, line: int, seen: int, expected: int) -> DataError:
    return DataError(
        f"{path}, line {line} has {seen} cells. Expected {expected}, as in the lines before it; complete it."
    )


def _numbers(cells: list[str], line: int, layout: Layout, wanted: list[int], path: Path) -> list[float]:
    try:
        if "_" not in "".join(cells):
            return [float(cell) for cell in cells]
    except ValueError:  # a missing number, or text
        pass
    numbers = [_number(cell) for cell in cells]
    if None not in numbers:
        return numbers  # type: ignore[return-value]
    at = numbers.index(None)
    column = wanted[at] + layout.named_rows + 1 if layout.names is None else repr(layout.names[wanted[at]])
    hint = "; if its cells are separated by something else, say delimiter=" if layout.width == 1 else ""
    raise DataError(
        f"{path}, line {line}, column {column} holds {cells[at][:40]!r}. Expected a number or an empty cell: "
        f"remove the text, or choose columns of numbers with columns={hint}."
    )
