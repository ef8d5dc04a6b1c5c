"""A state as arrays in files, one for each rank, and a rank's part put together from them.

Columns of `Wt` and `carry_W`, and of what is remembered under a name that begins with W, belong to rows of W; those of `H` likewise to
columns of H. Whatever else is remembered is the same on all ranks.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from partwise.currency import Array, Carry, State
from partwise.errors import RunError

Arrays = Mapping[str, np.ndarray]


class Part(NamedTuple):
    """What a rank holds of the factors: rows of W and columns of H."""

    W: slice
    H: slice

    @property
    def numbers(self) -> tuple[int, int, int, int]:
        """Where both begin and end."""
        return self.W.start, self.W.stop, self.H.start, self.H.stop


class Stored(NamedTuple):
    """A file of a checkpoint, and whose part it holds."""

    file: str
    sha256: str
    part: Part


def whole(state: State) -> Part:
    """The part of a process that is alone."""
    return Part(slice(0, state.Wt.shape[1]), slice(0, state.H.shape[1]))


def take_apart(state: State) -> tuple[dict[str, np.ndarray], dict[str, float]]:
    """(arrays, numbers), each with its name."""
    arrays: dict[str, np.ndarray] = {"Wt": state.Wt, "H": state.H}
    arrays |= {f"carry_W.{i}": part for i, part in enumerate(state.carry_W)}
    arrays |= {f"carry_H.{i}": part for i, part in enumerate(state.carry_H)}
    scalars = {"loss": state.loss, "penalty": state.penalty, "violation": state.violation}
    for key, value in state.memory.items():
        (arrays if isinstance(value, np.ndarray) else scalars)[f"memory.{key}"] = value  # type: ignore[index]
    return arrays, {key: float(value) for key, value in scalars.items()}


def put_together(arrays: Mapping[str, Array], scalars: Mapping[str, float]) -> State:
    """The state again."""

    def carry(side: str) -> Carry:
        count = sum(key.startswith(f"carry_{side}.") for key in arrays)
        return tuple(arrays[f"carry_{side}.{i}"] for i in range(count))

    remembered = {**arrays, **scalars}
    memory = {key.removeprefix("memory."): value for key, value in remembered.items() if key.startswith("memory.")}
    return State(
        arrays["Wt"], arrays["H"], scalars["loss"], scalars["penalty"], scalars["violation"], carry("W"), carry("H"), memory
    )  # fmt: skip


def recut(
    wanted: Part | None, rank: int, files: Sequence[Stored], read: Callable[[Stored], Arrays]
) -> dict[str, Array]:
    """A part's arrays: from the rank's own file, to the bit, if it holds just this part; else from pieces of the files it touches."""
    wanted = wanted or Part(slice(0, max(f.part.W.stop for f in files)), slice(0, max(f.part.H.stop for f in files)))
    if rank < len(files) and files[rank].part == wanted:
        return dict(read(files[rank]))
    of_W = _pieces(files, wanted.W, lambda part: part.W)
    of_H = _pieces(files, wanted.H, lambda part: part.H)
    held = {stored.file: read(stored) for stored, _ in (*of_W, *of_H)}
    first = next(iter(held.values()))
    arrays = {}
    for name, array in first.items():
        pieces = {"W": of_W, "H": of_H}.get(_side(name))
        cuts = None if pieces is None else [held[stored.file][name][..., inside] for stored, inside in pieces]
        arrays[name] = array if cuts is None else np.ascontiguousarray(np.concatenate(cuts, axis=-1))
    return arrays


def _side(name: str) -> str:
    """W or H, or neither."""
    return name.removeprefix("memory.").rpartition("inner.")[2].removeprefix("carry_")[:1]


def _pieces(files: Sequence[Stored], wanted: slice, side: Callable[[Part], slice]) -> list[tuple[Stored, slice]]:
    """(file, where in its part) from left to right, covering what is wanted once."""
    found: list[tuple[Stored, slice]] = []
    reached = wanted.start
    for stored in sorted(files, key=lambda stored: side(stored.part).start):
        held = side(stored.part)
        if held.start <= reached < min(held.stop, wanted.stop):
            stop = min(held.stop, wanted.stop)
            found.append((stored, slice(reached - held.start, stop - held.start)))
            reached = stop
    if reached < wanted.stop:
        raise RunError(
            f"The checkpoint has nothing for places {reached} to {wanted.stop - 1} of a factor; start again."
        )
    return found or [(files[0], slice(0, 0))]
