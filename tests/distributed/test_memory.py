"""What a rank holds: its shard of X, and beside it in an iteration a few arrays of the size of what it owns or gathers of W and H."""

from __future__ import annotations

import tracemalloc
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from distributed.runs import wished
from partwise.algorithms.distributed.methods import METHODS, layout_for, method
from partwise.algorithms.distributed.spread import Spread
from partwise.comm import Grid
from partwise.comm.widths import shares
from partwise.data import as_matrix, shard_of

N, M, K, RANKS = 6000, 900, 8, 9
COPIES = 4  # arrays of that size that an iteration makes at once: new factors, cross, what a message is packed into and unpacked from
BLOCKS = 40_000  # bytes: grams, and what is small
NAMES = [name for name, entry in METHODS.items() if entry.like not in ("sanls", "sketched")]


@dataclass(frozen=True)
class Deaf:
    """One rank of many, whose others say nothing: only this one's memory is used."""

    rank: int
    size: int

    def sum(self, A: Any) -> Any:
        return A.copy()

    def gather(self, part: Any, widths: Sequence[int]) -> Any:
        whole = np.ones((*part.shape[:-1], sum(widths)), part.dtype)
        whole[..., shares(widths)[self.rank]] = part
        return whole

    def sum_scatter(self, A: Any, widths: Sequence[int]) -> Any:
        return A[..., shares(widths)[self.rank]].copy()


def owned(cut, rank: int) -> int:
    """Columns of Wt and of H that a rank must have at once, its own or gathered."""
    if cut.kind == "rows":
        return cut.part_W(rank).stop - cut.part_W(rank).start + M
    if cut.kind == "grid":
        rows, columns = cut.block(rank)
        return rows.stop - rows.start + columns.stop - columns.start
    return N + M


@pytest.mark.parametrize("holding", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("name", NAMES)
def test_a_rank_never_holds_more_than_its_shares(name, holding):
    rng, rank = np.random.default_rng(0), 4
    X = as_matrix(holding(rng.random((N, M)) * (rng.random((N, M)) < 0.02)))
    cut = layout_for(name, wished(X, K), RANKS)
    step, held = method(name, wished(X, K), cut, {}), shard_of(X, cut, rank)
    assert held.own.nnz <= (X.nnz if cut.kind == "whole" else 1.3 * X.nnz / RANKS)
    i, j = divmod(rank, cut.grid[1])
    comm: Any = Deaf(rank, RANKS)
    grid = Grid(comm, Deaf(j, cut.grid[1]), Deaf(i, cut.grid[0]))  # type: ignore[arg-type]
    mine = Spread(held, comm, {"grid": grid})
    Wt, H = (rng.random((K, part.stop - part.start)) for part in (cut.part_W(rank), cut.part_H(rank)))
    state = step.step(mine, step.init(mine, Wt, H), 1)  # compiles, and counts the squares of X
    tracemalloc.start()
    step.step(mine, state, 2)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak <= COPIES * 8 * K * owned(cut, rank) + BLOCKS
    assert cut.kind in ("shared", "whole") or peak < 8 * N * M / 10  # far from anything of X's size
