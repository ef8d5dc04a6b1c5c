"""Making a run directory: whole or absent.

All is written into `run.partial/`, which is renamed to `run/` when it is complete. What stood under that name before stays until then.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from partwise.drivers import checkpoint
from partwise.errors import OptionError, RunError
from partwise.reports.lock import alone, refuse_if_busy
from partwise.reports.whole_directory import partial_of, refuse_occupied, rename, writing

MANIFEST, MODEL, NAMES, TRACE, CHECKPOINT = (
    "manifest.json", "model.safetensors", "names.json", "trace.jsonl", "checkpoint",
)  # fmt: skip
KIND = "partwise run"
SCHEMA = 1


@contextmanager
def claimed(
    target: Path, *, force: bool = False, resume: bool = False, begun: Callable[[Path], bool] = checkpoint.exists
) -> Iterator[Path]:
    """The partial directory to work in. When the work fails it stays if it holds a checkpoint, and goes if it does not.

    `begun` tells whether there is anything to go on from in a directory of checkpoints.
    """
    partial = partial_of(target)
    refuse_if_busy(partial)
    if resume:
        _prepare_resume(target, partial, force, begun)
    else:
        _prepare_fresh(target, partial, force, begun)
    with writing(partial):
        partial.mkdir(parents=True, exist_ok=True)
    try:
        with alone(partial):
            yield partial
    except BaseException:
        if not begun(partial / CHECKPOINT):
            shutil.rmtree(partial, ignore_errors=True)
        raise


def is_run(folder: Path) -> bool:
    """Whether a directory is a run of ours, whole."""
    try:
        return json.loads((folder / MANIFEST).read_text(encoding="utf-8")).get("kind") == KIND
    except (OSError, ValueError, AttributeError):
        return False


def _prepare_fresh(target: Path, partial: Path, force: bool, begun: Callable[[Path], bool]) -> None:
    refuse_occupied(target, is_run, kind="a run", force=force)
    if begun(partial / CHECKPOINT) and not force:
        raise OptionError(
            f"{partial} holds an interrupted run. Go on with it by --resume, or start over by --force (which removes it)."
        )
    shutil.rmtree(partial, ignore_errors=True)


def _prepare_resume(target: Path, partial: Path, force: bool, begun: Callable[[Path], bool]) -> None:
    if force:
        raise OptionError("--force starts over and --resume goes on: give one of them.")
    if begun(partial / CHECKPOINT):
        return
    if begun(target / CHECKPOINT):  # it used up its iterations or its time: go on from where it stood
        with writing(partial):
            shutil.rmtree(partial, ignore_errors=True)
            shutil.copytree(target / CHECKPOINT, partial / CHECKPOINT)
        return
    if is_run(target):
        raise RunError(f"{target} is whole and had converged: there is nothing to resume.")
    raise RunError(
        f"There is nothing to resume: neither {partial} nor {target} holds a checkpoint. Leave --resume out."
    )


def publish(partial: Path, target: Path, *, keep_checkpoint: bool, replace: bool) -> None:
    """Give the complete run its name; what had the name goes only then."""
    if not keep_checkpoint:
        shutil.rmtree(partial / CHECKPOINT, ignore_errors=True)
    rename(partial, target, is_run, replace=replace)


def write_json(path: Path, content: Mapping[str, Any]) -> None:
    """Valid JSON: what is not a number is null."""
    path.write_text(json.dumps(strict(content), indent=2, ensure_ascii=False, allow_nan=False) + "\n", encoding="utf-8")


def strict(value: Any) -> Any:
    """With None for NaN and infinities, at every depth."""
    if isinstance(value, Mapping):
        return {str(key): strict(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [strict(inner) for inner in value]
    if isinstance(value, float):
        return value if value == value and abs(value) != float("inf") else None
    return value
