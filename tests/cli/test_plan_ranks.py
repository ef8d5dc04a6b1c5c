"""`partwise plan --ranks`: every method's price on a cluster, and auto's pick, from a header and a few rows."""

from __future__ import annotations

import json

import numpy as np
import pytest

from partwise.algorithms.distributed.methods import METHODS
from partwise.cli import app  # noqa: F401  (the conftest calls it)


def test_it_prices_every_method_and_says_what_auto_takes(call, here):
    told = json.loads(call("plan", "X.npy", "-k", 4, "--ranks", 6, "--json").stdout.splitlines()[-1])
    assert {line["algorithm"] for line in told["methods"]} == set(METHODS)
    assert told["algorithm"] in METHODS
    assert "for k = 4 on 6 ranks" in told["why"]
    did = next(line for line in told["methods"] if line["algorithm"] == "did")
    assert did["memory_bytes"]["X"] == 60 / 6 * 30 * 8
    assert did["collectives"] == 1
    assert did["seconds"] == did["computing_seconds"] + did["talking_seconds"]
    assert sorted(path.name for path in here.iterdir()) == ["X.npy"], "a plan writes nothing"


def test_the_network_is_the_users(call):
    slow, fast = (
        json.loads(call("plan", "X.npy", "-k", 4, "--ranks", 6, "--latency", a, "--bandwidth", b, "--json").stdout.splitlines()[-1])
        for a, b in ((100, 1), (1, 100))
    )  # fmt: skip
    assert slow["latency_seconds"] == pytest.approx(1e-4)
    assert slow["bandwidth_bytes_per_second"] == pytest.approx(1.25e8)
    for here, there in zip(
        *(sorted(told["methods"], key=lambda line: line["algorithm"]) for told in (slow, fast)), strict=True
    ):
        assert here["bytes"] == pytest.approx(
            there["bytes"], rel=0.6
        )  # another algorithm for a collective may be the cheaper
        assert here["talking_seconds"] > 50 * there["talking_seconds"]


def test_the_table_shows_all_of_it(call, monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")
    text = call("plan", "X.npy", "-k", 4, "--ranks", 6).stdout
    for word in (
        *METHODS,
        "memory",
        "messages",
        "sends",
        "computing",
        "talking",
        "iteration",
        "because",
        "6 ranks",
        "2 µs, 100 Gbit/s",
    ):
        assert word in text, word


def test_of_shards_only_some_rows_are_read(call, here, monkeypatch):
    np.save(here / "L.npy", np.random.default_rng(0).random((3000, 30)))
    assert call("shard", "L.npy", "-o", "S").exit_code == 0
    from partwise.cli import planning_on_ranks
    from partwise.data.shards import parts

    monkeypatch.setattr(planning_on_ranks, "WORK", 30 * 4 * 300)
    read = []
    whole = parts.DenseParts.part
    monkeypatch.setattr(
        parts.DenseParts, "part", lambda self, rows, columns: read.append(len(rows)) or whole(self, rows, columns)
    )
    assert call("plan", "S", "-k", 4, "--ranks", 3).exit_code == 0
    assert read == [300]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--ranks", 3, "--threads", 2], "Leave out: threads"),
        (["--ranks", 3, "--solver", "mu"], "Leave out: solver"),
        (["--latency", 3], "give --ranks, too"),
        (["--ranks", 3, "--loss", "kullback-leibler"], "minimises the Frobenius loss only"),
        (["--ranks", 3, "--epsilon", 1], "Leave out: "),
        (["--ranks", 0], "--ranks"),
    ],
)
def test_what_cannot_be_planned_is_said(call, words, says):
    result = call("plan", "X.npy", "-k", 4, *words)
    assert result.exit_code == 2
    assert says in " ".join(result.stderr.replace("│", " ").split())
