"""From what was typed to `Settings`."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from partwise.comm import Network
from partwise.errors import OptionError
from partwise.estimators.settings import BETAS
from partwise.reports.quantities import value_of
from partwise.start import METHODS

SECONDS = {"s": 1, "sec": 1, "m": 60, "min": 60, "h": 3600}


def loss(text: str) -> str | float:
    """The name of a loss, or β."""
    if text in BETAS:
        return text
    number = value_of(text)
    if not isinstance(number, (int, float)) or not math.isfinite(number):
        raise OptionError(f"--loss {text} is not known; expected {', '.join(BETAS)}, or a number β.")
    return float(number)


def init(text: str | None) -> str | None:
    """The name of a start that needs nothing but X."""
    known = [name for name in METHODS if name != "custom"]
    if text not in (None, *known):
        raise OptionError(f"--init {text} is not known; expected one of {', '.join(known)}.")
    return text


def dtype(text: str | None) -> str | None:
    """A working precision."""
    if text not in (None, "float32", "float64"):
        raise OptionError(f"--dtype {text} is not supported; expected float32 or float64.")
    return text


def alpha_H(text: str) -> float | str:
    """A penalty, or `same`."""
    number = value_of(text)
    if text != "same" and not isinstance(number, (int, float)):
        raise OptionError(f"--alpha-h {text} is not known; expected a number or 'same'.")
    return text if text == "same" else float(number)


def solver_options(pairs: Sequence[str] | None) -> dict[str, Any]:
    """name=value … as a mapping; values are numbers, true, false, or words."""
    options: dict[str, Any] = {}
    for pair in pairs or ():
        name, equals, value = pair.partition("=")
        if not (name and equals and value):
            raise OptionError(f"--solver-option {pair!r} is not of the form name=value, as in acceleration=3.")
        options[name.replace("-", "_")] = value_of(value)
    return options


class Pace(NamedTuple):
    """How often a checkpoint is kept: iterations, or seconds, or neither."""

    iterations: int | None = None
    seconds: float | None = None


def pace(text: str | None) -> Pace:
    """50, or a time: 90s, 10min, 2h."""
    if text is None:
        return Pace()
    found = re.fullmatch(r"([0-9.]+) ?([a-z]*)", text.strip().lower())
    number, unit = found.groups() if found else ("", "")
    value = value_of(number)
    if unit == "" and isinstance(value, int) and value >= 1:
        return Pace(iterations=value)
    if unit in SECONDS and isinstance(value, (int, float)) and value > 0:
        return Pace(seconds=float(value * SECONDS[unit]))
    raise OptionError(
        f"--checkpoint-every {text} is not known; expected iterations such as 50, or a time such as 90s, 10min, 2h."
    )


def network(latency: float | None, bandwidth: float | None) -> Network | None:
    """Of µs and Gbit/s; None: nobody said anything of it."""
    if latency is None and bandwidth is None:
        return None
    usual = Network()
    return Network(
        usual.latency if latency is None else 1e-6 * latency,
        usual.bandwidth if bandwidth is None else 1.25e8 * bandwidth,
    )


def grid(text: str | None) -> tuple[int, int] | None:
    """Rows and columns of ranks: 4x2."""
    if text is None:
        return None
    found = re.fullmatch(r"([1-9][0-9]*)[x×,]([1-9][0-9]*)", text.strip().lower())
    if found is None:
        raise OptionError(f"--grid {text} is not of the form ROWSxCOLUMNS, as in 4x2.")
    return int(found[1]), int(found[2])
