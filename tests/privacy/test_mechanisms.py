"""Mechanisms: stated noise, stated events, outputs that are possible for every value, hostile values refused."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from partwise.errors import OptionError, PartwiseError, RunError
from partwise.privacy.certified import SEEDLESS, OpenDPGaussian, library
from partwise.privacy.events import Discrete, Gaussian, Laplace
from partwise.privacy.mechanisms import AnalyticGaussian, LatticeGaussian, LatticeLaplace
from partwise.privacy.noise import SystemNoise, noise_source

D = 5000
KINDS = [LatticeGaussian, LatticeLaplace, AnalyticGaussian, OpenDPGaussian]
SEEDED = lambda: noise_source(insecure_seed=11)  # noqa: E731


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("rng", [SystemNoise, SEEDED], ids=["system", "seeded"])
def test_noise_has_the_stated_distribution(kind, rng):
    """Kolmogorov-Smirnov; false alarms: 1 in 10⁶ for the system's noise, none for the seeded."""
    mechanism = kind.of_strength(0.5, 1.0, D)
    value = np.linspace(-3, 3, D)
    if kind is OpenDPGaussian and rng is SEEDED:
        with pytest.raises(OptionError, match=SEEDLESS[:30]):
            mechanism.release(value, rng())
        return
    noisy, event = mechanism.release(value, rng())
    assert event == mechanism.event
    law = stats.laplace if isinstance(event, Laplace) else stats.norm
    assert stats.kstest((noisy - value) / mechanism.scale, law.cdf).pvalue > 1e-6
    assert abs(np.corrcoef(noisy[:-1] - value[:-1], noisy[1:] - value[1:])[0, 1]) < 0.08


@pytest.mark.parametrize("kind", KINDS)
def test_strength_is_what_was_asked(kind):
    mechanism = kind.of_strength(0.25, 3.0, D)
    assert mechanism.event.noise_multiplier == pytest.approx(4.0)
    assert 3.0 <= mechanism.sensitivity <= 3.0 * 1.001
    assert mechanism.scale == pytest.approx(mechanism.sensitivity * 4)


def test_snapping_never_moves_neighbours_apart_by_more_than_is_counted():
    rng = np.random.default_rng(0)
    mechanism = LatticeGaussian.of_strength(1.0, 1.0, 40, step=2.0**-3)
    worst = 0.0
    for _ in range(2000):
        u, direction = rng.uniform(-1, 1, 40), rng.standard_normal(40)
        v = u + direction / np.linalg.norm(direction) * mechanism.l2_sensitivity
        worst = max(worst, float(np.linalg.norm(mechanism.snap(u) - mechanism.snap(v)) * mechanism.step))
    assert mechanism.l2_sensitivity < worst <= mechanism.sensitivity
    near, over = np.full(40, 0.4999), np.full(40, 0.5001)  # all entries round apart at once
    apart = np.linalg.norm(mechanism.snap(near * mechanism.step) - mechanism.snap(over * mechanism.step))
    assert apart == pytest.approx(math.sqrt(40))


def test_what_snapping_costs_is_part_of_the_noise():
    coarse = LatticeGaussian.of_strength(1.0, 1.0, 400, step=2.0**-4)
    assert coarse.sensitivity == 1.0 + 20 / 16
    assert coarse.scale == coarse.sensitivity


@pytest.mark.parametrize("kind", [LatticeGaussian, LatticeLaplace, OpenDPGaussian])
def test_lattice_outputs_are_possible_for_the_neighbour_and_naive_ones_are_not(kind):
    """Every output lies on one lattice, whatever the value; of floats a large part could have come from one value only."""
    mechanism = kind.of_strength(1.0, 1.0, D)
    for value in (np.zeros(D), np.full(D, 1 / 3), np.full(D, 1e6 + 0.1)):
        steps = mechanism.release(value, SystemNoise())[0] / mechanism.facts["step"]
        np.testing.assert_array_equal(steps, np.rint(steps))
    naive = AnalyticGaussian(1.0, 1.0, 200_000)
    zero, one = (naive.release(np.full(200_000, v), SEEDED())[0] for v in (0.0, 1.0))
    finer = [np.mean(y * 2.0**53 != np.rint(y * 2.0**53)) for y in (zero, one)]
    assert finer[0] > 0.2  # a fifth of what 0 gives is off the lattice 2⁻⁵³ …
    assert finer[1] == 0.0  # … that all of what 1 gives lies on: it betrays 0 with certainty


def test_shares_of_noise_add_up_to_the_whole():
    """A sum of rounded Gaussians is a rounded Gaussian plus rounding noise: docs/privacy/derivations.md."""
    mechanism = LatticeGaussian(1.0, 2.0, 60_000, 2.0**-6)
    rng = SEEDED()
    total = sum(mechanism.noise(rng, share=1 / 5) for _ in range(5))
    assert total.dtype == np.int64
    assert np.std(total) * mechanism.step == pytest.approx(2.0, rel=0.02)
    assert stats.kstest(total * mechanism.step / 2.0, stats.norm.cdf).pvalue > 1e-6


