"""HALS kernels against the formula written out, number by number."""

import os
import subprocess
import sys

import numpy as np
import pytest

from partwise.kernels.hals import hals_ball_sweep, hals_sweeps
from partwise.kernels.lanes import width
from partwise.kernels.threads import threads

DTYPES = [np.float32, np.float64]
LANES = width(np.dtype(np.float32))
SHAPES = [(1, 1), (1, 3 * LANES), (3, 7), (5, LANES), (6, LANES + 1), (13, 2 * LANES - 1), (20, 0), (21, 5 * LANES + 3)]


def problem(k, r, dtype, seed=0):
    """A factor and a pair, with zeros in the factor and in the solution."""
    rng = np.random.default_rng(seed)
    A, X = rng.random((2 * k + 1, k)), rng.random((2 * k + 1, r)) - 0.1
    F = rng.random((k, r)) * (rng.random((k, r)) < 0.7)
    return F.astype(dtype), (A.T @ A).astype(dtype), (A.T @ X).astype(dtype)


def written_out(F, gram, cross, sweeps=1):
    """The definition, in plain Python and float64."""
    F = F.astype(np.float64)
    k, r = F.shape
    for _ in range(sweeps):
        for j in range(k):
            for i in range(r):
                slope = float(cross[j, i]) - sum(float(gram[j, c]) * F[c, i] for c in range(k))
                F[j, i] = max(0.0, F[j, i] + slope / float(gram[j, j]))
    return F


def swept(F, gram, cross, sweeps=1):
    F = F.copy()
    hals_sweeps(F, gram, cross, sweeps)
    return F


def close(dtype):
    return {"rtol": 1e-4, "atol": 2e-5} if dtype == np.float32 else {"rtol": 1e-11, "atol": 1e-12}


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("k", "r"), SHAPES)
def test_sweeps_follow_the_formula(k, r, dtype):
    F, gram, cross = problem(k, r, dtype)
    result = swept(F, gram, cross, sweeps=2)
    assert result.dtype == dtype
    np.testing.assert_allclose(result, written_out(F, gram, cross, sweeps=2), **close(dtype))


@pytest.mark.parametrize("dtype", DTYPES)
def test_gram_need_not_be_symmetric_to_be_read_by_rows(dtype):
    F, gram, cross = problem(7, 9, dtype)
    gram += np.triu(np.full_like(gram, 0.25), 1)
    np.testing.assert_allclose(swept(F, gram, cross), written_out(F, gram, cross), **close(dtype))


