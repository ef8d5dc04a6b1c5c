"""Each sensitivity is never exceeded by any pair of neighbours that a search finds, and is reached by one."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.optimize import minimize

from partwise.errors import OptionError
from partwise.privacy.clip import Statistics, clip_columns, clip_scales, rounding_allowance, sum_sensitivity
from partwise.privacy.vectors import pack, unpack, unpack_gram

K, M, N = 3, 3, 10
REACHED = 0.995


def ball(z, limit, nonnegative):
    z = np.abs(z) if nonnegative else z
    return z * min(1.0, limit / max(np.linalg.norm(z), 1e-300))


def farthest(of: Statistics, part: str, *, signed: bool, tries: int = 6) -> float:
    """The largest distance between two neighbours' statistics that a search finds; the records differ in (w, y)."""
    rng = np.random.default_rng(7)

    def moved(z):
        w, v = (ball(z[i * K : (i + 1) * K], of.w, True) for i in range(2))
        y, q = (ball(z[2 * K + i * M : 2 * K + (i + 1) * M], of.y, not signed) for i in range(2))
        v, q = (v, q) if of.neighbours == "replace" else (0 * v, 0 * q)
        dA, dB = (np.outer(w, w) - np.outer(v, v)) / of.gram_scale, (np.outer(w, y) - np.outer(v, q)) / of.cross_scale
        return (
            math.sqrt({"gram": (dA**2).sum(), "cross": (dB**2).sum(), "joint": (dA**2).sum() + (dB**2).sum()}[part])
            / of.n
        )

    starts = (2 * rng.standard_normal(2 * K + 2 * M) for _ in range(tries))
    return max(-minimize(lambda z: -moved(z), z, method="Powell", options={"maxiter": 40}).fun for z in starts)


CASES = [
    (neighbours, signed, a)
    for neighbours in ("replace", "add-remove")
    for signed in (False, True)
    for a in (0.5, 1.0, 1.5, 4.0)  # of which some make A free of charge, some not
]


@pytest.mark.parametrize(("neighbours", "signed", "a"), CASES)
def test_joint_sensitivity_is_a_bound_and_is_reached(neighbours, signed, a):
    of = Statistics(N, 0.8, 1.3, signed, neighbours, gram_scale=a, cross_scale=1.1)
    found = farthest(of, "joint", signed=signed)
    assert REACHED * of.joint <= found <= of.joint * (1 + 1e-12)


@pytest.mark.parametrize(("neighbours", "signed"), [(n, s) for n in ("replace", "add-remove") for s in (False, True)])
def test_sensitivities_of_one_statistic_are_bounds_and_are_reached(neighbours, signed):
    of = Statistics(N, 0.8, 1.3, signed, neighbours)
    assert REACHED * of.gram_alone <= farthest(of, "gram", signed=signed) <= of.gram_alone * (1 + 1e-12)
    assert REACHED * of.cross_alone <= farthest(of, "cross", signed=signed) <= of.cross_alone * (1 + 1e-12)


def test_the_table_in_numbers():
    """design values, n = 100, unit clips"""
    root = math.sqrt(2) / 100
    assert Statistics(100, 1, 1).gram_alone == pytest.approx(root)
    assert Statistics(100, 1, 1).cross_alone == pytest.approx(root)
    assert Statistics(100, 1, 1, signed=True).cross_alone == pytest.approx(0.02)
    assert Statistics(100, 1, 1, neighbours="add-remove").gram_alone == pytest.approx(0.01)
    assert Statistics(100, 1, 1).joint == pytest.approx(0.02)
    assert Statistics(100, 1, 1, neighbours="add-remove").joint == pytest.approx(root)


def test_a_costs_nothing_beside_signed_residuals_when_it_is_small():
    of = Statistics(100, 1, 1, signed=True, gram_scale=math.sqrt(2))
    assert of.joint == pytest.approx(of.cross_alone)


