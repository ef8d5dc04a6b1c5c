"""Attacks on whole private runs with the best score there is: right ones stand, and each broken variant is caught.

Trials are real runs on two neighbours that differ as much as records can, of a method that claims μ = 1 (ε = 4.38 at δ = 1e-5). The
attacker sees all that is published and knows both data sets; the score is the likelihood ratio of all releases together. A bound above
the claim convicts. False alarms: a sound run is convicted with probability 1e-4 at most, by construction; seeds are fixed. Power, at the
number of trials each is given: above 0.98 for each variant (`test_power_is_as_stated`). The broken variants live here and nowhere else.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

from partwise.algorithms.private.methods import method
from partwise.algorithms.private.query import Knowledge
from partwise.data import as_matrix
from partwise.drivers import releases
from partwise.drivers.releases import run_releases
from partwise.errors import OptionError
from partwise.privacy.audit import mu_lower_bound, power, upper_bound
from partwise.privacy.ledger import Ledger
from partwise.privacy.mechanisms import LatticeGaussian
from partwise.privacy.noise import noise_source
from partwise.privacy.sharing import NoiseShares
from partwise.privacy.terms import Terms
from partwise.randomness import Purpose, generator

MU, N = 1.0, 12
ABSENT, PRESENT = np.array(
    [[1.0, 0.0], [0.0, 1.0]]
)  # of length one and orthogonal, as are their w for any H of two components
PLAIN = {"start_share": 0, "w_clip": 0.1}


@dataclass
class Overheard:
    """A private method, and the attacker, who adds up what each answer says for one of the two data sets."""

    inner: Any
    neighbours: tuple[Any, Any]
    answers: dict[Any, Any]  # which trials share as long as nothing has been released
    score: float = 0.0

    def __getattr__(self, name):
        return getattr(self.inner, name)

    def query(self, public, t):
        query = self.inner.query(public, t)
        return query._replace(answer=lambda X: self._answer(query, public, t, X))

    def _answer(self, query, public, t, X):
        if t > 1:
            return query.answer(X)
        if id(X) not in self.answers:
            self.answers[id(X)] = query.answer(X)
        return self.answers[id(X)]

    def learn(self, public, noisy, scale, t):
        answer = self.query(public, t).answer
        absent, present = (np.sum((noisy - answer(X)) ** 2) for X in self.neighbours)
        self.score += (absent - present) / (2 * scale**2)
        return self.inner.learn(public, noisy, scale, t)


def data(row):
    """(12, 2): one record, among eleven that everybody knows."""
    rest = np.array([[1.0, 0.2], [0.1, 1.0]] * N)[: N - 1]
    return as_matrix(np.vstack([row, rest]))


def scores(name, trials, **options):
    """(absent, present): the score of each trial."""
    known, pair = Knowledge(N, 2, 2, MU * (1 - 1e-9), seed=1), (data(ABSENT), data(PRESENT))
    answers, out = {}, []
    for side, X in enumerate(pair):
        for trial in range(trials):
            overheard = Overheard(method(name, known, options), pair, answers)
            run_releases(overheard, X, Ledger(Terms(1e-5, N, insecure_seed=2 * trial + side)))
            out.append(overheard.score)
    return np.array(out[:trials]), np.array(out[trials:])


def test_what_is_shipped_stands_and_the_attack_is_as_good_as_can_be():
    """Of Gaussian noise the mean score is ∓μ²/2: known here to 0.12 and to 0.05."""
    adaptive, single = (scores("plain", trials, rounds=rounds, **PLAIN) for trials, rounds in ((150, 3), (1000, 1)))
    for (absent, present), error in ((adaptive, 0.45), (single, 0.2)):
        assert present.mean() - absent.mean() == pytest.approx(MU**2, abs=error)
        assert mu_lower_bound(absent, present) <= MU
    assert mu_lower_bound(*single) > 0.4
    assert mu_lower_bound(*scores("moments", 150)) <= MU


def half_the_sensitivity(patch):
    right = LatticeGaussian.of_strength
    patch.setattr(LatticeGaussian, "of_strength", lambda mu, sensitivity, entries: right(mu, sensitivity / 2, entries))


def noise_of_B_missing(patch):
    right, gram = LatticeGaussian.noise, 3  # entries of A, before those of B
    patch.setattr(LatticeGaussian, "noise", lambda self, rng: right(self, rng) * (np.arange(self.entries) < gram))


def composition_forgotten(patch):
    """Every round spends the whole budget."""
    right = releases.released
    patch.setattr(releases, "released", lambda query, mu, *more: right(query, mu / query.share**0.5, *more))


def no_noise(patch):
    patch.setattr(LatticeGaussian, "noise", lambda self, rng: np.zeros(self.entries, np.int64))


BROKEN = [  # (what, its true μ as this attack sees it, trials of each kind, rounds)
    (half_the_sensitivity, 2.0, 500, 1),
    (noise_of_B_missing, 2.0, 500, 1),  # a quarter of μ² is A's, whose noise is all that there is
    (composition_forgotten, 10**0.5, 150, 10),
    (no_noise, np.inf, 60, 1),
]


@pytest.mark.parametrize(("broken", "mu", "trials", "rounds"), BROKEN)
def test_broken_variants_are_caught(broken, mu, trials, rounds, monkeypatch):
    broken(monkeypatch)
    bound = mu_lower_bound(*scores("plain", trials, rounds=rounds, **PLAIN))
    assert MU < bound <= mu


@pytest.mark.parametrize(("broken", "mu", "trials", "rounds"), BROKEN)
def test_power_is_as_stated(broken, mu, trials, rounds):
    assert power(min(mu, 50), MU, trials) > 0.98
    assert power(MU, MU, trials) < 1e-4


def attacked(shares, honest):
    """Bounds on μ of a sum of parties, of whom the attacker knows all but the honest ones; 4,000 releases at once."""
    mechanism = LatticeGaussian.of_strength(MU, 1.0, 4000)
    absent, present = np.zeros(4000), np.ones(4000)
    said = [sum(shares.said(value * (p == 0), mechanism, noise_source(side, 1, p)) for p in range(honest)) * mechanism.step
            for side, value in enumerate((absent, present))]  # fmt: skip
    return mu_lower_bound(*said)


def test_shares_of_noise_stand_against_those_who_vanish_and_collude_and_too_small_ones_are_caught():
    assert 0.8 < attacked(NoiseShares(8, True, dropouts=2, colluders=3), honest=3) <= MU
    assert attacked(NoiseShares(8, True, dropouts=0, colluders=0), honest=3) > MU  # σ²/P each: nobody was reckoned with
    assert power((8 / 3) ** 0.5, MU, 4000) > 0.98


def test_upper_bounds_hold_as_often_as_they_say():
    """Clopper & Pearson, exactly: over all outcomes of 40 trials, for many true shares."""
    for share in np.linspace(0.01, 0.99, 25):
        chance = [binom.pmf(seen, 40, share) for seen in range(41) if upper_bound(seen, 40, 0.05) < share]
        assert sum(chance) <= 0.05


def test_bounds_on_exact_gaussians_are_below_the_truth_and_near_it():
    rng = generator(0, Purpose.AUDIT)
    for mu in (0.5, 1.0, 3.0):
        bounds = [mu_lower_bound(rng.standard_normal(4000), mu + rng.standard_normal(4000)) for _ in range(20)]
        assert max(bounds) <= mu
        assert np.mean(bounds) > 0.9 * mu - 0.3


def test_bounds_do_not_trust_their_scores():
    """Equal, constant or worthless scores prove nothing; too few trials are refused."""
    same = generator(1, Purpose.AUDIT).standard_normal(1000)
    assert mu_lower_bound(same, same) < 0.2
    assert mu_lower_bound(np.zeros(100), np.zeros(100)) == 0.0
    assert mu_lower_bound(same + 1, same) == 0.0
    with pytest.raises(OptionError, match="expected 4 of each"):
        mu_lower_bound(np.zeros(3), np.zeros(3))
