"""One number of threads for BLAS and for our kernels, so that the two never oversubscribe the cores."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from itertools import chain, pairwise
from typing import TypeVar

import numpy  # noqa: F401, ICN001  (NumPy's and SciPy's BLAS must be loaded before one can look for them)
import scipy.linalg  # noqa: F401
from threadpoolctl import ThreadpoolController

Item = TypeVar("Item")
Result = TypeVar("Result")

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


@contextmanager
def one_for_blas() -> Iterator[None]:
    """Within the block BLAS uses one thread, and `side_by_side` and the kernels as many as before.

    BLAS's own threads keep spinning for a while after each product, on the cores that ours need next: with two threads on two
    cores that made iterations several times slower than with one. Blocks side by side need no threads of BLAS.
    """
    number = count()
    with _blas().limit(limits=1):
        token = _agreed.set(number)
        try:
            yield
        finally:
            _agreed.reset(token)


@lru_cache(maxsize=1)
def _pool(process: int, size: int) -> ThreadPoolExecutor:
    """The pool of this process: a fork inherits the object but not its threads, hence the key.

    Its threads never spread: waiting for others of the same pool they could wait for ever.
    """
    return ThreadPoolExecutor(size, thread_name_prefix="partwise", initializer=_agreed.set, initargs=(1,))


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
    pool = _pool(os.getpid(), available)  # this thread works too, so one of them rests
    pending = [pool.submit(task, *cut) for cut in pairwise(cuts[1:])]
    try:
        task(cuts[0], cuts[1])
    finally:  # nobody writes to the caller's arrays after we have left
        for share in pending:
            share.result()


def side_by_side(task: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
    """task(item) for every item, in their order; as many at a time as there are threads, and no more of them held.

    A lone item, or a lone thread, is served by the caller itself. Within a task kernels do not spread.
    """
    waiting = iter(items)
    first, second = next(waiting, None), next(waiting, None)
    if first is None:
        return
    if second is None or count() == 1:
        yield from map(task, chain([first], () if second is None else [second], waiting))
        return
    workers = count()
    pool = _pool(os.getpid(), workers)
    pending = deque(pool.submit(task, item) for item in (first, second))
    try:
        for item in waiting:
            if len(pending) > workers:
                yield pending.popleft().result()
            pending.append(pool.submit(task, item))
        while pending:
            yield pending.popleft().result()
    finally:  # nobody writes to the caller's arrays after we have left
        wait(pending)