def test_clipping_the_product_instead_would_break_the_bound():
    """‖w‖‖e‖ ≤ 1 alone lets ‖w wᵀ‖ and ‖w eᵀ‖ be at their limits in more ways: the separate clips are what the bound rests on."""
    of = Statistics(1 + 1, 1, 0.5, signed=True, gram_scale=2.0)
    w, e = np.array([1.0, 0.0]), np.array([1.0, 0.0])
    beyond = math.hypot(*(np.linalg.norm(x) for x in (0 * np.outer(w, w), 2 * np.outer(w, e)))) / of.n
    assert beyond > of.joint


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_clipped_columns_are_never_above_the_clip(dtype):
    rng = np.random.default_rng(3)
    F = (rng.random((7, 5000)) * 10 ** rng.uniform(-6, 6, 5000)).astype(dtype)
    F[:, 0] = 0
    clipped = clip_columns(F, 0.37)
    assert clipped.dtype == dtype
    norms = np.linalg.norm(clipped.astype(np.longdouble), axis=0)
    assert norms.max() <= 0.37
    inside = np.linalg.norm(F.astype(np.float64), axis=0) < 0.369
    np.testing.assert_array_equal(clipped[:, inside], F[:, inside])
    assert inside.any()
    assert not inside.all()


def test_the_clip_of_nothing_is_nothing():
    np.testing.assert_array_equal(clip_scales(np.array([0.0, 0.5, 2.0]), 1.0)[:2], [1.0, 1.0])


def test_vectors_keep_the_norm_and_come_back():
    rng = np.random.default_rng(1)
    A, B = rng.standard_normal((4, 4)), rng.standard_normal((4, 6))
    A = A + A.T
    vector = pack(A, B)
    assert vector.shape == (4 * 5 // 2 + 24,)
    assert np.linalg.norm(vector) == pytest.approx(math.hypot(np.linalg.norm(A), np.linalg.norm(B)))
    again = unpack(vector, 4)
    np.testing.assert_allclose(again[0], A, rtol=1e-15)
    np.testing.assert_array_equal(again[1], B)


def test_noise_on_the_vector_is_the_stated_noise_on_the_matrix():
    rng = np.random.default_rng(2)
    drawn = np.array([unpack_gram(rng.standard_normal(6), 3) for _ in range(20_000)])
    assert (drawn == drawn.transpose(0, 2, 1)).all()
    np.testing.assert_allclose(drawn.var(0), np.where(np.eye(3) > 0, 1.0, 0.5), rtol=0.05)


def test_rounding_of_sums_is_within_its_allowance():
    rng = np.random.default_rng(5)
    values = rng.random(10_000)
    exact = math.fsum(values)
    worst = max(abs(float(np.add.reduce(rng.permutation(values))) - exact) for _ in range(20))
    one_by_one = abs(float(np.cumsum(values)[-1]) - exact)
    assert max(worst, one_by_one) <= rounding_allowance(10_000, exact) / 2
    assert rounding_allowance(10_000, 1.0) < 1e-11


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: Statistics(1, 1, 1), "single record"),
        (lambda: Statistics(10, 0.0, 1), "clip of w"),
        (lambda: Statistics(10, math.nan, 1), "clip of w"),
        (lambda: Statistics(10, 1, math.inf), "clip of y"),
        (lambda: Statistics(10, 1, 1, neighbours="swap"), "neighbours"),
        (lambda: clip_scales(np.ones(2), math.nan), "clip"),
        (lambda: sum_sensitivity(-1.0, "replace"), "clip"),
    ],
)  # fmt: skip
def test_unclipped_data_is_refused(call, says):
    with pytest.raises(OptionError, match=says):
        call()


def test_a_whole_party_replaced_moves_a_sum_by_twice_the_clip():
    assert sum_sensitivity(0.5, "replace") == 1.0
    assert sum_sensitivity(0.5, "add-remove") == 0.5
