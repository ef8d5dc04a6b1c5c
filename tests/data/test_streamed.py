"""X on disk: the same numbers as X in memory, and memory for a block of it only."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from partwise.data import Dense, MaskedDense, Streamed, Weighted, as_matrix
from partwise.randomness import Purpose
from partwise.sketches import KINDS, sketch

N, M, K = 23, 9, 3
RNG = np.random.default_rng(0)
X = RNG.integers(1, 9, (N, M)).astype(np.uint8)
H, WT = RNG.random((K, M)), RNG.random((K, N))


@pytest.fixture(autouse=True)
def several_blocks(monkeypatch):
    """The source is cut into six blocks of rows, the last one shorter."""
    monkeypatch.setattr("partwise.data.dense.GRAIN", 4)
    monkeypatch.setattr("partwise.data.dense.BLOCK_BYTES", 1)


class Source:
    """Gives contiguous blocks of rows, as HDF5 does, and counts them."""

    def __init__(self, array):
        self.array, self.shape, self.dtype, self.read = array, array.shape, array.dtype, []

    def __getitem__(self, rows):
        assert isinstance(rows, slice)
        self.read.append(rows)
        return self.array[rows]


PAIRS = [(False, H, WT), (True, WT, H)]  # flipped?, the other factor, the factor


@pytest.mark.parametrize(("flipped", "other", "F"), PAIRS)
@pytest.mark.parametrize("weights", [False, True])
def test_pairs_and_errors_are_those_of_the_array(flipped, other, F, weights):
    streamed, dense = Streamed(Source(X), np.dtype(float)), Dense(X.astype(float))
    streamed, dense = (streamed.T, dense.T) if flipped else (streamed, dense)
    w = RNG.random(other.shape[1]) if weights else None
    for mine, theirs in zip(streamed.normal_eq(other, F, w), dense.normal_eq(other, F, w), strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-12)
    for beta in (2, 1, 0.5, 0):
        for mine, theirs in zip(streamed.ratio_eq(other, F, beta, w), dense.ratio_eq(other, F, beta, w), strict=True):
            np.testing.assert_allclose(np.broadcast_to(mine, F.shape), np.broadcast_to(theirs, F.shape), rtol=1e-12)
        np.testing.assert_allclose(
            streamed.row_divergences(F, other, beta), dense.row_divergences(F, other, beta), rtol=1e-12
        )
    np.testing.assert_allclose(streamed.times(other), dense.times(other), rtol=1e-12)
    np.testing.assert_allclose(streamed.row_sq_norms(), dense.row_sq_norms(), rtol=1e-12)
    eq = streamed.T.normal_eq(F, other)
    assert streamed.sq_error(F, other, eq) == pytest.approx(dense.sq_error(F, other), rel=1e-9)
    assert streamed.total() == dense.total()
    assert streamed.mean() == dense.mean()
    assert streamed.has_zeros() == dense.has_zeros()
    assert (streamed.shape, streamed.nnz, streamed.dtype) == (dense.shape, dense.nnz, dense.dtype)


@pytest.mark.parametrize("flipped", [False, True])
@pytest.mark.parametrize("index", [slice(3, 8), slice(None), [0, 5, 2]])
def test_some_rows_are_held_in_memory(flipped, index):
    array = X.T if flipped else X
    streamed = Streamed(X, np.dtype(np.float32), flipped=flipped).rows(index)
    assert isinstance(streamed, Dense)
    assert streamed.array.dtype == np.float32
    np.testing.assert_array_equal(streamed.array, array[index])


@pytest.mark.parametrize("kind", KINDS)
def test_sketches_are_those_of_the_array(kind):
    for size, streamed, dense in (
        (M, Streamed(Source(X), np.dtype(float)), Dense(X.astype(float))),
        (N, Streamed(Source(X), np.dtype(float)).T, Dense(X.T.astype(float))),
    ):
        S = sketch(kind, size, 4, seed=1, t=2, purpose=Purpose.SKETCH_W)
        np.testing.assert_allclose(streamed.sketched(S), dense.sketched(S), rtol=1e-10, atol=1e-10)


def test_what_is_missing_in_a_stream_is_missing():
    holed = np.where(RNG.random((N, M)) < 0.7, X, np.nan)
    streamed, dense = as_matrix(Source(holed), missing="nan"), MaskedDense(holed)
    assert not streamed.traceable
    for mine, theirs, other, F in ((streamed, dense, H, WT), (streamed.T, dense.T, WT, H)):
        for one, two in zip(mine.normal_eq(other, F), theirs.normal_eq(other, F), strict=True):
            np.testing.assert_allclose(one, two, rtol=1e-12)
        for one, two in zip(mine.ratio_eq(other, F, 1), theirs.ratio_eq(other, F, 1), strict=True):
            np.testing.assert_allclose(one, two, rtol=1e-12)
    assert streamed.sq_error(WT, H) == pytest.approx(dense.sq_error(WT, H))
    assert streamed.total() == pytest.approx(dense.total())


def test_weights_on_a_stream():
    weights = RNG.random(N)
    streamed, dense = as_matrix(Source(X), sample_weight=weights), Weighted(Dense(X.astype(float)), weights)
    for one, two in zip(streamed.T.normal_eq(WT, H), dense.T.normal_eq(WT, H), strict=True):
        np.testing.assert_allclose(one, two, rtol=1e-12)
    blocks = [block.T.normal_eq(WT[:, rows], H) for rows, block in streamed.blocks()]
    np.testing.assert_allclose(sum(eq.cross for eq in blocks), (WT * weights) @ X, rtol=1e-12)


def test_an_iteration_reads_the_source_once_and_in_order():
    from partwise.algorithms.single.methods import Problem, method

    source = Source(X)
    held = Streamed(source, np.dtype(float))
    step = method("hals", Problem(held.shape, held.nnz, K), {"extrapolate": False})
    state = step.init(held, WT, H)
    source.read.clear()
    step.step(held, state, 1)
    assert [rows.start for rows in source.read] == list(range(0, N, 4))


# A run in a process of its own that says how much memory it took beside what the kernel can drop (the file's pages).
RUN = """
import sys, threading, time
import numpy as np
from partwise.estimators.factorize import factorize

