"""Components on fewer columns, for choosing between starts: a random sign for each feature, and every WIDTH-th feature summed.

Distances between components are kept in the mean, with a relative spread of about √(2 / WIDTH): enough to tell good starts from bad ones.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from partwise.currency import Array
from partwise.randomness import Purpose, generator

WIDTH = 512


def folded(parts: Sequence[Array], first: Array | None, seed: int) -> tuple[list[Array], Array | None]:
    """The parts, and the H before them, on WIDTH columns; as they are where there are fewer than four times as many."""
    m = parts[0].shape[1]
    if m < 4 * WIDTH:
        return list(parts), first
    signs = generator(seed, Purpose.BARYCENTER).choice(np.array([-1, 1], parts[0].dtype), size=m)
    return [_fold(part, signs) for part in parts], None if first is None else _fold(first, signs)


def _fold(part: Array, signs: Array) -> Array:
    """(k, WIDTH)."""
    k, m = part.shape
    whole = m // WIDTH * WIDTH
    narrow = np.einsum(
        "kcd,cd->kd", part[:, :whole].reshape(k, -1, WIDTH), signs[:whole].reshape(-1, WIDTH).astype(part.dtype)
    )
    narrow[:, : m - whole] += part[:, whole:] * signs[whole:]
    return narrow
