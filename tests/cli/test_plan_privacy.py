"""`partwise plan --epsilon`: a budget over the rounds, from public numbers alone."""

from __future__ import annotations

import json

import pytest

from partwise.privacy.gaussian import epsilon_of, mu_of

GOOD = ["--epsilon", 1, "--delta", "1e-5", "--records", 2429]


def test_the_page_ends_at_the_budget(call):
    result = call("plan", *GOOD)
    assert result.exit_code == 0
    assert "ε = 1 at δ = 1e-05 in 20 rounds" in result.stdout
    assert result.stdout.rstrip().splitlines()[-1].split()[:5] == ["round", "20", "ε", "=", "1"]
    assert "after start" in result.stdout


def test_figures_for_machines(call):
    found = json.loads(call("plan", *GOOD, "--rounds", 8, "--start-share", 0.2, "--json").stdout)
    mu = mu_of(1.0, 1e-5)
    assert [line["round"] for line in found["rounds"]] == list(range(9))
    for line in found["rounds"]:
        spent = mu * (0.2 + 0.1 * line["round"]) ** 0.5
        assert line["epsilon"] == pytest.approx(epsilon_of(1e-5, spent), rel=1e-9)
    assert found["noise_multiplier"] == pytest.approx(1 / (mu * 0.1**0.5))
    assert found["start_noise_multiplier"] == pytest.approx(1 / (mu * 0.2**0.5))


def test_a_public_start_costs_nothing(call):
    found = json.loads(call("plan", *GOOD, "--rounds", 1, "--start-share", 0, "--json").stdout)
    assert found["start_noise_multiplier"] is None
    assert [line["round"] for line in found["rounds"]] == [1]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--epsilon", 0, "--delta", "1e-5", "--records", 9], "epsilon is 0"),
        (["--epsilon", "nan", "--delta", "1e-5", "--records", 9], "epsilon is nan"),
        (["--epsilon", 1, "--delta", 0, "--records", 9], "delta is 0"),
        (["--epsilon", 1, "--delta", 0.2, "--records", 9], "not below 1/n"),
        (["--epsilon", 1, "--delta", "1e-5", "--records", 1], "alone cannot hide it"),
        (["--epsilon", 1, "--delta", "1e-5"], "must be public"),
        (["--epsilon", 1], "give --delta"),
        ([*GOOD, "--rounds", 0], "rounds is 0"),
        ([*GOOD, "--start-share", 1], "share"),
        ([*GOOD, "--neighbours", "swap"], "neighbours"),
        ([*GOOD, "X.npy", "-k", 3], "Leave out: data, k"),
        ([*GOOD, "--solver", "hals"], "Leave out: solver"),
        (["X.npy", "-k", 3, "--records", 9], "give --epsilon, too"),
        (["X.npy"], "how many parts"),
    ],
)  # fmt: skip
def test_bad_calls_are_sentences(call, words, says):
    result = call("plan", *words)
    assert result.exit_code == 2
    assert says in result.stderr
    assert not result.stdout
