"""The private methods by name: what `method=` and `--method` take, and the options of each."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from partwise.algorithms.private.moments import Moments
from partwise.algorithms.private.query import Knowledge, PrivateMethod
from partwise.errors import OptionError

WIDE = 3000  # features: a second moment of more takes over 70 MB, and its noise grows with √m
SPARSE = 0.1  # of the entries: below, data counts as sparse


def moments(known: Knowledge, *, start_share: float = 0.1, quantile: float = 0.25) -> PrivateMethod:
    """Three releases, then NMF of simulated rows; `start_share` is for the mean, `quantile` of the records are not clipped."""
    mean = within(start_share, "start_share", 0, 0.99)
    return Moments(known, (mean, 0.01, 0.99 - mean), within(quantile, "quantile", 0, 1))


METHODS: Mapping[str, Callable[..., PrivateMethod]] = {"moments": moments}


class Choice(NamedTuple):
    """A method's name and why it was picked."""

    name: str
    why: str


def choose(known: Knowledge, *, sparse: bool, why: str) -> Choice:
    """By the number of features, and by sparsity, where that is public: the data itself is not looked at."""
    if known.m <= WIDE:
        return Choice("moments", f"{known.m} features: few enough for a second moment, which is released once")
    name, kind = ("plain", "sparse") if sparse else ("residual", "dense")
    return Choice(name, f"{known.m} features, and {kind} ({why})")


def method(name: str, known: Knowledge, options: Mapping[str, Any]) -> PrivateMethod:
    """The named method, or the sentence why not."""
    if name not in METHODS:
        raise OptionError(f"method={name!r} is not known; expected one of: auto, {', '.join(METHODS)}.")
    build = METHODS[name]
    can = [p.name for p in inspect.signature(build).parameters.values() if p.kind is p.KEYWORD_ONLY]
    unknown = sorted(set(options) - set(can))
    if unknown:
        raise OptionError(f"method={name!r} does not know {', '.join(unknown)}; its options are: {', '.join(can)}.")
    return build(known, **options)


def within(value: Any, name: str, low: float, high: float) -> float:
    """A number strictly between, or a sentence."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not low < value < high:
        raise OptionError(f"{name}={value!r}; expected a number between {low} and {high}.")
    return float(value)
