"""The exact curve of Gaussian noise, composition, calibration; dp-accounting as the independent oracle."""

from __future__ import annotations

import math
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate
from scipy.stats import norm

from partwise.errors import MissingExtraError, OptionError
from partwise.privacy import oracle
from partwise.privacy.accountant import Accountant, Budget
from partwise.privacy.certified import concentrated_mu
from partwise.privacy.events import Discrete, Gaussian, Laplace, Sampled, from_json, to_json
from partwise.privacy.gaussian import delta_of, epsilon_of, mu_of

MUS = [0.03, 0.3, 1.0, 3.0, 12.0]
DELTAS = [1e-9, 1e-5, 1e-2]


@pytest.mark.parametrize("mu", MUS)
@pytest.mark.parametrize("delta", DELTAS)
def test_epsilon_agrees_with_privacy_loss_distributions(mu, delta):
    ours, theirs = epsilon_of(delta, mu), oracle.epsilon([(Gaussian(1 / mu), 1)], delta)
    assert ours <= theirs * (1 + 1e-9)  # theirs is rounded up, on a grid
    assert theirs == pytest.approx(ours, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize(("epsilon", "mu"), [(0.0, 0.5), (0.7, 0.5), (1.0, 1.0), (3.0, 0.9), (0.2, 2.0), (9.0, 3.0)])
def test_delta_is_the_hockey_stick_divergence_of_two_gaussians(epsilon, mu):
    def excess(x):
        return max(norm.pdf(x, mu) - math.exp(epsilon) * norm.pdf(x), 0.0)

    crossing = epsilon / mu + mu / 2
    whole, _ = integrate.quad(excess, crossing, crossing + 40, limit=400, epsabs=1e-15)
    assert delta_of(epsilon, mu) == pytest.approx(whole, rel=1e-8)


def test_the_curve_is_stable_in_its_tails():
    assert delta_of(700.0, 1.0) == 0.0
    assert 0 < delta_of(30.0, 1.0) < 1e-190
    assert epsilon_of(1e-300, 1.0) == pytest.approx(0.5 + math.sqrt(2 * 300 * math.log(10)), rel=0.02)
    assert delta_of(1.0, 1e-9) == 0.0
    assert delta_of(0.0, 1e-9) == pytest.approx(1e-9 / math.sqrt(2 * math.pi), rel=1e-6)
    assert delta_of(0.0, 1e5) == 1.0
    assert epsilon_of(1e-5, 1e4) == pytest.approx(1e8 / 2 + 1e4 * 4.2649, rel=1e-6)


@settings(max_examples=60, deadline=None)
@given(st.floats(1e-3, 50), st.floats(-25, -1))
def test_calibration_inverts_the_curve_and_errs_to_the_safe_side(epsilon, exponent):
    delta = 10**exponent
    mu = mu_of(epsilon, delta)
    assert delta_of(epsilon, mu) <= delta
    assert delta_of(epsilon, mu * (1 + 1e-9)) > delta
    again = epsilon_of(delta, mu)
    assert again == pytest.approx(epsilon, rel=1e-9)
    assert delta_of(again, mu) <= delta


def test_gaussian_releases_add_their_squares():
    accountant = Accountant()
    for multiplier in (2.0, 5.0, 5.0, 11.0):
        accountant = accountant.after(Gaussian(multiplier))
    events = [(Gaussian(2.0), 1), (Gaussian(5.0), 2), (Gaussian(11.0), 1)]
    assert accountant.mu_squared == pytest.approx(1 / 4 + 2 / 25 + 1 / 121)
    assert accountant.epsilon(1e-6) == pytest.approx(oracle.epsilon(events, 1e-6), rel=1e-5)
    assert accountant.delta(1.0) == pytest.approx(oracle.delta(events, 1.0), rel=1e-4)


def test_the_papers_formula_is_valid_and_loose():
    """ρ + 2√(ρ ln 1/δ), ρ = μ²/2."""
    for mu in MUS:
        rho = mu * mu / 2
        paper = rho + 2 * math.sqrt(rho * math.log(1e5))
        assert 1.0 < paper / epsilon_of(1e-5, mu) < 1.9


def test_laplace_alone_is_purely_private():
    accountant = Accountant().after(Laplace(2.0))
    assert accountant.epsilon(1e-12) == pytest.approx(0.5, rel=1e-3)


def test_mixed_noise_costs_less_than_the_sum():
    both = Accountant().after(Gaussian(2.0)).after(Laplace(2.0))
    assert epsilon_of(1e-5, 0.5) < both.epsilon(1e-5) <= epsilon_of(1e-5, 0.5) + 0.5


def test_sampling_amplifies_and_rdp_is_above_pld():
    sampled = Accountant("add-remove").after(Sampled(0.01, Gaussian(1.0)), 100)
    assert sampled.epsilon(1e-5) < Accountant("add-remove").after(Gaussian(1.0), 100).epsilon(1e-5) / 10
    assert oracle.epsilon_by_rdp(sampled.events(), 1e-5) > sampled.epsilon(1e-5)


def test_discrete_noise_is_counted_as_zcdp_which_the_published_conversion_bounds():
    """ρ + 2√(ρ ln 1/δ) from above, the Gaussian curve from below; and ρ adds up."""
    spent = Accountant().after(Discrete(3.0)).after(Discrete(4.0))
    rho = 1 / 18 + 1 / 32
    paper = rho + 2 * math.sqrt(rho * math.log(1e5))
    assert epsilon_of(1e-5, math.sqrt(2 * rho)) < spent.epsilon(1e-5) < paper
    whole = Accountant().after(Discrete(1 / math.sqrt(2 * rho)))
    assert spent.epsilon(1e-5) == pytest.approx(whole.epsilon(1e-5), rel=1e-9)
    budget = Budget(1.0, 1e-5)
    mu = concentrated_mu(budget)
    assert 0.8 * budget.mu < mu < budget.mu
    assert budget.allows(Accountant().after(Discrete(1 / mu)).epsilon(1e-5))


def test_sampling_with_replaced_neighbours_is_refused():
    with pytest.raises(OptionError, match="add-remove"):
        Accountant("replace").after(Sampled(0.01, Gaussian(1.0)))


@pytest.mark.parametrize("event", [None, 3.0, "gaussian", object()])
def test_what_cannot_be_counted_is_refused(event):
    with pytest.raises(OptionError, match="no event that the accountant knows"):
        Accountant().after(event)


@pytest.mark.parametrize("multiplier", [0.0, -1.0, math.nan, math.inf])
def test_events_have_finite_positive_noise(multiplier):
    with pytest.raises(OptionError, match="positive number"):
        Gaussian(multiplier)


@pytest.mark.parametrize("event", [Gaussian(1.25), Discrete(1.25), Laplace(3.0), Sampled(0.125, Gaussian(0.7))])
def test_events_survive_json(event):
    assert from_json(to_json(event)) == event


@pytest.mark.parametrize(
    "said", [{}, {"noise": "cauchy", "noise_multiplier": 1.0}, {"noise": "gaussian", "noise_multiplier": "1"},
             {"noise": "gaussian", "noise_multiplier": 1.0, "amplified": 3}]
)  # fmt: skip
def test_unknown_events_of_a_file_are_refused(said):
    with pytest.raises(ValueError, match="version"):
        from_json(said)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.floats(0.01, 10), min_size=1, max_size=30))
