"""Makes randomness smaller: S (m, d) with E[SSᵀ] = I, from (seed, purpose, iteration), drawn by rows and never sent."""

from __future__ import annotations

from partwise.errors import OptionError
from partwise.protocols import Sketch
from partwise.randomness import Purpose
from partwise.sketches.count import CountSketch
from partwise.sketches.gaussian import Gaussian
from partwise.sketches.importance import Importance
from partwise.sketches.srht import SRHT
from partwise.sketches.subsample import Subsample

__all__ = ["KINDS", "SRHT", "CountSketch", "Gaussian", "Importance", "Subsample", "sketch"]

KINDS = {"subsample": Subsample, "gaussian": Gaussian, "count": CountSketch, "srht": SRHT}


def sketch(kind: str, m: int, d: int, seed: int, t: int, purpose: Purpose) -> Sketch:
    """S (m, d) for iteration t; d is clipped to 1 … m. `kind="subsample"` with d = m is the identity."""
    if kind not in KINDS:
        raise OptionError(f"sketch={kind!r} does not exist; choose one of {', '.join(KINDS)}.")
    return KINDS[kind](m, min(max(d, 1), m), seed, t, purpose)
