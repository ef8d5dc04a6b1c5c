"""A method for a cluster on simulated ranks: what it reaches when, by the ranks' clocks, and what it has sent by then.

Each rank's clock shows the processor time that it has worked and what its messages take by the model of the network.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import isnan
from typing import Any, NamedTuple, final

import numpy as np

from partwise.algorithms.distributed.methods import layout_for, method
from partwise.algorithms.distributed.spread import Spread
from partwise.algorithms.single.problem import Problem
from partwise.comm import Metered, Network, simulate
from partwise.comm.simulated import Simulated
from partwise.compare.clock import Judge, Point, Stop
from partwise.compare.contestants import DIGITS
from partwise.currency import Array
from partwise.data import as_matrix, shard_of
from partwise.drivers.iterate import begin, iterate
from partwise.drivers.stopping import Reason
from partwise.drivers.trace import Trace

ETHERNET = Network(latency=50e-6, bandwidth=125e6)  # 1 Gb/s: a cluster as those of the papers


class Stand(NamedTuple):
    """Where the ranks stand after an iteration."""

    point: Point
    talking: float  # seconds of rank 0's messages, by the model
    messages: float  # that rank 0 has sent, by the model
    numbers: float  # in all its collectives
    measured: bool = True  # else the error is that of an iteration before


@final
@dataclass
class Log:
    """What all ranks write to together: whoever comes to an iteration first says whether it is the last."""

    stop: Stop
    meters: dict[int, Metered] = field(default_factory=dict)
    stands: list[Stand] = field(default_factory=list)
    unseen: set[int] = field(default_factory=set)
    began: float = 0.0

    def note(self, now: float, trace: Trace) -> bool:
        """Whether to stop after this iteration; all ranks get the same answer."""
        t = trace.last.t
        if len(self.stands) <= t:
            if t == 0:
                self.began = now
            self.stands.append(self._stand(now - self.began, trace))
        return self.stop([stand.point for stand in self.stands[: t + 1]])

    def _stand(self, seconds: float, trace: Trace) -> Stand:
        last = trace.last
        if isnan(last.loss):
            self.unseen.add(last.t)
            error = self.stands[-1].point.error
        else:
            error = trace.relative_error(last.loss)
        if last.t == 0:  # not every rank has begun: what they say before the first iteration is not counted
            return Stand(Point(0, 0.0, error), 0.0, 0.0, 0.0)
        sent = sum(meter.total.wire for meter in self.meters.values())
        mine = self.meters[0].total
        return Stand(Point(last.t, seconds, error, sent), mine.seconds, mine.messages, mine.numbers)


@final
@dataclass(frozen=True)
class Cluster:
    """`algorithm` of partwise on so many simulated ranks."""

    name: str
    algorithm: str
    ranks: int = 4
    options: Mapping[str, Any] = field(default_factory=dict)
    network: Network = ETHERNET
    packages: tuple[str, ...] = ("partwise",)
    dense_only: bool = False
    patience: float = 1.0

    def run(self, X: Any, W: Array, H: Array, error: Judge, stop: Stop, seed: int = 0) -> list[Point]:
        """Its iterations; the independent judge agrees with the last."""
        stands, (W, H) = self.follow(X, W, H, stop, seed)
        judged, (*before, last) = error(W, H), [stand.point for stand in stands]
        if stands[-1].measured and abs(judged - last.error) > 1e-4 * judged + DIGITS:
            raise AssertionError(f"{self.name} says {last.error:.6g}, but its relative error is {judged:.6g}.")
        return [*before, last._replace(error=judged)]

    def follow(self, X: Any, W: Array, H: Array, stop: Stop, seed: int = 0) -> tuple[list[Stand], tuple[Array, Array]]:
        """(iteration by iteration, where the error was measured; the factors in the end)."""
        held = as_matrix(X)
        problem = Problem(held.shape, held.nnz, W.shape[1], seed=seed)
        cut = layout_for(self.algorithm, problem, self.ranks)
        log, Wt = Log(stop), np.empty_like(W.T, order="C")
        whole = np.empty_like(H)

        def body(comm: Simulated) -> None:
            meter = log.meters[comm.rank] = Metered(comm, self.network)
            step, mine = (
                method(self.algorithm, problem, cut, self.options),
                Spread(shard_of(held, cut, comm.rank), meter),
            )
            rows, columns = cut.part_W(comm.rank), cut.part_H(comm.rank)
            start = np.ascontiguousarray(W.T[:, rows]), np.ascontiguousarray(H[:, columns])
            state, trace = begin(step, mine, *start, relative=True)
            meter.ledger.clear()  # ‖X‖² travels only once

            def rule(trace: Trace) -> Reason | None:
                now = comm.now if comm.size > 1 else time.thread_time()  # a rank that meets nobody has no clock
                return Reason("enough") if log.note(now, trace) else None

            state = iterate(step, mine, state, trace, [rule], comm=comm).state
            Wt[:, rows], whole[:, columns] = state.Wt, state.H

        simulate(body, self.ranks, self.network, "cpu")
        seen: Sequence[Stand] = [stand for stand in log.stands[:-1] if stand.point.t not in log.unseen]
        last = log.stands[-1]
        return [*seen, last._replace(measured=last.point.t not in log.unseen)], (Wt.T, whole)
