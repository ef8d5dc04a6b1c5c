"""Barycenters: the laws that all keep, what each one promises, and what they refuse."""

from __future__ import annotations

import numpy as np
import pytest

from partwise.consensus import ALIGNMENTS, BARYCENTERS
from partwise.consensus.align import Knn, Lap, LapRho
from partwise.consensus.barycenters import Cmeans, FixedPoint, Greedy, Kmeans, Mean, Tree
from partwise.consensus.barycenters.folded import WIDTH, folded
from partwise.consensus.barycenters.merged import mean_of
from partwise.errors import DataError, OptionError

EXACT = {"fixed-point": FixedPoint, "greedy": Greedy, "tree": Tree}  # of which a zero objective can be asked


def components(seed=0, k=6, m=40):
    return np.random.default_rng(seed).gamma(0.4, 1, (k, m))


def permuted(H, parties=7, seed=1, noise=0.0):
    rng = np.random.default_rng(seed)
    return [(H + noise * rng.gamma(0.4, 1, H.shape))[rng.permutation(len(H))] for _ in range(parties)]


def same_components(H, other):
    return np.allclose(np.sort(H, axis=0).sum(), np.sort(other, axis=0).sum()) and all(
        np.abs(H - row).sum(axis=1).min() < 1e-9 for row in other
    )


@pytest.mark.parametrize("name", EXACT)
@pytest.mark.parametrize("align", [Lap(), LapRho(), Knn()], ids=["lap", "lap-rho", "knn"])
@pytest.mark.parametrize("seed", range(3))
def test_permuted_copies_have_a_barycenter_of_zero_objective(name, align, seed):
    H = components(seed)
    merged = EXACT[name](align)(permuted(H, seed=seed))
    assert merged.objective < 1e-20 * np.sum(H**2)
    assert same_components(merged.H, H)


def test_the_plain_mean_does_not():
    assert Mean()(permuted(components())).objective > 0.1 * np.sum(components() ** 2)


@pytest.mark.parametrize("name", [name for name in BARYCENTERS if name not in ("kmeans", "cmeans")])
def test_identical_parties_do_not_drift(name):
    H = components()
    merged = BARYCENTERS[name]()([H] * 5, first=H)
    np.testing.assert_allclose(merged.H, H, rtol=1e-12)


