"""Where noise comes from: the operating system's cryptographic generator, or, for repeatable and insecure runs, a counter."""

from __future__ import annotations

import os
from typing import Any, Protocol, final

import numpy as np
from scipy.special import ndtri

from partwise.currency import Array
from partwise.randomness import Purpose, generator


class NoiseSource(Protocol):
    """What a mechanism draws from; NumPy's Generator is one too."""

    def standard_normal(self, size: Any, /) -> Array: ...

    def standard_exponential(self, size: Any, /) -> Array: ...


@final
class SystemNoise:
    """From `os.urandom`, 64 fresh bits for each number: nobody can predict or repeat it, nobody needs to keep a seed secret."""

    def standard_normal(self, size: Any, /) -> Array:
        """N(0, 1), by the inverse of its distribution function, to 9 σ on either side."""
        upper, magnitude = self._bits(size)
        with np.errstate(under="ignore"):
            numbers = ndtri(magnitude)
        return np.where(upper, -numbers, numbers)

    def standard_exponential(self, size: Any, /) -> Array:
        """Exp(1)."""
        _, magnitude = self._bits(size)
        return -np.log(2 * magnitude)

    def _bits(self, size: Any) -> tuple[np.ndarray, Array]:
        """A fair coin and a uniform number in (0, ½), whose small values are as fine as 2⁻⁶⁵."""
        shape = (size,) if isinstance(size, int) else tuple(size)
        words = np.frombuffer(os.urandom(8 * int(np.prod(shape))), dtype=np.uint64).reshape(shape)
        return (words & np.uint64(1)).astype(bool), ((words >> np.uint64(1)).astype(np.float64) + 0.5) * 2.0**-64


def noise_source(insecure_seed: int | None = None, t: int = 0, block: int = 0) -> NoiseSource:
    """Secure noise; or, with `insecure_seed`, numbers that anybody who learns the seed can subtract again.

    A ledger must say which (`Terms.insecure_seed`). `t` and `block` name a round and a party.
    """
    if insecure_seed is None:
        return SystemNoise()
    return generator(insecure_seed, Purpose.NOISE, t, block)
