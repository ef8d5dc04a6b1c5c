"""Sampled HALS: what it reads, what it learns, how it ends."""

from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp

from partwise.algorithms.single.methods import Problem, method
from partwise.algorithms.single.sketched import MOST, refined, sample_sizes
from partwise.data import Streamed, as_matrix
from partwise.drivers.iterate import begin, iterate
from partwise.drivers.stopping import MaxIterations
from partwise.errors import OptionError
from partwise.kernels.hals import hals_sweeps
from partwise.updates import Bpp, Refit

N, M, K = 1200, 40, 5


def problem(seed=0, shape=(N, M)):
    rng = np.random.default_rng(seed)
    n, m = shape
    X = rng.gamma(0.4, 1, (n, K)) @ rng.gamma(0.4, 1, (K, m)) + 0.3 * rng.random((n, m))
    return X, rng.uniform(0.1, 1, (K, n)), rng.uniform(0.1, 1, (K, m))


def run(solver, X, Wt, H, iterations, *, seed=0, **options):
    held = as_matrix(X)
    step = method(solver, Problem(held.shape, held.nnz, len(H), seed=seed), options)
    state, trace = begin(step, held, Wt, H, relative=True)
    return iterate(step, held, state, trace, [MaxIterations(iterations)])


def test_sizes_double_up_to_a_share_of_the_rows():
    assert sample_sizes(10**6, 10, 4, 64) == (40, 80, 160, 320, 640)
    assert sample_sizes(N, K, 4, 10**9) == (30, 60, 120)
    assert sample_sizes(30 * K, K, 4, 128) == (30,)  # a tenth would be less than the least
    assert sample_sizes(15 * K, K, 4, 128) == ()
    assert all(b in (2 * a, 2 * a + 1) for a, b in pairwise(sample_sizes(54321, 7, 3, 1000)))


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("holding", [np.asarray, np.asfortranarray, sp.csr_array])
def test_one_pass_after_the_samples_it_is_near_the_end(seed, holding):
    X, Wt, H = problem(seed)
    samples = len(sample_sizes(N, K, 4, 128))
    found = run("sketched", holding(X), Wt, H, samples + 1, seed=seed)
    best = run("hals", X, Wt, H, 300).state.loss
    assert samples == 3
    assert found.state.loss < 1.1 * best  # an error within 5 %
    assert np.isnan([point.loss for point in found.trace.points[1 : samples + 1]]).all()
    assert found.state.loss == pytest.approx(0.5 * np.sum((X - found.state.Wt.T @ found.state.H) ** 2))
    assert run("hals", X, Wt, H, 2).state.loss > 1.1 * best  # as much work


@pytest.mark.parametrize("turn", [False, True])
def test_it_ends_as_well_as_hals(turn):
    X, Wt, H = problem()
    start = (X.T, H, Wt) if turn else (X, Wt, H)
    mine, theirs = run("sketched", *start, 401), run("hals", *start, 401)
    assert mine.state.loss == pytest.approx(theirs.state.loss, rel=2e-3)
    assert mine.trace.last.violation < 1e-4 * theirs.trace.points[1].violation


class Counted:
    """Rows on disk, and how many of them were read."""

    def __init__(self, array):
        self.array, self.shape, self.dtype, self.read = array, array.shape, array.dtype, 0

    def __getitem__(self, rows):
        found = self.array[rows]
        self.read += len(found)
        return found


def test_of_streamed_rows_it_reads_the_sample_alone():
    X, Wt, H = problem()
    source = Counted(X)
    held = as_matrix(source)
    assert isinstance(held, Streamed)
    step = method("sketched", Problem(held.shape, held.nnz, K), {})
    state, _ = begin(step, held, Wt, H, relative=True)
    sizes = sample_sizes(N, K, 4, 128)
    for t, size in enumerate(sizes, 1):
        source.read = 0
        moved = step.step(held, state, t)
        changed = (moved.Wt != state.Wt).any(axis=0).sum()
        assert source.read == changed
        assert source.read < 1.5 * size
        state = moved
    source.read = 0
    step.step(held, state, len(sizes) + 1)
    assert source.read == N


