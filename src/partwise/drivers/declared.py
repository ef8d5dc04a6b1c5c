"""Holding what goes to what was declared: names, shapes, dtypes, finite, nonnegative."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from partwise.currency import Arrays, Field


def breach(arrays: Arrays, declared: Mapping[str, Field]) -> str | None:
    """What is wrong with the arrays, as the rest of a sentence about whoever sent them; None if nothing is."""
    if set(arrays) != set(declared):
        return f"sent {_names(arrays)}, but the method declares {_names(declared)}"
    for name, field in declared.items():
        array = arrays[name]
        if array.shape != field.shape or array.dtype != field.dtype:
            seen = f"{name} of shape {array.shape} and dtype {array.dtype}"
            return f"sent {seen}; the method declares shape {field.shape} and dtype {np.dtype(field.dtype)}"
        if array.dtype.kind == "f" and not np.isfinite(array).all():
            return f"sent {name} with {int((~np.isfinite(array)).sum())} entries that are NaN or infinite"
        if field.nonnegative and (array < 0).any():
            return f"sent {name} with {int((array < 0).sum())} negative entries, where the method declares none"
    return None


def _names(arrays: Mapping[str, object]) -> str:
    return ", ".join(sorted(arrays)) or "nothing"
