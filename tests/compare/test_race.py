"""The race: the same starts for all, every run stored as it ends, and what follows from it."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import scipy.sparse as sp

from partwise.compare.clock import Limits, Point, judge
from partwise.compare.contestants import Ours, Peer
from partwise.compare.names import method, peers_of
from partwise.compare.picture import figure
from partwise.compare.race import CURVES, RUNS, Race, race, thinned
from partwise.compare.summary import interval, standings
from partwise.data import as_matrix
from partwise.errors import OptionError, RunError
from partwise.reports.tables import Store


@pytest.fixture
def X():
    rng = np.random.default_rng(0)
    return rng.random((40, 4)) @ rng.random((4, 25)) + 0.1 * rng.random((40, 25))


def standing_still(X, W, H):
    while True:
        yield W, H


def failing(X, W, H):
    yield W, H
    raise ValueError("no more")


def talking(X, W, H):
    for t in itertools.count():
        yield W / (1 + t), H, 100 * t


def raced(X, tmp_path, *contestants, seeds=(0, 1), **more):
    store = Store(tmp_path)
    told = []
    plan = Race(3, contestants, seeds, seconds=5, iterations=12, **more)
    race(plan, as_matrix(X), store, lambda run, number, of: told.append((number, of)))
    return store, told


@pytest.mark.parametrize("sparse", [False, True])
def test_all_begin_at_the_same_errors_and_end_after_the_same_iterations(X, tmp_path, sparse):
    X = sp.csr_array(X * (X > 1)) if sparse else X
    store, told = raced(X, tmp_path, method("hals:acceleration=1:extrapolate=false"), *peers_of("sklearn"))
    first = {(row["seed"], float(row["error"])) for row in store.rows(CURVES) if row["iteration"] == "0"}
    assert len({(seed, round(error, 10)) for seed, error in first}) == 2
    assert {row["iterations"] for row in store.rows(RUNS)} == {"12"}
    assert told[-1] == (6, 6)


def test_plain_hals_has_the_errors_of_scikit_learns_cd(X, tmp_path):
    store, _ = raced(X, tmp_path, method("hals:acceleration=1:extrapolate=false"), *peers_of("sklearn-cd"), seeds=(3,))
    ends = [float(row["error"]) for row in store.rows(RUNS)]
    assert ends[0] == pytest.approx(ends[1], rel=1e-8)


def test_who_fails_is_told_and_the_others_go_on(X, tmp_path):
    store, _ = raced(X, tmp_path, Peer("bad", failing), Ours("auto", "auto"))
    found = {standing.method: standing for standing in standings(store, 0.01)}
    assert found["bad"].note == "failed: ValueError: no more"
    assert found["bad"].reached == 0
    assert found["auto"].reached == 2


def test_bytes_are_stored_and_drawn_where_somebody_sends_any(X, tmp_path):
    store, _ = raced(X, tmp_path, Peer("talks", talking), Ours("auto", "auto"))
    assert max(float(row["bytes"]) for row in store.rows(CURVES)) == 1200
    assert [panel.x_label for panel in figure(store, "").panels] == ["seconds", "iterations", "bytes sent"]


def test_what_is_stored_is_not_run_again(X, tmp_path):
    one, two = Peer("one", standing_still), Peer("two", standing_still)
    store, _ = raced(X, tmp_path, one)
    before = store.path(RUNS).read_text()
    store, told = raced(X, tmp_path, one, two)
    assert len(told) == 2
    assert store.path(RUNS).read_text().startswith(before)


def test_the_target_is_above_the_least_error_of_the_same_start_and_missing_it_is_endless(tmp_path):
    store = Store(tmp_path)
    for name, end in (("good", 0.5), ("bad", 0.9)):
        store.add(RUNS, {"seed": 0, "method": name, "iterations": 2, "error": end, "least_error": end, "outcome": ""})
        for t, error in enumerate((1.0, 0.75, end)):
            row = {"seed": 0, "method": name, "iteration": t, "seconds": float(t), "bytes": 10.0 * t, "error": error}
            store.add(CURVES, row)
    good, bad = standings(store, 0.1)
    assert (good.reached, good.iterations, good.bytes, good.runs) == (1, 2, 20, 1)
    assert bad.seconds == np.inf
    assert bad.reached == 0


def test_the_interval_covers_the_median_as_often_as_it_says():
    rng = np.random.default_rng(0)
    hits = [low <= 0.5 <= high for low, high in (interval(rng.random(15)) for _ in range(400))]
    assert 0.90 <= np.mean(hits) <= 0.99  # 0.95, and the bootstrap of a median of 15 is a little generous


def test_an_interval_with_missed_targets():
    low, high = interval([1.0, 2.0, np.inf])
    assert low == 1.0
    assert high == np.inf


def test_limits_are_kept():
    points = [Point(0, 0.0, 1.0), Point(5, 1.0, 0.5)]
    assert Limits(10, 5)(points)
    assert Limits(1.0, 99).why(points) == "time used up"
    assert not Limits(10, 99)(points)
    still = [Point(t, float(t), 0.5) for t in range(40)]
    assert Limits(1e9, 99)(still)
    assert not Limits(1e9, 99, settles=False)(still)


def test_thinning_keeps_both_ends():
    points = [Point(t, t * 1e-3, 1 / (1 + t)) for t in range(5000)]
    kept = thinned(points, 50)
    assert kept[0] == points[0]
    assert kept[-1] == points[-1]
    assert 20 < len(kept) <= 51


@pytest.mark.parametrize(("word", "says"), [("hols", "Did you mean"), ("hals:acceleration", "name=value")])
def test_methods_that_are_not_known(word, says):
    with pytest.raises(OptionError, match=says):
        method(word)


def test_a_peer_that_is_not_installed(monkeypatch):
    monkeypatch.setattr("partwise.compare.contestants.find_spec", lambda name: None)
    with pytest.raises(RunError, match="pip install nimfa"):
        peers_of("nimfa-mu")
    with pytest.raises(OptionError, match="nmf-torch"):
        peers_of("pytorch")


def test_the_judge_and_the_trace_agree(X, tmp_path):
    store, _ = raced(X, tmp_path, Ours("bpp", "bpp"), seeds=(0,))
    assert 0 < float(store.rows(RUNS)[0]["error"]) < judge(X)(np.zeros((40, 3)), np.zeros((3, 25)))
