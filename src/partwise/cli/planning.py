"""What `partwise plan` does: memory by counting arrays, time by a few steps on some rows."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from partwise.algorithms.single.auto import Choice
from partwise.algorithms.single.methods import lasting, sampled_share
from partwise.cli import screen, sources
from partwise.currency import State
from partwise.data.dense import BLOCK_BYTES
from partwise.drivers.iterate import one_iteration
from partwise.estimators.factorize import Prepared, prepare
from partwise.estimators.settings import Settings
from partwise.kernels.threads import threads as limited
from partwise.protocols import Matrix
from partwise.reports import machine
from partwise.reports.quantities import count, counted, duration, size
from partwise.start import start

WORK = 1e9  # multiplications of one product of the sample: a few hundredths of a second
CHEAP = 1.0  # seconds: a prediction below this is checked on all of X


class Memory(NamedTuple):
    """Bytes, at the peak."""

    X: int  # held in memory
    factors: int  # W, H and what the method remembers of them, old and new
    block: int  # of X or of WH at a time, or a sample

    @property
    def total(self) -> int:
        return sum(self)


class Pace(NamedTuple):
    """Seconds an iteration, and what that was found from."""

    rows: int  # in the sample
    rate: float  # flops a second in the products of the sample
    predicted: float
    measured: float | None  # on all of X, where that is cheap


class Plan(NamedTuple):
    """All that is told."""

    source: sources.Source
    settings: Settings
    choice: Choice
    memory: Memory
    pace: Pace
    threads: int


def plan(
    data: str,
    key: str | None,
    missing: str,
    negative: str,
    dtype: str | None,
    settings: Settings,
    *,
    threads: int | None,
) -> Plan:
    """Read the data, choose the method, step on a sample."""
    with screen.Notes(screen.to_stderr()), limited(threads) as used:
        source = sources.load(data, key, missing, negative, dtype)
        prepared = prepare(source.X, settings)
        sample, state = _sample(prepared)
        memory = _memory(source, state, sample.shape, prepared)
        return Plan(source, settings, prepared.choice, memory, _pace(prepared, sample), used)


def _rows(X: Matrix, k: int) -> int:
    """How many rows make a product of about WORK multiplications."""
    n = X.shape[0]
    return min(n, max(512, int(WORK / max(1, X.nnz / n * k))))


def _sample(prepared: Prepared) -> tuple[Matrix, State]:
    """Some rows, evenly spread, and the state after a first step on them (which compiles what must be)."""
    X, k = prepared.X, prepared.problem.k
    rows = _rows(X, k)
    sample = X if rows == X.shape[0] else X.rows(np.linspace(0, X.shape[0] - 1, rows).astype(np.intp))
    return sample, _first(prepare(sample, prepared.settings))


def _first(prepared: Prepared) -> State:
    X, k, method = prepared.X, prepared.problem.k, lasting(prepared.method)
    return one_iteration(method, X, method.init(X, *start(X, k, "random", prepared.settings.seed)), 1)


def _memory(source: sources.Source, state: State, shape: tuple[int, int], prepared: Prepared) -> Memory:
    """Arrays of a state are counted once each; while a step is made there is an old state and a new one."""
    held = (state.Wt, state.H, *state.carry_W, *state.carry_H, *state.memory.values())
    arrays = {id(array): array for array in held if isinstance(array, np.ndarray)}.values()
    like_W = sum(array.shape[1] == shape[0] for array in arrays if array is not state.H)
    like_H = len(arrays) - like_W
    k, (n, m) = len(state.H), source.X.shape
    factors = 2 * (like_W * n + like_H * m) * k * state.H.itemsize
    X = prepared.X
    sample = int(sampled_share(prepared.method, X.shape) * X.nnz * X.dtype.itemsize)
    return Memory(source.resident(), factors, max(BLOCK_BYTES, sample))


def _pace(prepared: Prepared, sample: Matrix) -> Pace:
    """An iteration takes a + b n: from steps on the sample and on half of it."""
    settings, n, rows = prepared.settings, prepared.X.shape[0], sample.shape[0]
    whole, halved = prepare(sample, settings), prepare(sample.rows(slice(0, rows // 2)), settings)
    H = _first(whole).H
    rate = 2 * sample.nnz * len(H) / _seconds(lambda: sample.times(H))
    t_whole = _step_seconds(whole)
    if rows == n:
        return Pace(rows, rate, t_whole, t_whole)
    slope = max(t_whole - _step_seconds(halved), 0.0) / (rows - rows // 2)
    predicted = max(t_whole + slope * (n - rows), t_whole)
    return Pace(rows, rate, predicted, _step_seconds(prepared) if predicted < CHEAP else None)


def _step_seconds(prepared: Prepared) -> float:
    state = _first(prepared)
    return _seconds(lambda: one_iteration(lasting(prepared.method), prepared.X, state, 2))


def _seconds(task: Callable[[], object], times: int = 3) -> float:
    """The least of a few."""
    taken = []
    for _ in range(times):
        began = time.perf_counter()
        task()
        taken.append(time.perf_counter() - began)
    return min(taken)


def tell(found: Plan) -> None:
    """A table."""
    memory, pace, available = found.memory, found.pace, machine.memory()
    n, most = found.source.X.shape[0], found.settings.max_iter
    parts = f"X {size(memory.X)}, factors {size(memory.factors)}, a block {size(memory.block)}"
    of = "" if available is None else f" of {size(available)}"
    seen = "all" if pace.rows == n else f"{count(pace.rows)} of {count(n)}"
    rows = [
        ("data", found.source.describe()),
        ("solver", f"{found.choice.solver} ({found.choice.why})"),
        ("memory", f"about {size(memory.total)}{of}: {parts}"),
        ("products", f"{pace.rate / 1e9:.3g} GFLOP/s with {counted(found.threads, 'thread')}"),
        ("prediction", f"{duration(pace.predicted)} for an iteration, from steps on {seen} rows"),
    ]
    if pace.measured is not None:
        rows.append(("measured", f"{duration(pace.measured)} for an iteration, on all rows"))
    seconds = pace.measured or pace.predicted
    rows.append(
        ("at most", f"{duration(seconds * most)} for {counted(most, 'iteration')}; a tolerance may end it sooner")
    )
    screen.show(
        f"A fit of {found.source.name} in {counted(found.settings.components(found.source.X.shape), 'part')}", rows
    )


def tell_json(found: Plan) -> None:
    """The same for machines."""
    X, pace = found.source.X, found.pace
    facts = {"shape": list(X.shape), "stored": X.nnz, "density": found.source.density(), "dtype": X.dtype.name}
    facts |= {"solver": found.choice.solver, "solver_why": found.choice.why, "threads": found.threads}
    bytes_ = {**found.memory._asdict(), "total": found.memory.total}
    times = {"predicted_seconds_per_iteration": pace.predicted, "measured_seconds_per_iteration": pace.measured}
    screen.show_json(
        {**facts, "memory_bytes": bytes_, **times, "product_flops_per_second": pace.rate, "sampled_rows": pace.rows}
    )