def anonymous():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith("RssAnon"))

small = np.ones((300, 40))
path, solver, beta = sys.argv[1], sys.argv[2], float(sys.argv[3])
wishes = dict(solver=solver, beta_loss=beta, max_iter=2, tol=0, init="random")
factorize(small, 4, **wishes)  # everything is loaded and compiled
factorize(small.astype(np.float32), 4, dtype=np.float32, **wishes)
before, most, done = anonymous(), 0, threading.Event()

def watch():
    global most
    while not done.is_set():
        most = max(most, anonymous())
        time.sleep(0.002)

watcher = threading.Thread(target=watch)
watcher.start()
X = np.load(path, mmap_mode="r")
factorize(X, 4, dtype=np.float32 if X.dtype != np.float64 else None, **wishes)
done.set()
watcher.join()
print(max(most, anonymous()) - before)
"""
LARGE = {
    "uint8": (25_000, 2000),
    "float32": (20_000, 2000),
}  # 50 and 160 MB on disk; the first would be 200 MB in memory


def on_disk(path: Path, dtype: str) -> Path:
    """A large matrix whose file takes hardly any room: zeros but for a row here and there."""
    array = np.lib.format.open_memmap(path, mode="w+", dtype=dtype, shape=LARGE[dtype])
    array[::500] = np.arange(2000) % 7 + 1
    array.flush()
    return path


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs Linux's account of memory")
@pytest.mark.parametrize("dtype", LARGE)
@pytest.mark.parametrize(("solver", "beta"), [("hals", 2), ("mu", 1)])
def test_memory_beside_x_is_a_few_blocks(tmp_path, dtype, solver, beta):
    """X would take 200 or 160 MB; factors take 2 MB, a block 4 MB and what is made from it a few times that. 64 MB are more than enough."""
    path = on_disk(tmp_path / "X.npy", dtype)
    try:
        done = subprocess.run(
            [sys.executable, "-c", RUN, str(path), solver, str(beta)], capture_output=True, text=True, timeout=250
        )
        assert done.returncode == 0, done.stderr
        assert int(done.stdout) < 64e6
    finally:
        path.unlink()
