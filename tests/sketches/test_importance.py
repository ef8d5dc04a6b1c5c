"""Samples by importance: right on average, nested, the same whoever draws which rows."""

from itertools import pairwise

import numpy as np
import pytest

from partwise.sketches import Importance

N = 3000


def squares(seed=0):
    return np.random.default_rng(seed).gamma(0.3, 1, N)


def drawn(seed, size, norms=None, **more):
    norms = squares() if norms is None else norms
    return Importance(norms, N, float(norms.sum()), seed, **more).sample(size)


def test_weighted_sums_are_right_on_average():
    values = np.random.default_rng(1).random(N) * (1 + squares())
    found = []
    for seed in range(300):
        index, weights = drawn(seed, 200)
        found.append(np.sum(weights * values[index]))
    error = np.mean(found) - values.sum()
    assert abs(error) < 4 * np.std(found) / np.sqrt(len(found))
    assert np.std(found) < 0.15 * values.sum()


@pytest.mark.parametrize("run", [1, 7])
def test_about_as_many_as_wished_in_order_with_bounded_weights(run):
    index, weights = drawn(0, 400, np.ones(N), run=run)
    assert 300 < len(index) < 500
    assert (np.diff(index) > 0).all()
    assert np.allclose(weights, N / 400, rtol=0.02)
    index, weights = drawn(0, 400, run=run)
    assert len(index) < 500
    assert weights.max() <= 2 * N / 400 * (1 + 1e-12)
    assert weights.min() >= 1


@pytest.mark.parametrize("run", [1, 7])
def test_a_larger_sample_holds_the_smaller_one(run):
    small, large = (drawn(3, size, run=run)[0] for size in (100, 200))
    assert len(small) < len(large)
    assert np.isin(small, large).all()
    assert len(drawn(3, 2 * N, np.ones(N))[0]) == N


def test_a_row_that_holds_much_of_x_is_surely_there():
    norms = np.ones(N)
    norms[1234] = N
    for seed in range(20):
        index, weights = drawn(seed, 60, norms)
        assert weights[index == 1234] == 1


def test_neighbours_are_drawn_together():
    index, _ = drawn(0, 400, run=10)
    assert all(len(rows) == 10 for rows in np.split(index, np.flatnonzero(np.diff(index // 10)) + 1))


def test_shards_draw_what_the_whole_draws():
    norms = squares()
    whole, weights = drawn(5, 300)
    cuts, parts = [0, 1, 1024, 1700, 1700, N], []
    for start, stop in pairwise(cuts):
        index, mine = Importance(norms[start:stop], N, float(norms.sum()), 5, start).sample(300)
        parts.append((start + index, mine))
    np.testing.assert_array_equal(np.concatenate([index for index, _ in parts]), whole)
    np.testing.assert_allclose(np.concatenate([mine for _, mine in parts]), weights)


def test_an_x_of_zeros_is_sampled_evenly():
    index, weights = drawn(0, 300, np.zeros(N))
    assert 200 < len(index) < 400
    assert np.allclose(weights, N / 300)
