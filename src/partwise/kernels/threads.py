"""One number of threads for BLAS and for our kernels, so that the two never oversubscribe the cores."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import lru_cache
from itertools import pairwise

from threadpoolctl import ThreadpoolController


@lru_cache(maxsize=1)
def _blas() -> ThreadpoolController:
    return ThreadpoolController().select(user_api="blas")


def count() -> int:
    """How many threads BLAS may use now; the kernels use as many."""
    return min((library["num_threads"] for library in _blas().info()), default=os.cpu_count() or 1)


@contextmanager
def threads(number: int | None) -> Iterator[int]:
    """Within the block BLAS and the kernels use `number` threads (None: leave it as it is)."""
    if number is None:
        yield count()
        return
    with _blas().limit(limits=number):
        yield number


@lru_cache(maxsize=1)
def _pool(process: int, size: int) -> ThreadPoolExecutor:
    """The pool of this process: a fork inherits the object but not its threads, hence the key."""
    return ThreadPoolExecutor(size, thread_name_prefix="partwise")


def spread(task: Callable[[int, int], None], size: int, grain: int = 256) -> None:
    """Run task(start, stop) over [0, size), one contiguous share for each thread, cut at multiples of `grain`.

    The task's kernel must release the GIL and its results must not depend on the cuts.
    """
    grains = -(-size // grain)
    workers = min(count(), grains) if grains > 1 else 1
    if workers <= 1:
        task(0, size)
        return
    cuts = [min(size, grains * w // workers * grain) for w in range(workers + 1)]
    pending = [_pool(os.getpid(), workers).submit(task, *cut) for cut in pairwise(cuts[1:])]
    task(cuts[0], cuts[1])
    for share in pending:
        share.result()