def test_a_sum_of_rounded_gaussians_is_one_rounded_gaussian_smoothed():
    """The identity behind it, exactly: the probabilities of Σ round(Nᵢ) and of round(N + Σ Uᵢ), U uniform, are within e^(−2π²σ²)."""
    sigma, parties = 1.0, 3
    z = np.arange(-60, 61)
    one = stats.norm.cdf(z + 0.5, scale=sigma) - stats.norm.cdf(z - 0.5, scale=sigma)
    summed = np.convolve(np.convolve(one, one, "same"), one, "same")
    fine = np.linspace(-12, 12, 24 * 400 + 1)
    width = fine[1] - fine[0]
    density = stats.norm.pdf(fine, scale=sigma * math.sqrt(parties))
    for _ in range(parties):  # smoothed by a uniform each; the last one is the rounding itself
        total = np.concatenate([[0.0], np.cumsum((density[1:] + density[:-1]) / 2 * width)])
        density = np.interp(fine + 0.5, fine, total) - np.interp(fine - 0.5, fine, total)
    smooth = np.interp(z[abs(z) <= 11], fine, density)
    assert np.abs(summed[abs(z) <= 11] - smooth).max() < 1e-5
    assert math.exp(-2 * math.pi**2 * 16) < 1e-130  # at the four steps that a share has at least


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "value", [np.full(4, np.nan), np.array([0, 0, np.inf, 0]), np.zeros(3), np.zeros((2, 2)), np.full(4, 1e300)],
    ids=["nan", "inf", "short", "matrix", "huge"],
)  # fmt: skip
def test_values_that_do_not_fit_are_refused(kind, value):
    mechanism = kind.of_strength(1.0, 1.0, 4)
    if kind is AnalyticGaussian and value.shape == (4,) and np.isfinite(value).all():
        return  # floats have no range to leave
    with pytest.raises(PartwiseError):
        mechanism.release(value, SystemNoise())


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("sensitivity", [0.0, -1.0, math.nan, math.inf])
def test_unknown_sensitivities_are_refused(kind, sensitivity):
    with pytest.raises(OptionError, match="sensitivity"):
        kind.of_strength(1.0, sensitivity, 4)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("strength", [0.0, -1.0, math.nan, math.inf])
def test_a_strength_of_nothing_or_of_everything_is_refused(kind, strength):
    with pytest.raises(OptionError, match="noise has scale"):
        kind.of_strength(strength, 1.0, 4)


@pytest.mark.parametrize("step", [0.0, 0.3, -0.5, math.nan, math.inf, 8.0, 2.0**-80])
def test_lattices_that_round_or_do_not_fit_are_refused(step):
    with pytest.raises(OptionError, match="lattice"):
        LatticeGaussian(1.0, 2.0, 4, step)


def test_secure_noise_never_repeats_and_seeded_noise_always_does():
    mechanism = LatticeGaussian.of_strength(1.0, 1.0, 8)
    value = np.zeros(8)
    secure = [mechanism.release(value, noise_source())[0] for _ in range(2)]
    seeded = [mechanism.release(value, noise_source(5, t=3, block=2))[0] for _ in range(2)]
    other = mechanism.release(value, noise_source(5, t=4, block=2))[0]
    assert (secure[0] != secure[1]).all()
    np.testing.assert_array_equal(*seeded)
    assert (seeded[0] != other).all()


def test_system_noise_reaches_its_tails_evenly():
    drawn = SystemNoise().standard_normal((1000, 1000)).ravel()
    beyond = np.sum(np.abs(drawn) > 4)  # 63 ± 8 expected
    assert 15 < beyond < 130
    assert abs(np.mean(drawn > 0) - 0.5) < 0.004
    assert SystemNoise().standard_exponential(1000).min() > 0


def test_events_of_the_lattice_count_the_snapped_sensitivity():
    mechanism = LatticeGaussian(1.0, 4.0, 16, 2.0**-2)
    assert mechanism.event == Gaussian(4.0 / 2.0)
    assert OpenDPGaussian(mechanism).event == Discrete(4.0 / 2.0)
    assert LatticeLaplace(1.0, 4.0, 4, 2.0**-2).event == Laplace(4.0 / 2.0)


def test_noise_that_opendp_counts_for_more_than_was_to_be_spent_is_not_released(monkeypatch):
    """It is asked what its noise is worth; here it answers as for half of the noise."""
    mechanism = OpenDPGaussian.of_strength(1.0, 1.0, 4)
    dp = library()
    make = dp.m.make_gaussian
    monkeypatch.setattr(dp.m, "make_gaussian", lambda *domain, scale: make(*domain, scale=scale / 2))
    with pytest.raises(RunError, match="nothing was released"):
        mechanism.release(np.zeros(4), SystemNoise())