def test_shares_spend_the_budget_and_no_more(shares):
    budget = Budget(1.0, 1e-5)
    accountant = Accountant()
    for mu in budget.split(shares):
        accountant = accountant.after(Gaussian(1 / mu))
    spent = accountant.epsilon(1e-5)
    assert budget.allows(spent)
    assert spent == pytest.approx(1.0, rel=1e-9)


def test_the_start_takes_its_share():
    start, each = Budget(1.0, 1e-5).rounds(20, 0.1)
    assert start**2 + 20 * each**2 == pytest.approx(mu_of(1.0, 1e-5) ** 2)
    assert start**2 == pytest.approx(0.1 * mu_of(1.0, 1e-5) ** 2)
    assert Budget(1.0, 1e-5).rounds(3)[0] == 0.0


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: Budget(0.0, 1e-5), "epsilon"),
        (lambda: Budget(-1.0, 1e-5), "epsilon"),
        (lambda: Budget(math.nan, 1e-5), "epsilon"),
        (lambda: Budget(math.inf, 1e-5), "epsilon"),
        (lambda: Budget(1.0, 0.0), "delta"),
        (lambda: Budget(1.0, 1.0), "delta"),
        (lambda: Budget(1.0, math.nan), "delta"),
        (lambda: Budget(1.0, 1e-5).rounds(0), "rounds"),
        (lambda: Budget(1.0, 1e-5).rounds(5, 1.0), "share"),
        (lambda: Budget(1.0, 1e-5).split([]), "rounds"),
        (lambda: Budget(1.0, 1e-5).split([1.0, math.nan]), "Shares"),
        (lambda: Accountant("swap"), "neighbours"),
    ],
)  # fmt: skip
def test_what_makes_no_promise_is_refused(call, says):
    with pytest.raises(OptionError, match=says):
        call()


def test_without_the_extra_gaussian_noise_is_still_counted(monkeypatch):
    monkeypatch.setattr(oracle, "find_spec", lambda _: None)
    assert Accountant().after(Gaussian(3.0)).epsilon(1e-5) > 0
    with pytest.raises(MissingExtraError, match=r"partwise\[dp\]"):
        Accountant().after(Laplace(3.0)).epsilon(1e-5)


def test_importing_the_accountant_does_not_load_the_oracle():
    code = "import sys, partwise.privacy.ledger; assert 'dp_accounting' not in sys.modules"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_mu_of_a_release_is_what_its_likelihood_ratio_says():
    """By simulation: the log-likelihood ratio of two neighbours has mean ±μ²/2 and variance μ²."""
    rng = np.random.default_rng(0)
    sensitivity, sigma = 0.3, 0.6
    x = sigma * rng.standard_normal(200_000)
    ratio = ((x - sensitivity) ** 2 - x**2) / (2 * sigma**2)
    mu = sensitivity / sigma
    assert ratio.var() == pytest.approx(mu**2, rel=0.02)
    assert ratio.mean() == pytest.approx(mu**2 / 2, rel=0.05)
