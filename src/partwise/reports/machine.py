"""What a run was made with: versions and the machine, without names of hosts or users."""

from __future__ import annotations

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from partwise._version import __version__

LIBRARIES = ("numpy", "scipy", "numba", "scikit-learn", "threadpoolctl", "safetensors")


def versions() -> dict[str, str]:
    """Of partwise, Python and the libraries that numbers depend on."""
    found = {"partwise": __version__, "python": platform.python_version()}
    for library in LIBRARIES:
        try:
            found[library] = version(library)
        except PackageNotFoundError:
            found[library] = "not installed"
    return found


def blas() -> list[dict[str, Any]]:
    """The linear algebra that NumPy and SciPy call, each once."""
    import numpy  # noqa: F401, ICN001  (loads its BLAS)
    import scipy.linalg  # noqa: F401
    from threadpoolctl import threadpool_info

    facts = ("internal_api", "version", "architecture", "num_threads")
    found = [
        {fact: library.get(fact) for fact in facts} for library in threadpool_info() if library["user_api"] == "blas"
    ]
    return [library for at, library in enumerate(found) if library not in found[:at]]


def machine() -> dict[str, Any]:
    """Processor, cores and memory."""
    facts = {
        "system": platform.system(),
        "architecture": platform.machine(),
        "processor": _processor(),
        "cores": cores(),
    }
    return facts | {"memory_bytes": memory()}


def cores() -> int:
    """How many this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def memory() -> int | None:
    """Bytes of main memory, where the system tells."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return None


def _processor() -> str:
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as lines:  # noqa: PTH123
            return next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or "unknown"