def test_the_first_residual_is_estimated():
    X, Wt, H = problem()
    theirs = run("hals", X, Wt, H, 1).trace.last.violation
    mine = [run("sketched", X, Wt, H, 1, seed=seed).trace.last.violation for seed in range(5)]
    assert 0.5 * theirs < np.mean(mine) < 2 * theirs


def test_stop_within_the_samples_and_resume(tmp_path):
    from partwise.drivers import checkpoint

    X, Wt, H = problem()
    held = as_matrix(X)
    step = method("sketched", Problem(held.shape, held.nnz, K), {})
    state, trace = begin(step, held, Wt, H, relative=True)
    half = iterate(step, held, state, trace, [MaxIterations(2)])
    checkpoint.save(tmp_path, half.state, half.trace, {})
    back = checkpoint.load(tmp_path, {})
    resumed = iterate(step, held, back.state, back.trace, [MaxIterations(8)])
    whole = run("sketched", X, Wt, H, 8)
    np.testing.assert_array_equal(resumed.state.Wt, whole.state.Wt)
    np.testing.assert_array_equal(resumed.state.H, whole.state.H)


def test_fixed_components_of_wide_data_stay():
    X, Wt, H = problem(shape=(M, N))
    held = as_matrix(X)
    step = method("sketched", Problem(held.shape, held.nnz, K, fixed=2), {"sample": (0.5, 128)})
    state = step.init(held, Wt, H)
    for t in range(1, 8):
        state = step.step(held, state, t)
    np.testing.assert_array_equal(state.H[:2], H[:2])
    assert (state.H[2:] != H[2:]).any()


def test_a_sample_is_left_when_it_teaches_less_than_it_errs():
    X, Wt, H = problem()
    held, steps = as_matrix(X), []
    small = method("hals", Problem(held.shape, held.nnz, K), {})

    class Watched:
        def init(self, *given):
            return small.init(*given)

        def step(self, X, state, t):
            steps.append(t)
            return small.step(X, state, t)

    found = refined(Watched(), held, Wt, H)
    assert 2 < len(steps) < MOST
    assert found.loss < 0.2 * small.init(held, Wt, H).loss


@pytest.mark.parametrize("sample", [3, (0, 4), (5, 4), (1, -1), "auto"])
def test_options_are_checked(sample):
    with pytest.raises(OptionError, match="sample="):
        method("sketched", Problem((N, M), N * M, K), {"sample": sample})


def pair(seed=0, dtype=np.float64):
    rng = np.random.default_rng(seed)
    H, W = rng.gamma(0.5, 1, (8, 30)), rng.gamma(0.5, 1, (8, 50))
    return as_matrix((W.T @ H + 0.1 * rng.random((50, 30))).astype(dtype)).normal_eq(
        H.astype(dtype), np.zeros((8, 50), dtype)
    )


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_refit_is_near_the_exact_solution_whatever_it_was(dtype):
    eq = pair(dtype=dtype)

    def cost(F):
        return float(0.5 * np.vdot(F, eq.gram @ F) - np.vdot(F, eq.cross))

    junk = np.random.default_rng(1).random((8, 50)).astype(dtype) * 100
    best, swept = Bpp().solve(np.zeros_like(junk), eq), junk.copy()
    hals_sweeps(swept, eq.gram, eq.cross, 4)
    mine = Refit().solve(junk, eq)
    assert mine.dtype == dtype
    assert (mine >= 0).all()
    assert cost(mine) - cost(best) < 2e-3 * abs(cost(best))
    assert cost(mine) - cost(best) < 0.1 * (cost(swept) - cost(best))


def test_a_refit_leaves_the_dead_alone():
    eq = pair()
    eq.gram[2], eq.gram[:, 2], eq.cross[2] = 0, 0, 0
    F = np.random.default_rng(0).random((8, 50))
    moved = Refit().solve(F, eq)
    np.testing.assert_array_equal(moved[2], F[2])
    assert (moved[3] != F[3]).any()
    eq.gram[:], eq.cross[:] = 0, 0
    np.testing.assert_array_equal(Refit().solve(F, eq), F)
