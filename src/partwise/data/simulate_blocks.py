"""The generator of FNMF's experiments: dense blocks at random places, and noise that is never negative (Dalleiger & Gionis, section 4)."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import DTypeLike

from partwise.currency import Array
from partwise.data.simulate import Problem
from partwise.errors import OptionError
from partwise.randomness import BLOCK, Purpose, generator

FACTORS, NOISE = 3, 4  # iterations of the counter, beside those of `simulate`

Noise = Callable[[np.random.Generator, float, tuple[int, int]], Array]
NOISES: Mapping[str, Noise] = {
    "binomial": lambda rng, level, shape: rng.binomial(1, min(level, 1.0), shape).astype(np.float64),
    "gaussian": lambda rng, level, shape: level * np.abs(rng.standard_normal(shape)),  # truncated to what is positive
    "exponential": lambda rng, level, shape: rng.exponential(level, shape) if level else np.zeros(shape),
}


def blocks(
    n: int, m: int, k: int, *, seed: int, noise: str = "gaussian", level: float = 0.1, extent: float = 0.2,
    dtype: DTypeLike = np.float64,
) -> Problem:  # fmt: skip
    """X (n, m) = Σ_j of k blocks of ones + noise; a block covers about `extent` of the rows and of the columns.

    `level` is the probability of a one ("binomial"), the scale ("gaussian", truncated to be positive) or the mean ("exponential").
    """
    if noise not in NOISES:
        raise OptionError(f"noise={noise!r} is not known; expected one of: {', '.join(NOISES)}.")
    if not 0 < extent <= 1 or not level >= 0:
        raise OptionError(f"extent={extent!r}, level={level!r}; expected a share in (0, 1] and a number ≥ 0.")
    rng = generator(seed, Purpose.SIMULATE, FACTORS)
    W = _runs(rng, n, k, extent)
    H = _runs(rng, m, k, extent)
    X = (W.T @ H).astype(dtype)
    for start in range(0, n, BLOCK):
        rows = X[start : start + BLOCK]
        rows += NOISES[noise](generator(seed, Purpose.SIMULATE, NOISE, start // BLOCK), level, rows.shape).astype(dtype)
    return Problem(X, W.astype(dtype).T, H.astype(dtype))


def _runs(rng: np.random.Generator, size: int, k: int, extent: float) -> Array:
    """(k, size): ones over a run of half to one and a half times `extent` at a random place, shuffled over all places alike."""
    lengths = np.clip(np.round(size * extent * rng.uniform(0.5, 1.5, k)), 1, size).astype(int)
    starts = (rng.random(k) * (size - lengths + 1)).astype(int)
    place = np.arange(size)
    inside = (place >= starts[:, None]) & (place < (starts + lengths)[:, None])
    return inside[:, rng.permutation(size)].astype(np.float64)
