"""Tables of results: CSV files with every digit, to which each run is added as it ends; and tables for people."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

from partwise.reports.run_directory import writing

Row = dict[str, str]
Cells = list[list[str]]


@final
@dataclass(frozen=True)
class Store:
    """A folder of CSV files."""

    folder: Path

    def path(self, table: str) -> Path:
        """Where a table is."""
        return self.folder / f"{table}.csv"

    def rows(self, table: str) -> list[Row]:
        """All rows of a table; a last line that was cut off when a run was killed does not count."""
        path = self.path(table)
        if not path.exists():
            return []
        text = path.read_text(encoding="utf-8")
        return list(csv.DictReader(io.StringIO(text[: text.rfind("\n") + 1])))

    def add(self, table: str, *rows: Mapping[str, Any]) -> None:
        """Append rows, which all have the same names."""
        if not rows:
            return
        path = self.path(table)
        with writing(path):
            self.folder.mkdir(parents=True, exist_ok=True)
            kept = path.read_text(encoding="utf-8") if path.exists() else ""
            if kept and not kept.endswith("\n"):
                path.write_text(kept[: kept.rfind("\n") + 1], encoding="utf-8")
            names = next(csv.reader(io.StringIO(kept))) if kept else list(rows[0])
            lines = io.StringIO()
            writer = csv.DictWriter(lines, names, lineterminator="\n")
            if not kept:
                writer.writeheader()
            writer.writerows(rows)  # floats by repr: no digit is lost; another name than the first row's is an error
            with path.open("a", encoding="utf-8") as file:
                file.write(lines.getvalue())

    def drop(self, tables: Iterable[str]) -> None:
        """Forget these tables."""
        for table in tables:
            self.path(table).unlink(missing_ok=True)


def text(table: Sequence[Sequence[str]]) -> str:
    """In columns, the first line being the names."""
    widths = [max(len(line[i]) for line in table) for i in range(len(table[0]))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in table
    )


def markdown(table: Sequence[Sequence[str]]) -> str:
    """For the documentation."""
    lines = ["| " + " | ".join(line) + " |" for line in table]
    return "\n".join([lines[0], "|" + "---|" * len(table[0]), *lines[1:]])
