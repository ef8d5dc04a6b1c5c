"""Sums in float64 against exact ones."""

import math

import numpy as np
import pytest

from partwise.kernels.sums import CHUNK, LANES, dot64, row_squares, sq64, violation
from partwise.kernels.threads import threads

DTYPES = [np.float32, np.float64]
SHAPES = [(0, 4), (1, 1), (3, LANES - 1), (2, LANES), (5, 101), (3, CHUNK), (7, CHUNK // 2 + 1)]


def pair(shape, dtype, seed=0):
    rng = np.random.default_rng(seed)
    F = rng.random(shape) * (rng.random(shape) < 0.5)
    return F.astype(dtype), rng.normal(size=shape).astype(dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES)
def test_sums_are_those_of_float64(shape, dtype):
    A, B = pair(shape, dtype)
    exact = math.fsum((A.astype(np.float64) * B.astype(np.float64)).ravel())
    assert isinstance(dot64(A, B), float)
    assert dot64(A, B) == pytest.approx(exact, rel=1e-12, abs=1e-11)
    assert sq64(B) == pytest.approx(math.fsum(b * b for b in B.ravel().tolist()), rel=1e-13)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES)
def test_violation_counts_what_could_still_move(shape, dtype):
    F, gradient = pair(shape, dtype)
    expected = math.fsum(
        abs(g) for f, g in zip(F.ravel().tolist(), gradient.ravel().tolist(), strict=True) if f > 0 or g < 0
    )
    assert violation(F, gradient) == pytest.approx(expected, rel=1e-13)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES)
def test_squares_of_rows_are_those_of_float64(shape, dtype):
    B = pair(shape, dtype)[1]
    B.flags.writeable = False
    np.testing.assert_allclose(row_squares(B), np.sum(B.astype(np.float64) ** 2, axis=1), rtol=1e-13)


def test_small_terms_survive_beside_large_ones():
    A = np.full(2**22, 2.0**-13, np.float32)
    A[0] = 2.0**11
    assert sq64(A) == 2.0**22 + (2**22 - 1) * 2.0**-26


@pytest.mark.parametrize("sum64", [dot64, violation])
def test_threads_do_not_change_a_bit(sum64):
    A, B = pair((40, CHUNK + 77), np.float32)
    with threads(1):
        alone = sum64(A, B)
    with threads(2):
        assert sum64(A, B) == alone


def test_nan_is_seen():
    A, B = pair((4, 90), np.float64)
    B[2, 3] = np.nan
    assert math.isnan(dot64(A, B))
    A[2, 3] = 1
    assert math.isnan(violation(A, B))


def test_read_only_arrays_are_accepted():
    A, B = pair((4, 90), np.float64)
    expected = dot64(A, B), violation(A, B)
    A.flags.writeable = B.flags.writeable = False
    assert (dot64(A, B), violation(A, B)) == expected
