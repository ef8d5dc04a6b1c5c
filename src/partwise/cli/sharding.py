"""What `partwise shard` does, step by step."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from rich.text import Text

from partwise.cli import screen, sources
from partwise.data.shards import Manifest, is_shards, read_manifest, write_shards
from partwise.data.shards.manifest import SPARSE
from partwise.data.shards.write import Seen
from partwise.reports.quantities import count, counted, duration, shape, share, size
from partwise.reports.whole_directory import making


class Made(NamedTuple):
    """A directory that is whole."""

    names: Sequence[str]
    manifest: Manifest
    seen: Seen
    target: Path
    seconds: float


def shard(
    data: Sequence[str], key: str | None, dtype: str | None, target: Path, *, memory: int, force: bool, quiet: bool
) -> Made:
    """Open the data, write the shards under another name, rename."""
    began = time.perf_counter()
    with making(target, is_shards, kind="a directory of shards", force=force) as partial:
        tables = [sources.open_table(name, key) for name in data]
        if not quiet:
            rows = sum(table.shape[0] for table in tables)
            said = f"{', '.join(data)}: {shape((rows, tables[0].shape[1]))}, {tables[0].X.dtype}; writing {target}"
            screen.to_stderr().print(Text(said), soft_wrap=True)
        manifest, seen = write_shards(partial, tables, dtype=dtype, memory=memory)
    return Made(data, replace(manifest, folder=target), seen, target, time.perf_counter() - began)


def _held(manifest: Manifest) -> str:
    n, m = manifest.shape
    density = f" ({share(manifest.stored / (n * m))} stored)" if manifest.layout == SPARSE else ""
    return f"{shape(manifest.shape)}, {manifest.layout}{density}, {manifest.dtype}"


def _bytes(manifest: Manifest) -> int:
    return sum(int(known["bytes"]) for known in manifest.files.values())


def _warnings(seen: Seen) -> list[str]:
    """What a fit will refuse, or must be told about: better known now than when many ranks have started."""
    said = []
    if seen.missing:
        said.append(f"{counted(seen.missing, 'NaN')} seen: a fit on ranks refuses them; impute them first")
    if seen.infinite:
        said.append(f"{count(seen.infinite)} infinite seen: a fit refuses them; replace them first")
    if seen.negative:
        said.append(f"{count(seen.negative)} negative seen: a fit refuses them unless told --negative clip")
    return said


def tell(made: Made) -> None:
    """A table."""
    rows = [("data", _held(made.manifest))]
    rows += [("beware", warning) for warning in _warnings(made.seen)]
    rows.append(("written", f"{size(_bytes(made.manifest))} in {duration(made.seconds)}"))
    target = screen.quoted(made.target)
    rows.append(("results", f"{target}/"))
    after = [f"mpiexec -n 4 partwise fit {target} -k K", f"partwise shard {target} --verify"]
    screen.show(f"Shards of {', '.join(made.names)}", rows, after)


def tell_json(made: Made) -> None:
    """shape, dtype, layout, stored, bytes, seconds, output, and what was seen that is no number ≥ 0."""
    held, seen = made.manifest, made.seen
    facts = {"shape": list(held.shape), "dtype": held.dtype.name, "layout": held.layout, "stored": held.stored}
    beware = {"missing": seen.missing, "infinite": seen.infinite, "negative": seen.negative}
    screen.show_json({**facts, **beware, "bytes": _bytes(held), "seconds": made.seconds, "output": str(made.target)})


def verify(folders: Sequence[Path], *, json: bool, quiet: bool) -> None:
    """Read every byte and compare."""
    found = [read_manifest(folder) for folder in folders]
    for manifest in found:
        manifest.verify()
    if json:
        screen.show_json({"verified": [str(folder) for folder in folders]})
    elif not quiet:
        whole = [(str(held.folder), f"{_held(held)}: {size(_bytes(held))} as they were written") for held in found]
        screen.show("Verified", whole)
