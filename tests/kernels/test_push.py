"""The step beyond a step, against the formula."""

import numpy as np
import pytest

from partwise.kernels.push import push
from partwise.kernels.threads import threads


def factors(k, r, dtype, seed=0):
    rng = np.random.default_rng(seed)
    return rng.random((k, r)).astype(dtype), rng.random((k, r)).astype(dtype)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("k", "r"), [(1, 1), (3, 0), (4, 37), (7, 1000)])
def test_a_factor_is_pushed_on_along_the_way_it_came(k, r, dtype):
    F, before = factors(k, r, dtype)
    pushed = push(F, before, 0.7)
    assert pushed.dtype == dtype
    np.testing.assert_allclose(pushed, np.maximum(0, F + 0.7 * (F.astype(np.float64) - before)), rtol=1e-5, atol=1e-6)


def test_a_block_of_columns_is_pushed_as_the_whole_is():
    F, before = factors(5, 90, np.float64)
    whole = push(F, before, 0.9)
    for first, last in ((0, 30), (30, 90)):
        np.testing.assert_array_equal(
            push(np.ascontiguousarray(F[:, first:last]), before, 0.9, first), whole[:, first:last]
        )


def test_it_writes_to_neither_and_hides_nothing():
    F, before = factors(2, 5, np.float64)
    F[1, 3] = np.nan
    kept = F.copy(), before.copy()
    assert np.isnan(push(F, before, 1.0)[1, 3])
    np.testing.assert_array_equal(F, kept[0])
    np.testing.assert_array_equal(before, kept[1])


def test_threads_do_not_change_a_bit():
    F, before = factors(6, 1 << 17, np.float64)
    with threads(1):
        alone = push(F, before, 0.5)
    with threads(2):
        np.testing.assert_array_equal(push(F, before, 0.5), alone)