@pytest.mark.parametrize("dtype", DTYPES)
def test_sweeps_add_up(dtype):
    F, gram, cross = problem(8, 100, dtype)
    np.testing.assert_array_equal(swept(swept(F, gram, cross, 2), gram, cross), swept(F, gram, cross, 3))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("cut", [1, 5, LANES // 2, LANES - 1, LANES, 2 * LANES + 3])
def test_columns_may_be_cut_anywhere(cut, dtype):
    F, gram, cross = problem(11, 3 * LANES + 7, dtype)
    parts = [(np.ascontiguousarray(A[:, :cut]), np.ascontiguousarray(A[:, cut:])) for A in (F, cross)]
    pieces = [swept(*piece, sweeps=3) for piece in ((parts[0][p], gram, parts[1][p]) for p in (0, 1))]
    np.testing.assert_array_equal(np.hstack(pieces), swept(F, gram, cross, sweeps=3))


@pytest.mark.parametrize("dtype", DTYPES)
def test_threads_do_not_change_a_bit(dtype):
    F, gram, cross = problem(60, 20 * LANES + 9, dtype)
    with threads(1):
        alone = swept(F, gram, cross, sweeps=5)
    with threads(2):
        np.testing.assert_array_equal(swept(F, gram, cross, sweeps=5), alone)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("sweep", [hals_sweeps, hals_ball_sweep])
@pytest.mark.parametrize("diagonal", ["zero", "negative", "subnormal"])
def test_dead_components_are_left_alone(diagonal, sweep, dtype):
    F, gram, cross = problem(9, 30, dtype)
    value = {"zero": 0.0, "negative": -1.0, "subnormal": np.finfo(dtype).smallest_subnormal}[diagonal]
    for dead in (0, 3, 8):
        gram[dead, :] = gram[:, dead] = 0
        gram[dead, dead] = value
    before = F.copy()
    sweep(F, gram, cross)
    np.testing.assert_array_equal(F[[0, 3, 8]], before[[0, 3, 8]])
    assert np.isfinite(F).all()
    assert (F[[1, 2, 4]] != before[[1, 2, 4]]).any(axis=1).all()


@pytest.mark.parametrize("sweep", [hals_sweeps, hals_ball_sweep])
def test_the_pair_may_be_read_only(sweep):
    F, gram, cross = problem(6, 70, np.float32)
    expected = F.copy()
    sweep(expected, gram, cross)
    gram.flags.writeable = cross.flags.writeable = False
    sweep(F, gram, cross)
    np.testing.assert_array_equal(F, expected)


def test_a_column_with_nan_does_not_touch_the_others():
    F, gram, cross = problem(7, 2 * LANES + 5, np.float32)
    clean = swept(F, gram, cross)
    for column in (3, 2 * LANES + 1):
        cross[4, column] = np.nan
    result = swept(F, gram, cross)
    bad = np.isnan(result).any(axis=0)
    assert list(np.flatnonzero(bad)) == [3, 2 * LANES + 1]
    np.testing.assert_array_equal(result[:, ~bad], clean[:, ~bad])


@pytest.mark.parametrize("r", [5, LANES, LANES + 5])
def test_nothing_is_written_beyond_the_factor(r):
    k, padding = 6, 4 * LANES
    around = np.full(k * r + 2 * padding, 7, np.float32)
    F, gram, cross = problem(k, r, np.float32)
    inside = around[padding:-padding].reshape(k, r)
    inside[:] = F
    hals_sweeps(inside, gram, cross)
    assert (around[:padding] == 7).all()
    assert (around[-padding:] == 7).all()
    np.testing.assert_array_equal(inside, swept(F, gram, cross))


def test_narrow_registers_give_the_same_numbers(tmp_path):
    """What processors without the widest registers compile: fewer lanes, no fused products."""
    F, gram, cross = problem(13, 2 * LANES + 3, np.float32)
    np.savez(tmp_path / "problem.npz", F=F, gram=gram, cross=cross)
    script = (
        "import sys, numpy as np; from partwise.kernels import hals, lanes; assert lanes.BYTES == 64;"
        "p = np.load(sys.argv[1]); F = p['F']; hals.hals_sweeps(F, p['gram'], p['cross'], 2); np.save(sys.argv[2], F)"
    )
    narrow = {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": "", "NUMBA_CACHE_DIR": str(tmp_path)}
    arguments = [sys.executable, "-c", script, str(tmp_path / "problem.npz"), str(tmp_path / "F.npy")]
    subprocess.run(arguments, check=True, env=os.environ | narrow)
    np.testing.assert_allclose(np.load(tmp_path / "F.npy"), swept(F, gram, cross, 2), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("k", "r"), [(1, 1), (3, 40), (16, 9), (19, 130), (35, 20)])
def test_ball_sweep_follows_the_formula(k, r, dtype):
    F, gram, cross = problem(k, r, dtype)
    expected = F.astype(np.float64)
    for j in range(k):
        row = np.maximum(0, expected[j] + (cross[j] - gram[j].astype(np.float64) @ expected) / gram[j, j])
        expected[j] = row / max(1, np.linalg.norm(row))
    hals_ball_sweep(F, gram, cross)
    assert F.dtype == dtype
    np.testing.assert_allclose(F, expected, **close(dtype))
    norms = np.linalg.norm(F.astype(np.float64), axis=1)
    assert norms.max() <= 1 + 4 * np.finfo(dtype).eps


def test_ball_sweep_minimises_each_component():
    """No point of the ball and the orthant near the new row does better, the others held."""
    F, gram, cross = problem(1, 6, np.float64)
    hals_ball_sweep(F, gram, cross)

    def objective(row):
        return 0.5 * gram[0, 0] * row @ row - cross[0] @ row

    rng = np.random.default_rng(1)
    for _ in range(200):
        other = np.maximum(0, F[0] + rng.normal(size=6) * rng.choice([1e-3, 0.1, 1]))
        assert objective(other / max(1, np.linalg.norm(other))) >= objective(F[0]) - 1e-12


def test_no_component_no_column():
    for shape in ((0, 4), (4, 0)):
        F, gram = np.zeros(shape, np.float32), np.eye(shape[0], dtype=np.float32)
        hals_sweeps(F, gram, np.ones(shape, np.float32))
        hals_ball_sweep(F, gram, np.ones(shape, np.float32))
        assert F.shape == shape
