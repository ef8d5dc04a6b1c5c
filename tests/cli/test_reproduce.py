"""`partwise reproduce`: list, run, check."""

from __future__ import annotations

import json

import pytest

from partwise.reproduce.experiment import Size


def test_the_list(call):
    result = call("reproduce", "list")
    assert result.exit_code == 0
    assert "dsanls fig5" in result.stdout
    told = json.loads(call("reproduce", "list", "--json").stdout)["experiments"]
    assert {"paper", "name", "title", "claim", "data", "seconds"} == set(told[0])
    assert told[0]["seconds"]["quick"] > 0


def test_a_figure_and_its_check(call, here, monkeypatch):
    monkeypatch.setattr("partwise.cli.reproducing.chosen", lambda quick: Size.TINY)
    result = call("reproduce", "dsanls", "fig5", "--quick", "-o", "out")
    assert result.exit_code == 0, result.stderr
    assert "The claim " in result.stdout
    assert "about" in result.stderr
    checked = call("reproduce", "dsanls", "fig5", "--check", "--stored", "out", "-o", "again", "--json")
    assert checked.exit_code == 0, checked.stdout
    told = json.loads(checked.stdout)["results"][0]
    assert told["agrees"]
    assert told["compared"] > 10
    rows = (here / "out" / "dsanls-fig5" / "rows.csv").read_text().splitlines()
    rows[2] = rows[2].rpartition(",")[0] + ",0.5"
    (here / "out" / "dsanls-fig5" / "rows.csv").write_text("\n".join(rows) + "\n")
    differs = call("reproduce", "dsanls", "fig5", "--check", "--stored", "out", "-o", "third")
    assert differs.exit_code == 1
    assert "Differs from the stored result (1 of" in differs.stdout


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (("dsanls", "fig5", "--check", "--quick", "--stored", "x"), 1, "no earlier result"),
        (("dsanls", "fig55"), 2, "Did you mean fig5"),
        (("plos",), 2, "no paper"),
        (("dsanls", "fig5", "--stored", "x"), 2, "--check"),
        (("dsanls", "fig5", "--check", "--stored", "x"), 1, "no earlier result"),
    ],
)
def test_calls_that_cannot_be(call, words, code, says):
    result = call("reproduce", *words)
    assert result.exit_code == code
    assert says in result.stderr
