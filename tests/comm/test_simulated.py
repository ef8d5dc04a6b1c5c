"""Ranks in one process: what they say, what the clock shows, and what is said when they get stuck. MPI's ranks: tests/mpi."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from partwise.comm import OWN, Grid, Metered, Network, grids, simulate, sum_numbers, sum_together
from partwise.comm.metered import Count
from partwise.currency import Message
from partwise.errors import OptionError, RunError

RANKS = [1, 2, 3, 5, 8]


def array(rank, shape=(3, 10), dtype=np.float64):
    return np.random.default_rng(rank).standard_normal(shape).astype(dtype)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64])
@pytest.mark.parametrize("ranks", RANKS)
def test_collectives_are_what_they_say(ranks, dtype):
    widths = [rank * 2 % 3 for rank in range(ranks)]  # 0 among them
    wide = (2, sum(widths))
    total, wide_total = (sum(array(r, shape, dtype) for r in range(ranks)) for shape in ((3, 10), wide))
    cuts = np.cumsum([0, *widths])

    def body(comm):
        given = array(comm.rank, dtype=dtype)
        before = given.copy()
        parts = given[:, : widths[comm.rank]]
        found = comm.sum(given), comm.gather(parts, widths), comm.broadcast(given, ranks - 1)
        share = comm.sum_scatter(array(comm.rank, wide, dtype), widths)
        comm.barrier()
        np.testing.assert_array_equal(given, before)
        return *found, share

    for rank, (summed, gathered, heard, share) in enumerate(simulate(body, ranks).results):
        np.testing.assert_array_equal(summed, total)  # in the order of ranks: the same bits
        np.testing.assert_array_equal(
            gathered, np.concatenate([array(r, dtype=dtype)[:, : widths[r]] for r in range(ranks)], 1)
        )
        np.testing.assert_array_equal(heard, array(ranks - 1, dtype=dtype))
        np.testing.assert_array_equal(share, wide_total[:, cuts[rank] : cuts[rank + 1]])
        assert {part.dtype for part in (summed, gathered, heard, share)} == {np.dtype(dtype)}


def test_what_comes_out_is_ones_own():
    def body(comm):
        found = comm.sum(np.ones(3))
        found += comm.rank  # nobody else must see it
        comm.barrier()
        return found

    assert [list(found) for found in simulate(body, 3).results] == [[3.0] * 3, [4.0] * 3, [5.0] * 3]


def test_a_process_that_is_alone_gets_back_what_it_gave():
    A = array(0)
    assert OWN.sum(A) is A
    assert OWN.gather(A, [10]) is A
    assert OWN.split(3) is OWN
    OWN.send(A, 0, tag=4)
    assert np.array_equal(OWN.receive(0, 4).array, A)
    with pytest.raises(RunError, match="nobody can send"):
        OWN.receive()
    with pytest.raises(RunError, match="no rank 1"):
        OWN.send(A, 1)


def test_messages_come_by_source_and_tag_in_the_order_of_arrival():
    def body(comm):
        if comm.rank:
            comm.advance(float(comm.rank == 1))  # rank 1 is slow
            comm.send(np.array([comm.rank, 1]), 0, tag=1)
            comm.send(np.array([comm.rank, 2]), 0, tag=2)
            return None
        order = [comm.receive(tag=1) for _ in range(2)]
        return [(m.source, m.tag, *m.array.tolist()) for m in (*order, comm.receive(1, 2), comm.receive())]

    assert simulate(body, 3).results[0] == [(2, 1, 2, 1), (1, 1, 1, 1), (1, 2, 1, 2), (2, 2, 2, 2)]


@pytest.mark.parametrize("shape", grids(12))
def test_a_grid_has_its_rows_and_columns(shape):
    pr, pc = shape

    def body(comm):
        grid = Grid.of(comm, shape)
        mine = np.array([comm.rank])
        return grid.row.gather(mine, [1] * pc), grid.column.gather(mine, [1] * pr), grid.row.rank, grid.column.rank

    for rank, (row, column, j, i) in enumerate(simulate(body, 12).results):
        assert (i, j) == divmod(rank, pc)
        assert row.tolist() == [i * pc + c for c in range(pc)]
        assert column.tolist() == [r * pc + j for r in range(pr)]


def test_a_grid_that_does_not_fit_is_refused():
    with pytest.raises(OptionError, match="2 × 2 has 4 places, but there are 3 ranks"):
        simulate(lambda comm: Grid.of(comm, (2, 2)), 3)


def test_a_thousand_ranks():
    found = simulate(lambda comm: (comm.sum(np.ones(1)).item(), comm.split(comm.rank % 2).size), 1024)
    assert set(found.results) == {(1024.0, 512)}
    assert threading.active_count() < 50  # their threads have ended


class TestStuck:
    def test_a_rank_that_calls_something_else_is_named(self):
        def body(comm):
            (comm.sum if comm.rank != 2 else comm.broadcast)(np.ones(4))

        with pytest.raises(
            RunError, match=r"different collectives \(call 1\): rank 0 called sum.*rank 2 called broadcast"
        ):
            simulate(body, 4)

    def test_so_is_one_whose_array_has_another_shape(self):
        with pytest.raises(RunError, match=r"rank 0 called sum\(\(3,\).*rank 1 called sum\(\(4,\)"):
            simulate(lambda comm: comm.sum(np.ones(3 + comm.rank)), 2)

    def test_ranks_that_wait_for_ever_are_named_and_those_that_left(self):
        def body(comm):
            if comm.rank == 1:
                return
            comm.sum(np.ones(2))

        with pytest.raises(RunError, match=r"for ever: rank 0 waits in sum.*rank 2 waits in sum.*ended: rank 1\."):
            simulate(body, 3)

    def test_so_are_those_that_wait_for_a_message_that_nobody_sends(self):
        with pytest.raises(
            RunError, match="rank 0 waits in receive from rank 1, tag 5; rank 1 waits in receive from any rank, tag any"
        ):
            simulate(lambda comm: comm.receive(1, 5) if comm.rank == 0 else comm.receive(), 2)

    def test_of_many_the_first_are_named(self):
        with pytest.raises(RunError, match=r"rank 7 waits.*; so do 92 more"):
            simulate(lambda comm: comm.receive(), 100)

    def test_a_split_has_a_name(self):
        def body(comm):
            part = comm.split(comm.rank % 2)
            if comm.rank != 3:
                part.barrier()

        with pytest.raises(RunError, match=r"rank 1 waits in barrier.* of the group 1"):
            simulate(body, 4)

    def test_an_error_of_one_rank_ends_all_and_says_which_it_was(self):
        def body(comm):
            if comm.rank == 2:
                raise ValueError("no")
            comm.barrier()

        with pytest.raises(ValueError, match="no") as caught:
            simulate(body, 4)
        assert caught.value.__notes__ == ["This happened on the simulated rank 2 of 4."]

    def test_widths_that_do_not_fit_are_refused_before_anyone_waits(self):
        with pytest.raises(RunError, match="Rank 0 of 2 gathers a part of shape"):
            simulate(lambda comm: comm.gather(np.ones((2, 3)), [1, 1]), 2)
        with pytest.raises(RunError, match="cannot be scattered by the widths"):
            simulate(lambda comm: comm.sum_scatter(np.ones((2, 3)), [1, 1]), 2)


class TestClock:
    NETWORK = Network(latency=1e-3, bandwidth=1e6)

    def test_a_collective_ends_for_all_when_the_last_has_come_and_it_is_paid(self):
        def body(comm):
            comm.advance(comm.rank * 1.0)
            comm.sum(np.ones(1000))
            return comm.now

        ends = simulate(body, 4, self.NETWORK).results
        assert ends == pytest.approx([3.0 + self.NETWORK.sum(8000, 4).seconds] * 4)

    def test_a_message_takes_latency_and_its_bytes(self):
        def body(comm):
            if comm.rank == 0:
                comm.send(np.ones(1000), 1)
            else:
                comm.receive(0)
            return comm.now

        assert simulate(body, 2, self.NETWORK).results == pytest.approx([1e-3, 1e-3 + 8e-3])

    def test_computing_is_charged_by_processor_time_if_asked(self):
        def body(comm):
            if comm.rank == 1:
                sum(range(300_000))
            comm.barrier()
            return comm.now

        assert max(simulate(body, 2, self.NETWORK).results) == pytest.approx(1e-3)
        assert min(simulate(body, 2, self.NETWORK, clock="cpu").results) > 1e-3 + 5e-4


def test_what_collectives_cost():
    network = Network(latency=1e-3, bandwidth=1e6)
    assert network.sum(8, 8)[:2] == (3, 24)  # short: doubling, log₂ P messages of all of it
    assert network.sum(10**9, 8)[:2] == (6, pytest.approx(2 * 7 / 8 * 1e9))  # long: scattered, then gathered
    assert network.gather(800, 8)[:2] == (3, 700)
    assert network.sum_scatter(800, 5)[:2] == (3, 640)  # ⌈log₂ 5⌉ rounds
    assert network.broadcast(8, 4)[:2] == (2, 16)
    assert network.barrier(0, 1024)[:2] == (10, 0)
    assert network.sum(800, 1).seconds == 0
    said = [Message("sum", 100, 8), Message("gather", 50, 4, wide=True)]
    assert network.of(said, 4).seconds == pytest.approx(network.sum(400, 8).seconds + network.gather(400, 4).seconds)


def test_a_meter_counts_by_kind_and_over_splits():
    def body(comm):
        metered = Metered(comm)
        metered.sum(np.ones((3, 4), np.float32))
        metered.split(comm.rank % 2).gather(np.ones((2, 1)), [1, 1])
        before = dict(metered.ledger)
        metered.split(comm.rank).sum(np.ones(9))  # alone: nothing travels
        assert metered.since(before) == {}
        sum_numbers(metered, 1.0, 2.0)
        return metered

    for metered in simulate(body, 4).results:
        cost = Network()
        assert metered.ledger["gather"] == Count(1, 4, 32, *cost.gather(32, 2))
        assert metered.ledger["sum"][:3] == (2, 14, 64)
        assert metered.total[:3] == (3, 18, 96)


def test_arrays_that_travel_together_come_back_apart():
    def body(comm):
        return sum_together(comm, np.full((2, 3), 1.0 + comm.rank), np.full(4, 10.0), np.empty((0, 5)))

    for a, b, c in simulate(body, 3).results:
        assert (a.shape, b.shape, c.shape) == ((2, 3), (4,), (0, 5))
        assert (a == 6).all()
        assert (b == 30).all()
