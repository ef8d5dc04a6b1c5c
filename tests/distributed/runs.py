"""What the tests of the methods for a cluster share: a problem, and a run of a method on simulated ranks, put together again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from partwise.algorithms.distributed.methods import layout_for, method
from partwise.algorithms.distributed.spread import Spread
from partwise.algorithms.single import methods as single
from partwise.algorithms.single.problem import Problem
from partwise.comm import Metered, simulate
from partwise.comm.metered import Count
from partwise.currency import State
from partwise.data import Layout, as_matrix, shard_of
from partwise.drivers.iterate import begin, iterate
from partwise.drivers.stopping import MaxIterations
from partwise.drivers.trace import Trace

K, SHAPE = 4, (37, 23)


def problem(seed=0, dtype=np.float64, zeros=0.0, shape=SHAPE):
    """(37, 23), nearly of rank 4; positive unless zeros are asked for."""
    rng = np.random.default_rng(seed)
    X = rng.gamma(0.7, 1, (shape[0], K)) @ rng.gamma(0.7, 1, (K, shape[1])) + 0.05 * rng.random(shape) + 0.01
    X[rng.random(shape) < zeros] = 0
    return X.astype(dtype)


def common_start(shape=SHAPE, k=K, dtype=np.float64, seed=1):
    """(Wt, H), positive."""
    rng = np.random.default_rng(seed)
    return rng.uniform(0.1, 1, (k, shape[0])).astype(dtype), rng.uniform(0.1, 1, (k, shape[1])).astype(dtype)


@dataclass(frozen=True)
class Run:
    """What the ranks had in the end, and the whole factors."""

    cut: Layout
    states: list[State]
    trace: Trace  # rank 0's
    sent: list[list[dict[str, Count]]]  # by rank, by iteration: what the method itself said
    path: list[list[State]]  # by iteration, by rank
    Wt: np.ndarray
    H: np.ndarray

    @property
    def product(self):
        return self.Wt.T @ self.H


def whole(cut: Layout, states: list[State]) -> tuple[np.ndarray, np.ndarray]:
    """Wt and H from the parts of all ranks."""
    n, m = cut.shape
    k = len(states[0].H)
    Wt, H = np.full((k, n), np.nan, states[0].Wt.dtype), np.full((k, m), np.nan, states[0].H.dtype)
    for rank, state in enumerate(states):
        Wt[:, cut.part_W(rank)], H[:, cut.part_H(rank)] = state.Wt, state.H
    return Wt, H


def wished(X, k=K, seed=0, **wishes) -> Problem:
    return Problem(X.shape, X.nnz, k, seed=seed, **wishes)


def parts(cut: Layout, rank: int, Wt, H):
    """What a rank begins with."""
    return np.ascontiguousarray(Wt[:, cut.part_W(rank)]), np.ascontiguousarray(H[:, cut.part_H(rank)])


def run(name: str, X: Any, ranks: int, iterations: int, *, options: Mapping[str, Any] = {}, start=None, cut=None, grid=None,
        k=K, seed=0, **wishes) -> Run:  # fmt: skip
    """So many iterations on so many simulated ranks, through the one loop."""
    held = as_matrix(X)
    wish = wished(held, k, seed, **wishes)
    cut = layout_for(name, wish, ranks, grid) if cut is None else cut
    Wt, H = common_start(held.shape, k, held.dtype) if start is None else start

    def body(comm):
        metered = Metered(comm)
        step, mine = method(name, wish, cut, options), Spread(shard_of(held, cut, comm.rank), metered)
        state, trace = begin(step, mine, *parts(cut, comm.rank, Wt, H), relative=True)
        sent, path = [], []
        for t in range(1, iterations + 1):
            before = dict(metered.ledger)
            outcome = iterate(step, mine, state, trace, [MaxIterations(t)], comm=comm)  # the loop's own words unmetered
            sent.append(metered.since(before))
            state = outcome.state
            path.append(state)
        return state, trace, sent, path

    found = simulate(body, ranks).results
    states = [rank[0] for rank in found]
    path = [list(states) for states in zip(*(rank[3] for rank in found), strict=True)]
    return Run(cut, states, found[0][1], [rank[2] for rank in found], path, *whole(cut, states))


def one_machine(solver: str, X: Any, iterations: int, *, options: Mapping[str, Any] = {}, start=None, k=K, **wishes):
    """The same on one machine: its state and trace."""
    held = as_matrix(X)
    step = single.method(solver, wished(held, k, **wishes), options)
    state, trace = begin(
        step, held, *(common_start(held.shape, k, held.dtype) if start is None else start), relative=True
    )
    return iterate(step, held, state, trace, [MaxIterations(iterations)])
