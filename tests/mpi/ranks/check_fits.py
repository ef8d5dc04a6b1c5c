"""Fits on MPI's ranks: those of simulated ranks, from each rank's part alone."""

from __future__ import annotations

import gc
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

from mpi.fits import METHODS, WISHES, K, fitted, kept, kinds
from partwise import factorize_on_ranks
from partwise.comm import job, simulate
from partwise.data import dense
from partwise.data.shards import parts
from partwise.drivers import checkpoint
from partwise.estimators.factorize import Keep

FLOAT = 4  # bytes of a number of the long X


def same(mine, expected, *, bits: bool):
    for a, b in zip(mine[:2], expected[:2], strict=True):
        if bits:
            assert np.array_equal(a, b)
        else:
            np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(mine[2], expected[2], rtol=1e-9)
    np.testing.assert_allclose(mine[3], expected[3], rtol=0 if bits else 1e-7)


def only_some(comm, name):
    """On two ranks everything is seen, on more what differs there."""
    if comm.size > 2 and name not in ("did", "dsanls", "hpc-anls-bpp"):
        pytest.skip("seen on two ranks")


@pytest.mark.parametrize("kind", ["dense", "sparse"])
@pytest.mark.parametrize("name", METHODS)
def test_every_method_is_what_simulated_ranks_make_of_it(comm, folder, name, kind):
    if kind not in kinds(comm.size):
        pytest.skip("seen on another number of ranks")
    simulated = kept(folder, comm.size, name, kind, comm.rank)
    same(fitted(folder / kind, comm, name), simulated, bits=comm.size == 2)


@pytest.mark.parametrize("name", METHODS)
def test_sums_in_the_order_of_ranks_are_simulated_ones_to_the_bit(comm, folder, name):
    if comm.size != 3:
        pytest.skip("two ranks need no such care, and four are like three")
    same(
        fitted(folder / "sparse", job(deterministic=True), name), kept(folder, 3, name, "sparse", comm.rank), bits=True
    )


@pytest.mark.parametrize("file", ["dense.npy", "X.h5", "X.zarr", "sparse.npz"])
def test_files_are_read_in_place(comm, folder, file):
    shards = folder / ("sparse" if file == "sparse.npz" else "dense")
    same(fitted(folder / file, comm), fitted(shards, comm), bits=True)


def test_each_rank_may_bring_its_own_rows_and_one_of_them_none(comm, folder):
    X = np.load(folder / "dense.npy")
    cuts = [0, 0, *np.linspace(0, len(X), comm.size).astype(int)[1:]]  # nothing for rank 0
    own = X[cuts[comm.rank] : cuts[comm.rank + 1]]
    whole = simulate(lambda alone: fitted(folder / "dense.npy", alone), 1).results[0]
    for name in ("did", "hpc-anls-hals"):
        W, _H, error, _ = fitted(own, comm, name)
        assert W.shape == (len(own), K)
        np.testing.assert_allclose(error, whole[2], rtol=1e-8)
    np.testing.assert_allclose(
        comm.gather(np.ascontiguousarray(W.T), np.diff(cuts).tolist()), whole[0].T, rtol=1e-5, atol=1e-7
    )


def test_more_parts_than_a_rank_has_rows_is_no_error(comm, folder):
    X = np.load(folder / "dense.npy")[: comm.size + 2]
    own = X[comm.rank :: comm.size][:1] if comm.rank else X[: 2 + 1]
    share = factorize_on_ranks(own, 7, comm=comm, **WISHES)
    assert share.W.shape == (len(own), 7)
    assert share.relative_error < 0.05


def bytes_read() -> int:
    """By this process, through the system, in all its life."""
    return int(Path("/proc/self/io").read_text().split()[1])


@pytest.mark.skipif(not Path("/proc/self/io").exists(), reason="the system does not count")
@pytest.mark.parametrize("name", ["did", "dsanls", "hpc-anls-hals"])
def test_a_rank_reads_its_part_and_holds_no_more(comm, folder, name, monkeypatch):
    """Beside its part: factors, whole ones among them where they are gathered, a few each; and ten blocks, of 4 MB by default."""
    block = 1 << 18
    for room in (parts, dense):
        monkeypatch.setattr(room, "BLOCK_BYTES", block)
    factorize_on_ranks(folder / "dense", K, comm=comm, algorithm=name, dtype="float32", **WISHES)  # what is loaded once
    gc.collect()
    before = bytes_read()
    tracemalloc.start()
    share = factorize_on_ranks(folder / "long", K, comm=comm, algorithm=name, **WISHES)
    peak, read = tracemalloc.get_traced_memory()[1], bytes_read() - before
    tracemalloc.stop()
    (n, m), own = share.layout.shape, bytes_of_X(share.layout, comm.rank)
    assert own <= read < own + 50_000  # the headers, and the manifest
    sketches = own if name == "dsanls" else 0  # those of this rank's part are no longer than the part
    assert peak < own + sketches + 8 * FLOAT * K * (n + m) + 10 * block + 500_000
    assert own <= (2 if name == "dsanls" else 1) * FLOAT * (n * m // comm.size + n + m)


def bytes_of_X(cut, rank):
    """Of all that a rank holds of X."""
    n, m = cut.shape
    rows, columns, block = cut.rows(rank), cut.columns(rank), cut.block(rank)
    pieces = [rows and (rows, slice(0, m)), columns and (slice(0, n), columns), block]
    return sum(FLOAT * (r.stop - r.start) * (c.stop - c.start) for r, c in filter(None, pieces))


@pytest.mark.parametrize("name", METHODS)
def test_a_run_that_is_resumed_is_one_that_never_stopped(comm, folder, shared, name):
    only_some(comm, name)
    kind = kinds(comm.size)[-1]
    keep = Keep(shared / name, every=3)
    fitted(folder / kind, comm, name, keep=keep, max_iter=5)
    assert checkpoint.iteration(keep.folder) == 5
    resumed = fitted(folder / kind, comm, name, keep=keep._replace(resume=True))
    same(resumed, kept(folder, comm.size, name, kind, comm.rank), bits=comm.size == 2)
    if comm.rank == 0:  # and one rank alone can go on with what these kept
        go_on = keep._replace(resume=True)
        alone = simulate(lambda ranks: fitted(folder / kind, ranks, name, keep=go_on, max_iter=9), 1).results[0]
        np.testing.assert_allclose(alone[3][:9], resumed[3], rtol=1e-7)
        assert len(alone[3]) == 10
