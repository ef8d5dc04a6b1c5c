"""How kernels are compiled: cached on disk, without fast-math, and with a word to the user the first time."""

from __future__ import annotations

import functools
import logging
from collections.abc import Callable
from typing import Any

import numba

_log = logging.getLogger("partwise")
_said = False


def kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile on first call with the house's flags: no fast-math (no reduction may be reordered), no GIL, zero division as in NumPy."""
    compiled = numba.njit(cache=True, nogil=True, error_model="numpy", boundscheck=False)(function)

    @functools.wraps(function)
    def call(*args: Any) -> Any:
        if not compiled.overloads:
            _announce(compiled)
        return compiled(*args)

    return call


def inline(function: Callable[..., Any]) -> Callable[..., Any]:
    """A piece of a kernel, compiled into those that use it."""
    return numba.njit(inline="always", error_model="numpy", boundscheck=False)(function)


def _announce(compiled: Any) -> None:
    """Say once a process that the first call takes longer, unless the cache on disk already holds this kernel."""
    global _said
    if _said or compiled._cache._load_index():
        return
    _said = True
    _log.warning("partwise: compiling its kernels for this machine; this happens once and takes some seconds.")
