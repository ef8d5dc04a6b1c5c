"""Alignments: against SciPy, POT and brute force, at their limits, and with components that nothing matches."""

from __future__ import annotations

from itertools import pairwise, permutations

import numpy as np
import pytest

from partwise.consensus import ALIGNMENTS
from partwise.consensus.align import Knn, Lap, LapRho, Sinkhorn, SinkhornRho
from partwise.consensus.plans import aligned, pulled, sq_distances, transport
from partwise.errors import OptionError

EXACT = {"lap": Lap(), "lap-rho": LapRho(), "knn": Knn(), "cold sinkhorn": Sinkhorn(1e-3)}


def components(seed=0, k=6, m=40):
    return np.random.default_rng(seed).gamma(0.4, 1, (k, m))


def noisy_pair(seed=0, k=6, m=40, noise=0.3):
    """(target, source, which component of the source each one of the target is)."""
    rng = np.random.default_rng(seed)
    H, order = components(seed, k, m), rng.permutation(k)
    return H, (H + noise * rng.gamma(0.4, 1, (k, m)))[order], np.argsort(order)


@pytest.mark.parametrize("name", EXACT)
def test_a_permuted_copy_is_found(name):
    H = components()
    order = np.random.default_rng(1).permutation(len(H))
    plan = EXACT[name](H, H[order])
    np.testing.assert_allclose(transport(plan, H[order]), H, atol=1e-9)


@pytest.mark.parametrize("name", ALIGNMENTS)
def test_rows_sum_to_one_or_to_nothing_and_sizes_may_differ(name):
    target, source = components(1, k=5), components(2, k=7)
    plan = ALIGNMENTS[name]()(target, source)
    assert plan.shape == (5, 7)
    assert (plan >= 0).all()
    np.testing.assert_allclose(plan.sum(axis=1), aligned(plan).astype(float), atol=1e-9)


def test_lap_is_the_best_of_all_permutations():
    target, source, _ = noisy_pair(noise=2.0, k=5)
    best = min(np.sum((target - source[list(order)]) ** 2) for order in permutations(range(5)))
    assert np.sum((target - transport(Lap()(target, source), source)) ** 2) == pytest.approx(best, rel=1e-12)


def test_sinkhorn_tends_to_lap_as_the_temperature_falls():
    target, source, _ = noisy_pair(noise=1.0)
    gaps = [np.abs(Sinkhorn(T)(target, source) - Lap()(target, source)).max() for T in (1.0, 0.1, 0.01, 1e-4)]
    assert gaps[0] > 0.3
    assert gaps[-1] < 1e-6
    assert all(colder <= warmer + 1e-9 for warmer, colder in pairwise(gaps))


@pytest.mark.parametrize("temperature", [0.5, 0.2, 0.02])
def test_sinkhorn_as_pot_has_it(temperature):
    ot = pytest.importorskip("ot")
    target, source, _ = noisy_pair(noise=1.0)
    costs = 0.5 * sq_distances(target, source)
    theirs = ot.sinkhorn(
        np.ones(6),
        np.ones(6),
        costs,
        temperature * costs.mean(),
        method="sinkhorn_log",
        stopThr=1e-7,
        numItermax=3000,
        warn=False,
    )
    np.testing.assert_allclose(Sinkhorn(temperature)(target, source), theirs, atol=2e-4)


def test_personalised_alignments_leave_alone_what_nothing_matches():
    target, source, partner = noisy_pair(k=5, m=300, noise=0.1)
    target = np.vstack([target, np.random.default_rng(9).random(300)])  # white: correlates with nothing
    for align in (LapRho(level=1e-3), SinkhornRho(level=1e-3)):
        plan = align(target, source)
        np.testing.assert_array_equal(aligned(plan), [True] * 5 + [False])
        np.testing.assert_array_equal(plan[:5].argmax(axis=1), partner)


def test_fishers_test_is_made_at_its_level():
    """Of pairs of independent normal components, a share of `level` passes: 5 % ± 4.5 standard deviations of 20,000 draws."""
    rng = np.random.default_rng(3)
    passed = [
        np.isfinite(_costs(rng.standard_normal((20, 50)), rng.standard_normal((20, 50)))).mean() for _ in range(50)
    ]
    assert np.mean(passed) == pytest.approx(0.05, abs=4.5 * np.sqrt(0.05 * 0.95 / 20_000))


def _costs(target, source):
    from partwise.consensus.align.personal import personal_costs

    return personal_costs(target, source, 0.05, 0.0)[0]


def test_no_significant_pair_leaves_everything_alone():
    target, source = np.eye(4, 40), np.eye(4, 40)[:, ::-1]
    for align in (LapRho(), SinkhornRho()):
        assert not align(target, source).any()


def test_constant_components_are_unaligned_not_errors():
    target = components()
    target[2] = 3.0
    plan = LapRho()(target, target)
    np.testing.assert_array_equal(aligned(plan), np.arange(6) != 2)


def test_knn_shares_a_neighbour_and_averages_several():
    source = np.array([[0.0, 0.0], [10.0, 10.0], [11.0, 11.0]])
    target = np.array([[9.0, 9.0], [12.0, 12.0]])
    np.testing.assert_array_equal(Knn()(target, source), [[0, 1, 0], [0, 0, 1]])
    np.testing.assert_array_equal(Knn(2)(target, source), [[0, 0.5, 0.5], [0, 0.5, 0.5]])


def test_pulled_components_without_a_partner_keep_their_value():
    own, shared = components(4), components(5)
    plan = np.eye(6)
    plan[1] = 0
    moved = pulled(own, plan, shared, 3.0)
    np.testing.assert_array_equal(moved[1], own[1])
    np.testing.assert_allclose(moved[0], (3 * shared[0] + own[0]) / 4)
    np.testing.assert_array_equal(pulled(own, np.eye(6), shared, np.inf), shared)
    np.testing.assert_array_equal(pulled(own, np.eye(6), shared, 0.0), own)


def test_all_zero_components_do_not_break_anything():
    H = np.zeros((3, 20))
    for align in (Lap(), Sinkhorn(), Knn(), LapRho(), SinkhornRho()):
        assert np.isfinite(align(H, H)).all()


@pytest.mark.parametrize(
    "wish", [lambda: Sinkhorn(0), lambda: Knn(0), lambda: LapRho(level=1.0), lambda: LapRho(floor=2), lambda: Knn(True)]
)
def test_wrong_options_are_refused(wish):
    with pytest.raises(OptionError, match="expected"):
        wish()


def test_fishers_test_needs_four_features():
    with pytest.raises(OptionError, match="4 at least"):
        LapRho()(np.ones((2, 3)), np.ones((2, 3)))
