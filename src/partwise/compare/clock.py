"""The clock: a method's iterations one by one, and how good the factors are then, which nobody's clock counts."""

# pyright: reportMissingImports=false
from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any, NamedTuple, final

import numpy as np
import scipy.sparse as sp
from threadpoolctl import threadpool_limits

from partwise.currency import Array
from partwise.kernels.threads import count, threads

DENSER = 1.02  # errors are evaluated when the time has grown by this factor since the last one ...
SHARE = 0.2  # ... and by this share of what an evaluation takes, so that evaluating does not go on for ever
BLOCK = 1 << 22  # entries of X at a time, in the error


class Point(NamedTuple):
    """Where a run stands."""

    t: int  # iterations made
    seconds: float  # they took
    error: float  # ‖X − WH‖ / ‖X‖
    bytes: float = 0.0  # that were sent, by everybody together


Steps = Iterator[
    tuple[Any, ...]
]  # (W (n, k), H (k, m)) or (W, H, bytes sent so far): the start, then after every iteration
Stop = Callable[[Sequence[Point]], bool]  # one that has `iterations` as well is asked after that many in any case
Judge = Callable[[Any, Any], float]


def judge(X: Any) -> Judge:
    """The relative error of any (W, H) for this X, by means that no method has a hand in; sums in float64."""
    return _judge_sparse(X) if sp.issparse(X) else _judge_dense(X)


def _judge_dense(X: Array) -> Judge:
    """The residual itself, by blocks of rows."""
    rows = max(1, BLOCK // X.shape[1])
    blocks = [slice(first, first + rows) for first in range(0, len(X), rows)]
    norm = sum(_sq(X[block]) for block in blocks) ** 0.5

    def error(W: Any, H: Any) -> float:
        W, H = np.asarray(W), np.asarray(H)
        return sum(_sq(X[block] - W[block] @ H) for block in blocks) ** 0.5 / norm

    return error


def _sq(A: Array) -> float:
    return float(np.einsum("ij,ij->", A, A, dtype=np.float64))


def _judge_sparse(X: Any) -> Judge:
    """‖X‖² − 2⟨X Hᵀ, W⟩ + ⟨WᵀW, HHᵀ⟩, all of it in float64: enough digits for errors above 1e-6."""
    X64 = sp.csr_array(X, dtype=np.float64)
    square = float(X64.data @ X64.data)

    def error(W: Any, H: Any) -> float:
        W, H = (np.asarray(F.todense() if sp.issparse(F) else F, np.float64) for F in (W, H))
        crossed = float(np.vdot(X64 @ np.ascontiguousarray(H.T), W))
        return max(0.0, square - 2 * crossed + float(np.vdot(W.T @ W, H @ H.T))) ** 0.5 / square**0.5

    return error


def clock() -> float:
    """Seconds: with one thread those that the process itself has worked, so that others on the machine hardly count; else of the wall."""
    return time.process_time() if count() == 1 else time.perf_counter()


def follow(steps: Steps, error: Judge, stop: Stop) -> list[Point]:
    """Time a method's iterations until `stop` says so; what comes before its first yield (set-up) is not counted."""
    W, H, *sent = next(steps)
    points = [Point(0, 0.0, error(W, H), *sent)]
    seconds, t, due, last = 0.0, 0, 0.0, getattr(stop, "iterations", None)
    while not stop(points):
        began = clock()
        factors = next(steps, None)
        seconds += clock() - began
        if factors is None:  # the method came to its end by itself
            break
        t += 1
        W, H, *sent = factors
        if seconds >= due or t == last:
            began = clock()
            points.append(Point(t, seconds, error(W, H), *sent))
            due = DENSER * seconds + SHARE * (clock() - began)
    return points


@final
@dataclass(frozen=True)
class Limits:
    """Stop after so many seconds or iterations, or when the run has settled."""

    seconds: float
    iterations: int
    settles: bool = True

    def __call__(self, points: Sequence[Point]) -> bool:
        if points[-1].t >= self.iterations or points[-1].seconds >= self.seconds:
            return True
        return self.settles and settled(self.seconds)(points)

    def why(self, points: Sequence[Point]) -> str:
        """Why a run stopped, in a word or two."""
        if points[-1].t >= self.iterations:
            return "iterations used up"
        return "time used up" if points[-1].seconds >= self.seconds else "settled"


def until(target: float, limit: float) -> Stop:
    """Stop when the error is at most `target`, or time is up."""
    return lambda points: points[-1].error <= target or points[-1].seconds >= limit


def settled(limit: float, gain: float = 2e-5, least: int = 30) -> Stop:
    """Stop when the last third of the iterations lowered the error by less than `gain` of it, or time is up."""

    def stop(points: Sequence[Point]) -> bool:
        now = points[-1]
        if now.seconds >= limit:
            return True
        before = next(p for p in reversed(points) if p.t <= now.t * 2 / 3)
        return now.t >= least and before.error - now.error < gain * now.error

    return stop


def reached(points: Sequence[Point], target: float) -> tuple[float, int] | None:
    """(seconds, iterations) until the error was at most `target`.

    Where iterations between two points were not evaluated, the error is taken to have fallen evenly between them.
    """
    after = next((p for p in points if p.error <= target), None)
    if after is None:
        return None
    if after.t == 0:
        return 0.0, 0
    before = points[points.index(after) - 1]
    share = (before.error - target) / (before.error - after.error)
    t = before.t + int(np.ceil(share * (after.t - before.t)))
    return before.seconds + (after.seconds - before.seconds) * (t - before.t) / (after.t - before.t), t


@contextmanager
def pinned(number: int) -> Iterator[None]:
    """As many threads for everybody: BLAS, OpenMP, our kernels, torch."""
    with threadpool_limits(number), threads(number), _torch(number):
        yield


@contextmanager
def _torch(number: int) -> Iterator[None]:
    if find_spec("torch") is None:
        yield
        return
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(number)
    try:
        yield
    finally:
        torch.set_num_threads(before)
