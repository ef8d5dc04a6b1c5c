"""Starts over ranks: what one machine gets, in parts, in every layout, and no rank holds more than that."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from partwise.comm import Metered, simulate
from partwise.data import as_matrix, layout, shard_of
from partwise.errors import OptionError
from partwise.randomness import Purpose, generator
from partwise.start import METHODS, alone, over, start
from partwise.start.kmeans import clusters

DRAWN = [name for name in METHODS if name != "custom"]
LAYOUTS = [
    ("rows", 1, None), ("rows", 4, None), ("rows", 7, None), ("columns", 4, None), ("both", 1, None), ("both", 3, None), ("both", 6, None),
    ("grid", 6, (2, 3)), ("grid", 6, (3, 2)), ("grid", 5, (1, 5)), ("shared", 6, (2, 3)), ("whole", 2, None),
]  # fmt: skip


def planted(n: int = 61, m: int = 44, dtype: type = np.float64) -> np.ndarray:
    """(n, m): of full rank, with singular values well apart."""
    rng = np.random.default_rng(0)
    W, H = (rng.gamma(1, 1, shape) * (rng.random(shape) < 0.4) for shape in ((n, 8), (8, m)))
    X = (W * 0.7 ** np.arange(8)) @ H
    X[X > 0] += 0.01 * rng.random(np.count_nonzero(X))
    return X.astype(dtype)


def spread(X, kind, ranks, grid, k, method, *, seed=3, cuts=None, **given):
    """(Wt, H) of a start over simulated ranks, put together again."""
    cut = layout(kind, X.shape, ranks, grid=grid, row_cuts=cuts)

    def program(comm):
        Wt, H = start(over(shard_of(as_matrix(X), cut, comm.rank), comm), k, method, seed, **given)
        assert (Wt.shape[1], H.shape[1]) == tuple(
            part.stop - part.start for part in (cut.part_W(comm.rank), cut.part_H(comm.rank))
        )
        return Wt, H

    found = simulate(program, ranks).results
    Wt, H = np.full((k, X.shape[0]), np.nan, X.dtype), np.full((k, X.shape[1]), np.nan, X.dtype)
    for rank, (part_W, part_H) in enumerate(found):
        Wt[:, cut.part_W(rank)], H[:, cut.part_H(rank)] = part_W, part_H
    return Wt, H


@pytest.mark.parametrize(("kind", "ranks", "grid"), LAYOUTS)
@pytest.mark.parametrize("method", DRAWN)
@pytest.mark.parametrize("held", [np.asarray, sp.csr_array])
def test_a_start_over_ranks_is_that_of_one_machine(kind, ranks, grid, method, held):
    X = planted()
    one = start(as_matrix(held(X)), 5, method, 3)
    for F, expected in zip(spread(held(X), kind, ranks, grid, 5, method), one, strict=True):
        np.testing.assert_allclose(F, expected, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("method", DRAWN)
def test_empty_and_small_shards_take_part(method):
    X = planted(dtype=np.float32)
    one = start(as_matrix(X), 6, method, 3)
    for F, expected in zip(spread(X, "rows", 5, None, 6, method, cuts=(0, 0, 3, 50, 50, 61)), one, strict=True):
        np.testing.assert_allclose(F, expected, rtol=2e-3, atol=1e-4)


@pytest.mark.parametrize(("kind", "ranks", "grid"), LAYOUTS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_random_starts_are_the_same_bits_however_X_is_cut(kind, ranks, grid, dtype):
    X = np.random.default_rng(2).random((3000, 45)).astype(dtype)
    for F, expected in zip(spread(X, kind, ranks, grid, 4, "random"), start(as_matrix(X), 4, "random", 3), strict=True):
        assert np.array_equal(F, expected)


@pytest.mark.parametrize("distinct", [1, 3, 30])
def test_no_cluster_is_empty_wherever_the_farthest_point_is(distinct):
    points = np.random.default_rng(0).random((distinct, 4))[np.arange(30) % distinct]
    cut = layout("rows", points.shape, 4, row_cuts=(0, 2, 2, 20, 30))

    def program(comm):
        side = over(shard_of(as_matrix(points), cut, comm.rank), comm).rows
        return clusters(points[side.part], 9, generator(3, Purpose.KMEANS), side)

    label = np.concatenate(simulate(program, 4).results)
    assert (np.bincount(label, minlength=9) > 0).all()
    if distinct == 30:
        assert np.array_equal(label, clusters(points, 9, generator(3, Purpose.KMEANS), alone(as_matrix(points)).rows))


@pytest.mark.parametrize("side", ["W", "H"])
@pytest.mark.parametrize(("kind", "ranks", "grid"), LAYOUTS[2:8])
def test_given_factors_are_cut_and_completed(side, kind, ranks, grid):
    X, rng = planted(), np.random.default_rng(1)
    given = {"W": rng.random((61, 4))} if side == "W" else {"H": rng.random((4, 44))}
    one = start(as_matrix(X), 4, "custom", 0, **given)
    for F, expected in zip(spread(X, kind, ranks, grid, 4, "custom", **given), one, strict=True):
        np.testing.assert_allclose(F, expected, rtol=1e-9)


def test_over_both_no_message_is_larger_than_a_share_of_X():
    X = sp.random_array((3000, 2000), density=0.01, format="csr", rng=np.random.default_rng(1))
    cut = layout("both", X.shape, 4)
    largest = []

    class Watching:
        """A communicator that keeps the size of the largest result of a gather."""

        def __init__(self, comm):
            self.comm = comm

        def __getattr__(self, name):
            return getattr(self.comm, name)

        def gather(self, part, widths):
            whole = self.comm.gather(part, widths)
            largest.append(whole.size)
            return whole

    def program(comm):
        shard = shard_of(as_matrix(X), cut, comm.rank)
        start(over(shard, Watching(comm)), 8, "nndsvda", 0)
        return max(shard.rows.nnz, shard.columns.nnz)

    assert max(simulate(program, 4).results) < 18 * 2000  # so all components at once would be too many
    assert 2000 <= max(largest) <= 15_000  # numbers: a fourth of X has as many


def test_a_random_start_sends_two_numbers():
    X = planted()
    cut = layout("both", X.shape, 3)

    def program(comm):
        metered = Metered(comm)
        start(over(shard_of(as_matrix(X), cut, comm.rank), metered), 4, "random", 0)
        return metered.total

    assert [(count.calls, count.numbers) for count in simulate(program, 3).results] == [(1, 2)] * 3


def test_missing_entries_are_refused_in_a_sentence():
    X = planted()
    X[3, 4] = np.nan
    cut = layout("rows", X.shape, 2)
    with pytest.raises(OptionError, match="X must be complete"):
        simulate(lambda comm: over(shard_of(as_matrix(X, missing="nan"), cut, comm.rank), comm), 2)
