"""The digest by which a manifest names its data."""

from __future__ import annotations

import hashlib
from pathlib import Path

from partwise.errors import DataError


def digest(path: str | Path) -> str:
    """SHA-256, in hexadecimal, of a file's bytes; of a directory, of its sorted files' digests and names."""
    path = Path(path)
    try:
        return _of_directory(path) if path.is_dir() else _of_file(path)
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror}. Check the path and its permissions.") from None


def _of_file(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _of_directory(path: Path) -> str:
    total = hashlib.sha256()
    for name, file in sorted((file.relative_to(path).as_posix(), file) for file in path.rglob("*") if file.is_file()):
        total.update(f"{_of_file(file)}  {name}\n".encode(errors="surrogateescape"))
    return total.hexdigest()
