"""Random numbers by counter: the same numbers whoever draws them, in whatever order, on any number of ranks.

A number is named by (seed, purpose, iteration, block), never by who asks or when (docs/decisions/0004-generators-by-counter.md).
Rows are drawn in blocks of `BLOCK`, so that a shard can draw just its own rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from enum import IntEnum

import numpy as np

from partwise.currency import Array

BLOCK = 1024  # rows that share a counter; part of the definition of every random start and sketch: never change it


class Purpose(IntEnum):
    """What the numbers are for; two purposes never share numbers."""

    START_W = 1
    START_H = 2
    RANGE = 3  # test matrices of range finders
    KMEANS = 4
    SKETCH_W = 5  # the sketch in the W-update
    SKETCH_H = 6  # the sketch in the H-update
    SHUFFLE = 7  # the order of minibatches
    SIMULATE = 8
    RESEED = 9  # dead components
    ORDER = 10  # in which components take their turns
    PARTITION = 11  # which rows go to which simulated party
    ARRIVALS = 12  # speeds and delays of simulated parties, and who vanishes
    PARTICIPATION = 13  # which parties are drawn in a round
    LOCAL_START = 14  # starts of parties that begin apart
    BARYCENTER = 15  # starts of barycenters
    NOISE = 16  # of reproducible private runs, which are marked insecure
    AUDIT = 17  # trials of audits and attacks
    IMPORTANCE = 18  # samples drawn by importance
    MASKING = 19  # who masks with whom in a secure sum of many


def generator(seed: int, purpose: Purpose, t: int = 0, block: int = 0) -> np.random.Generator:
    """The generator for one purpose, iteration and block of rows."""
    return np.random.Generator(np.random.Philox(key=[seed, int(purpose)], counter=[0, 0, t, block]))


def column_blocks(start: int, stop: int) -> Iterator[tuple[int, slice, slice]]:
    """(block, where in the block, where in [start, stop)) for the blocks that [start, stop) touches."""
    for block in range(start // BLOCK, -(-stop // BLOCK)):
        low, high = max(start, block * BLOCK), min(stop, (block + 1) * BLOCK)
        yield block, slice(low - block * BLOCK, high - block * BLOCK), slice(low - start, high - start)


def columns(
    draw: Callable[[np.random.Generator, int], Array],
    shape: tuple[int, int],
    seed: int,
    purpose: Purpose,
    *,
    t: int = 0,
    start: int = 0,
) -> Array:
    """(k, r): columns start … start + r of the endless random matrix (seed, purpose, t).

    `draw(rng, size)` gives (size, k) numbers for a whole block, one row for each column of the result.
    """
    k, r = shape
    out = np.empty((k, r))
    for block, inside, here in column_blocks(start, start + r):
        out[:, here] = draw(generator(seed, purpose, t, block), BLOCK)[inside].T
    return out
