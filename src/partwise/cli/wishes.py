"""From what was typed to `Settings`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from partwise.errors import OptionError
from partwise.estimators.settings import BETAS
from partwise.reports.quantities import value_of
from partwise.start import METHODS


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
