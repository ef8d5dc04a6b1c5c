"""AnnData's layout of a tree: X, layers and raw/X, with the names of cells (obs) and genes (var)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from partwise.data.readers.lazy import Opener
from partwise.data.readers.structure import check_names, listing, text
from partwise.data.readers.table import Contents, Names
from partwise.data.readers.trees import describe_node, is_array, matrix, strings
from partwise.errors import DataError


def is_annotated(root: Any) -> bool:
    """A tree that AnnData wrote, today or long ago."""
    return hasattr(root, "keys") and "obs" in root and "var" in root


def read_annotated(path: Path, root: Any, key: str | None, opener: Opener, most: int | None = None) -> Contents:
    """X, or what `key` names: a layer (`counts` or `layers/counts`) or `raw/X`."""
    found = _matrices(root)
    chosen = _resolve(key, found, path)
    X: Any = matrix(root[chosen], chosen, path, opener, most)
    genes = root["raw/var"] if chosen == "raw/X" and "raw/var" in root else root["var"]
    feature_names = check_names(_index(genes), X.shape[1], "column", path)
    return Contents(X, feature_names, check_names(_index(root["obs"]), X.shape[0], "row", path), chosen)


def _matrices(root: Any) -> dict[str, Any]:
    layers = root.get("layers", {})
    names = ["X", *(f"layers/{name}" for name in layers), "raw/X"]
    return {name: root[name] for name in names if name in root}


def _resolve(key: str | None, found: dict[str, Any], path: Path) -> str:
    wanted = "X" if key is None else key.strip("/")
    wanted = "raw/X" if wanted == "raw" else wanted
    for name in (wanted, f"layers/{wanted}"):
        if name in found:
            return name
    held = listing({name: describe_node(node) for name, node in found.items()}) or "no matrix"
    raise DataError(f"{path} has no {wanted!r}. It holds: {held}. Say which with key=.")


def _index(frame: Any) -> Names:
    """The names of a frame's rows; frames of old files are arrays of records."""
    if is_array(frame):
        fields = frame.dtype.names or ()
        name = next((name for name in ("_index", "index") if name in fields), None)
        return None if name is None else text(frame[...][name].tolist())
    name = frame.attrs.get("_index", "_index")
    return strings(frame[name]) if name in frame else None
