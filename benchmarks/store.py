"""Results on disk: CSV files to which every run is added as it ends, and a manifest of what made them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, final

import partwise
from partwise.reports import tables
from partwise.reports.machine import blas, machine, versions
from partwise.reports.tables import Row

__all__ = ["Row", "Store", "tidy"]

PEERS = ("nmf-torch", "torchnmf", "nimfa", "torch")


@final
@dataclass(frozen=True)
class Store:
    """A folder of results."""

    folder: Path

    def rows(self, table: str) -> list[Row]:
        """All rows of a table; a last line that was cut off when a run was killed does not count."""
        return tables.Store(self.folder).rows(table)

    def add(self, table: str, *rows: Mapping[str, Any]) -> None:
        """Append rows, which all have the same names."""
        tables.Store(self.folder).add(table, *({name: tidy(value) for name, value in row.items()} for row in rows))

    def drop(self, tables: Iterable[str]) -> None:
        """Forget what is there."""
        for name in (*(f"{table}.csv" for table in tables), "manifest.json"):
            (self.folder / name).unlink(missing_ok=True)

    def manifest(self) -> dict[str, Any]:
        """What made the results."""
        path = self.folder / "manifest.json"
        return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}

    def sign(self, asked: Mapping[str, Any]) -> str | None:
        """Write down what makes the results from now on; what differs from what made those already there, if anything does."""
        kept, now = self.manifest(), made_with()
        known = kept.get("made_with", now)
        changed = [name for name in now if known.get(name) != now[name]]
        if changed:
            return ", ".join(changed)
        runs = [*kept.get("runs", []), {"date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"), **asked}]
        self.folder.mkdir(parents=True, exist_ok=True)
        text = json.dumps({"made_with": now, "runs": runs}, indent=1)
        (self.folder / "manifest.json").write_text(text + "\n", encoding="utf-8")
        return None


def made_with() -> dict[str, Any]:
    """Versions and machine, no names of hosts; partwise also by a digest of its source."""
    peers = {}
    for package in PEERS:
        try:
            peers[package] = version(package)
        except PackageNotFoundError:
            peers[package] = "not installed"
    return {"versions": versions() | peers, "source": source(), "machine": machine(), "blas": _blas()}


def _blas() -> list[str]:
    """The libraries, in an order that does not depend on when they were loaded."""
    return sorted({f"{library['internal_api']} {library['version']} ({library['architecture']})" for library in blas()})


def source() -> str:
    """A digest of all of partwise's source files."""
    root = Path(partwise.__file__).parent
    digest = hashlib.sha256()
    for path in sorted(root.rglob("*.py")):
        digest.update(path.relative_to(root).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


def tidy(value: Any) -> Any:
    """Numbers as short as they can be without losing what was measured."""
    return f"{value:.6g}" if isinstance(value, float) else value
