"""What must hold of arrays that are gathered or scattered, said before anyone waits for anyone."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Any

from numpy.typing import NDArray

from partwise.errors import RunError


def check_part(part: NDArray[Any], widths: Sequence[int], rank: int, size: int) -> None:
    """A part to be gathered must be as wide as was announced."""
    if len(widths) != size or part.shape[-1] != widths[rank]:
        raise RunError(
            f"Rank {rank} of {size} gathers a part of shape {part.shape}, but the widths are {tuple(widths)}."
        )


def check_whole(A: NDArray[Any], widths: Sequence[int], size: int) -> None:
    """What is to be scattered must have a share for everyone."""
    if len(widths) != size or A.shape[-1] != sum(widths):
        raise RunError(
            f"An array of shape {A.shape} cannot be scattered by the widths {tuple(widths)} to {size} ranks."
        )


def shares(widths: Sequence[int]) -> list[slice]:
    """Where each rank's share lies along the last axis."""
    ends = accumulate(widths)
    return [slice(end - width, end) for end, width in zip(ends, widths, strict=True)]
