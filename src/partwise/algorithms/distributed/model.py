"""What an iteration of each method costs a rank, before anything is run: computing, messages, memory.

    seconds = work on X / its rate + work on factors / their rate + what the declared messages take by the `Network`

Messages are those that a method declares (`Distributed.messages`), to which the tests hold it; work is counted here, in flops of the rank
that has most. Waiting for others is left out, and so is that messages might travel while a rank computes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, final

from partwise.algorithms.distributed.dsanls import Dsanls
from partwise.algorithms.distributed.methods import METHODS, Distributed, layout_for, method
from partwise.algorithms.distributed.turned import Turned
from partwise.algorithms.single.alternating import Alternating
from partwise.algorithms.single.problem import Problem
from partwise.comm import Cost, Network
from partwise.data import Layout
from partwise.errors import OptionError
from partwise.sketches.count import worth_lifting
from partwise.updates import Bpp, Hals

CYCLE = 20  # iterations whose messages are averaged: some come now and then
LATER = 100  # when they begin: after the samples of `sketched` and the first terms of `dadmm`
TOUCH = 10.0  # flops in the time that it takes to fetch an entry of X and put it elsewhere
PIVOT = 6.0  # flops, in units of k³, in the time that one row of exact least squares takes
PLACE = 4  # bytes of a stored entry's row or column number


class Speed(NamedTuple):
    """Flops a second of a rank."""

    products: float  # of X with a factor
    sweeps: float  # over factors


DENSE, SPARSE = Speed(3e10, 2e10), Speed(2.5e9, 2e10)  # of one ordinary core, where nobody measured


class Work(NamedTuple):
    """Flops of an iteration on the rank that has most."""

    products: float
    sweeps: float
    extra: float = 0.0  # numbers that the method holds beside X, the factors and its messages


class Bytes(NamedTuple):
    """Of memory, on the rank that has most."""

    X: float
    factors: float
    messages: float  # what travels, on its way in and out, and what the method keeps beside

    @property
    def total(self) -> float:
        return sum(self)


@final
@dataclass(frozen=True)
class Estimate:
    """An iteration of a method on so many ranks."""

    name: str
    layout: Layout
    computing: float  # seconds
    talking: Cost  # messages that a rank sends, their bytes, their seconds
    collectives: float
    memory: Bytes

    @property
    def seconds(self) -> float:
        return self.computing + self.talking.seconds


def estimates(
    problem: Problem, ranks: int, itemsize: int, network: Network, speed: Speed | None = None,
    grid: tuple[int, int] | None = None,
) -> list[Estimate]:  # fmt: skip
    """Of every method that can do what is asked."""
    found = []
    for name in METHODS:
        try:
            found.append(estimate(name, problem, ranks, itemsize, network, speed, grid))
        except OptionError:
            continue
    return found


def estimate(
    name: str, problem: Problem, ranks: int, itemsize: int, network: Network, speed: Speed | None = None,
    grid: tuple[int, int] | None = None, options: Mapping[str, Any] = {},
) -> Estimate:  # fmt: skip
    """Of one method. `grid` is for those that have one; None: the best."""
    cut = layout_for(name, problem, ranks, grid if METHODS[name].kind in ("grid", "shared") else None)
    step = method(name, problem, cut, options)
    rates = speed or (SPARSE if problem.sparse else DENSE)
    work = WORK[name](problem, cut, step)
    computing = work.products / rates.products + work.sweeps / rates.sweeps
    cycle = [step.messages(t) for t in range(LATER + 1, LATER + CYCLE + 1)]
    talking = network.of((message for said in cycle for message in said), itemsize).times(1 / CYCLE)
    largest = max((m.numbers * (8 if m.wide else itemsize) for said in cycle for m in said), default=0)
    collectives = sum(map(len, cycle)) / CYCLE
    return Estimate(name, cut, computing, talking, collectives, _memory(problem, cut, work, largest, itemsize))


def _memory(problem: Problem, cut: Layout, work: Work, largest: float, itemsize: int) -> Bytes:
    """Factors are counted twice: while a step is made there is an old state and a new one."""
    entry = itemsize + (PLACE if problem.sparse else 0)
    factors = 2 * sum(_held(cut)) * problem.k * itemsize
    return Bytes(_entries(problem, cut) * entry, factors, 2 * largest + work.extra * itemsize)


def _entries(problem: Problem, cut: Layout) -> float:
    """Of X, on rank 0."""
    n, m = cut.shape
    rows, columns, block = cut.rows(0), cut.columns(0), cut.block(0)
    shares = [_width(rows) / n if rows else 0, _width(columns) / m if columns else 0]
    shares += [_width(block[0]) / n * _width(block[1]) / m] if block else []
    return sum(shares) * problem.nnz


def _held(cut: Layout) -> tuple[int, int]:
    """Columns of Wt and of H on rank 0."""
    return _width(cut.part_W(0)), _width(cut.part_H(0))


def _width(part: slice) -> int:
    return part.stop - part.start


def _alternating(problem: Problem, cut: Layout, step: Distributed) -> Work:
    """Two products of X with a factor; of every column of a factor that the rank holds its share of the gram, and an update."""
    k, turned = problem.k, isinstance(step, Turned)
    inner = _alternation(step)
    updates = (inner.update_H, inner.update_W) if turned else (inner.update_W, inner.update_H)
    of_columns = sum(r * (_update(update, k) + k**2) for r, update in zip(_held(cut), updates, strict=True))
    return Work(4 * _entries(problem, cut) * k, of_columns)


def _alternation(step: Any) -> Alternating:
    """That of one machine, inside of all that is around it."""
    while not isinstance(step, Alternating):
        step = step.exact if hasattr(step, "exact") else step.inner
    return step


def _update(update: Any, k: int) -> float:
    """Flops for a column of a factor; what only edits the pair costs nothing beside that."""
    while hasattr(update, "update"):
        update = update.update
    if isinstance(update, Bpp):
        return PIVOT * k**3
    return 2.0 * k**2 * (update.sweeps if isinstance(update, Hals) else 1)


def _dadmm(problem: Problem, cut: Layout, step: Distributed) -> Work:
    """The start is kept, for its first iterations."""
    return _alternating(problem, cut, step)._replace(extra=sum(_held(cut)) * problem.k)


def _sampling(problem: Problem, cut: Layout, step: Distributed) -> Work:
    """In the long run; the last sample is held beside X."""
    inner = step.inner.inner if isinstance(step, Turned) else step.inner  # type: ignore[attr-defined]
    sampled = max(inner.sizes, default=0) / max(problem.shape)
    return _alternating(problem, cut, step)._replace(extra=sampled * _entries(problem, cut))


def _sketching(problem: Problem, cut: Layout, step: Distributed) -> Work:
    """Each half of what the rank holds of X is sketched, or multiplied as it is where its side is not."""
    assert isinstance(step, Dsanls)
    kind, k, (n, m), held = step.inner.kind, problem.k, cut.shape, _entries(problem, cut) / 2
    products = sweeps = extra = 0.0
    for d, side, own in zip(step.inner.sizes, (m, n), _held(cut), strict=True):
        if d == side:
            products += 2 * held * k
        elif _lifted(problem, kind, own, side, d):  # multiplied entry by entry: those of chosen columns, or all
            products += held * TOUCH + 2 * held * k * (d / side if kind == "subsample" else 1)
            sweeps += d * k**2
        else:
            products += _touched(kind, held, d, side) * TOUCH + (own * d * TOUCH if problem.sparse else 0)
            sweeps += 2 * own * d * k + d * k**2
            extra += 0 if problem.sparse else own * d
        sweeps += own * 3 * k**2
    return Work(products, sweeps, extra)


def _lifted(problem: Problem, kind: str, own: float, side: int, d: int) -> bool:
    return problem.sparse and (kind == "subsample" or (kind == "count" and worth_lifting(int(own), side, d)))


def _touched(kind: str, entries: float, d: int, side: int) -> float:
    """Entries that a sketch fetches; for the dear ones, as many as their flops are worth."""
    dear = {"subsample": d / side, "gaussian": 2 * d / TOUCH, "srht": math.log2(max(side, 2))}
    return entries * dear.get(kind, 1.0)


def _by_components(problem: Problem, cut: Layout, step: Distributed) -> Work:
    """A rank multiplies all of X with its own components, and holds three copies of both factors."""
    k, (n, m), own = problem.k, cut.shape, math.ceil(problem.k / cut.ranks)
    return Work(4 * problem.nnz * own, (n + m) * (k**2 + 4 * own * k), 2 * (n + m) * k)


WORK: Mapping[str, Callable[[Problem, Layout, Distributed], Work]] = {
    "did": _alternating, "dbcd": _alternating, "dadmm": _dadmm, "sketched": _sampling, "hpc-anls-bpp": _alternating,
    "hpc-anls-hals": _alternating, "hpc-anls-mu": _alternating, "d-hals": _alternating, "dsanls": _sketching, "maxios": _by_components,
}  # fmt: skip
