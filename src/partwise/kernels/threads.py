"""One number of threads for BLAS and for our kernels, so that the two never oversubscribe the cores."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from itertools import pairwise

import numpy  # noqa: F401, ICN001  (NumPy's and SciPy's BLAS must be loaded before one can look for them)
import scipy.linalg  # noqa: F401
from threadpoolctl import ThreadpoolController

_agreed: ContextVar[int | None] = ContextVar("threads", default=None)  # set within `threads`: asking BLAS takes 20 µs


@lru_cache(maxsize=1)
def _blas() -> ThreadpoolController:
    return ThreadpoolController().select(user_api="blas")


def count() -> int:
    """How many threads BLAS may use now; the kernels use as many."""
    return _agreed.get() or min(
        (library.num_threads for library in _blas().lib_controllers), default=os.cpu_count() or 1
    )


@contextmanager
def threads(number: int | None) -> Iterator[int]:
    """Within the block BLAS and the kernels use `number` threads (None: as many as before)."""
    number = count() if number is None else number
    with _blas().limit(limits=number):
        token = _agreed.set(number)
        try:
            yield number
        finally:
            _agreed.reset(token)


@lru_cache(maxsize=1)
def _pool(process: int, size: int) -> ThreadPoolExecutor:
    """The pool of this process: a fork inherits the object but not its threads, hence the key."""
    return ThreadPoolExecutor(size, thread_name_prefix="partwise")


def spread(task: Callable[[int, int], None], size: int, grain: int = 256, least: int = 1) -> None:
    """Run task(start, stop) over [0, size), one contiguous share for each thread, cut at multiples of `grain`.

    Fewer threads work where a share would be smaller than `least`, and not worth waking one. The task's kernel must release
    the GIL, its results must not depend on the cuts, and it must not spread itself.
    """
    grains = -(-size // grain)
    most = min(grains, size // max(1, least))
    available = count() if most > 1 else 1
    workers = min(available, most)
    if workers <= 1:
        task(0, size)
        return
    cuts = [min(size, grains * w // workers * grain) for w in range(workers + 1)]
    pool = _pool(os.getpid(), available - 1)  # this thread works too
    pending = [pool.submit(task, *cut) for cut in pairwise(cuts[1:])]
    try:
        task(cuts[0], cuts[1])
    finally:  # nobody writes to the caller's arrays after we have left
        for share in pending:
            share.result()