@pytest.mark.parametrize("name", BARYCENTERS)
def test_one_party_is_its_own_barycenter(name):
    H = components()
    np.testing.assert_allclose(BARYCENTERS[name]()([H], first=H).H, H, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", BARYCENTERS)
@pytest.mark.parametrize("align", ALIGNMENTS)
def test_nonnegative_finite_repeatable_and_in_the_order_of_the_h_before(name, align):
    if name == "mean":
        pytest.skip("the mean aligns nothing")
    H = components(k=4, m=30)
    barycenter = BARYCENTERS[name](align=ALIGNMENTS[align]())
    parts = permuted(H, 5, noise=0.1)
    merged, again = barycenter(parts, first=H), barycenter(parts, first=H)
    np.testing.assert_array_equal(merged.H, again.H)
    assert np.isfinite(merged.H).all()
    assert (merged.H >= 0).all()
    assert len(merged.plans) == 5
    np.testing.assert_array_equal(Lap()(H, merged.H), np.eye(4))


@pytest.mark.parametrize("name", ["fixed-point", "greedy", "tree", "mean", "kmeans", "cmeans"])
def test_a_weight_of_zero_is_as_good_as_absence(name):
    parts = permuted(components(), 4, noise=0.2)
    stranger = components(77) * 50
    with_it = BARYCENTERS[name]()([*parts, stranger], [1, 2, 3, 4, 0], first=parts[0])
    without = BARYCENTERS[name]()(parts, [1, 2, 3, 4], first=parts[0])
    np.testing.assert_allclose(with_it.H, without.H, rtol=1e-6)


def test_weights_pull():
    H = components()
    merged = FixedPoint()([H, 2 * H[::-1]], [3, 1])
    order = Lap()(H, merged.H).argmax(axis=1)
    np.testing.assert_allclose(merged.H[order], 1.25 * H)


def test_several_starts_are_not_worse_than_the_papers_one():
    for seed in range(4):
        parts = permuted(components(seed, k=12), 9, seed, noise=1.5)
        assert FixedPoint(starts=3)(parts).objective <= FixedPoint(starts=0)(parts).objective * (1 + 1e-12)
    better = [FixedPoint(starts=3)(parts).objective < FixedPoint(starts=0)(parts).objective * 0.999 for parts in
              (permuted(components(seed, k=12), 9, seed, noise=1.5) for seed in range(4))]  # fmt: skip
    assert any(better)


def test_a_component_that_few_parties_have_is_the_mean_of_those_few():
    """What nothing correlates with is left out of the mean, and no other component suffers."""
    H = components(m=300)
    lone = H.copy()
    lone[3] = np.random.default_rng(5).random(300)
    parts = [H, H * 2, lone]
    plans = [LapRho(level=1e-4)(H, part) for part in parts]
    merged = mean_of(plans, parts, np.full(3, 1 / 3), H)
    np.testing.assert_allclose(merged[3], 1.5 * H[3])
    np.testing.assert_allclose(merged[0], 4 / 3 * H[0])
    np.testing.assert_array_equal(mean_of([0 * plan for plan in plans], parts, np.full(3, 1 / 3), H), H)


def test_kmeans_finds_clusters_that_lie_apart_and_cmeans_comes_near():
    H = np.kron(np.eye(3), np.full((1, 8), 5.0))
    parts = permuted(H, 6, noise=0.05)
    best = FixedPoint()(parts, first=H).H
    np.testing.assert_allclose(Kmeans()(parts, first=H).H, best)
    np.testing.assert_allclose(Cmeans()(parts, first=H).H, best, atol=0.05)


def test_folded_columns_keep_distances_and_choose_the_same_barycenter():
    H = components(m=6 * WIDTH + 17)
    parts = permuted(H, 6, noise=0.3)
    small, first = folded(parts, H, 0)
    assert small[0].shape == (6, WIDTH)
    exact = np.linalg.norm(parts[0][0] - parts[1][1])
    assert np.linalg.norm(small[0][0] - small[1][1]) == pytest.approx(exact, rel=4.5 / np.sqrt(WIDTH))
    assert first is not None
    best = min(FixedPoint(starts=6)._fixed_point([Lap()(part, other) for other in parts], parts, np.full(6, 1 / 6)).objective
               for part in parts)  # fmt: skip
    assert FixedPoint()(parts).objective == pytest.approx(best, rel=1e-9)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", BARYCENTERS)
def test_precision_is_kept_and_nothing_is_written_to(name, dtype):
    parts = [part.astype(dtype) for part in permuted(components(), 3, noise=0.1)]
    copies = [part.copy() for part in parts]
    for part in parts:
        part.setflags(write=False)
    assert BARYCENTERS[name]()(parts).H.dtype == dtype
    np.testing.assert_array_equal(parts, copies)


@pytest.mark.parametrize(
    ("parts", "weights", "match"),
    [
        ([], None, "no components"),
        ([np.ones((2, 5)), np.ones((2, 4))], None, "party 1 have shape \\(2, 4\\); expected \\(2, 5\\)"),
        ([np.ones(5)], None, "party 0 have shape \\(5,\\)"),
        ([np.ones((2, 5)), np.full((2, 5), np.nan)], None, "party 1 hold NaN"),
        ([np.ones((2, 5))] * 2, [1.0], "do not fit 2 parties"),
        ([np.ones((2, 5))] * 2, [0, 0], "not all zero"),
        ([np.ones((2, 5))] * 2, [1, -1], "≥ 0"),
    ],
)
@pytest.mark.parametrize("name", BARYCENTERS)
def test_what_cannot_be_merged_is_refused(name, parts, weights, match):
    with pytest.raises((DataError, OptionError), match=match):
        BARYCENTERS[name]()(parts, weights)
