"""How kernels are compiled: cached on disk, without fast-math, and with a word to the user when it takes time."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

import numba
import numpy as np
from numba.core import event

from partwise.currency import Array

_log = logging.getLogger("partwise")


def kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile on first call with the house's flags: no fast-math (no reduction may be reordered), no GIL, zero division as in NumPy."""
    compiled = numba.njit(nogil=True, error_model="numpy", boundscheck=False)(function)
    try:
        compiled.enable_caching()
    except RuntimeError:  # no directory that we may write to, as in a sealed container
        _log.debug("partwise: nowhere to cache %s; it is compiled anew in every process.", function.__name__)
    return compiled


def inline(function: Callable[..., Any]) -> Callable[..., Any]:
    """A piece of a kernel, compiled into those that use it.

    Numba's cache watches only the file of the kernel: after changing a piece that other files use, remove their `__pycache__`.
    """
    return numba.njit(inline="always", error_model="numpy", boundscheck=False)(function)


def sealed(array: Array) -> Array:
    """A read-only view. Numba compiles anew for every combination of writable and read-only arguments; so there is but one."""
    view = np.asarray(array).view()
    view.flags.writeable = False
    return view


class _Announcer(event.Listener):
    """Numba tells of a compilation only when the cache on disk has nothing for these types and this machine."""

    said = False

    def on_start(self, event: Any) -> None:
        ours = str(event.data["dispatcher"].py_func.__module__).startswith(
            "partwise."
        )  # None for a function without one
        if ours and not self.said:
            self.said = True
            _log.warning("partwise: compiling its kernels for this machine; this happens once and takes some seconds.")

    def on_end(self, event: Any) -> None:
        """Nothing to say."""


event.register("numba:compile", _Announcer())
