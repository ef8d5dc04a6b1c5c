"""Methods for a cluster in a race: the iterates of one machine, a clock that messages move, and bytes."""

from __future__ import annotations

import numpy as np
import pytest

from partwise.comm import Network
from partwise.compare.clock import Limits, judge
from partwise.compare.cluster import Cluster
from partwise.compare.contestants import Ours
from partwise.compare.names import method
from partwise.compare.race import CURVES, Race, race
from partwise.compare.summary import standings
from partwise.data import as_matrix
from partwise.errors import OptionError
from partwise.reports.tables import Store

LIMITS = Limits(1e9, 12, settles=False)


@pytest.fixture
def X():
    rng = np.random.default_rng(0)
    return rng.random((40, 4)) @ rng.random((4, 25)) + 0.1 * rng.random((40, 25))


@pytest.fixture
def start():
    rng = np.random.default_rng(1)
    return rng.random((40, 3)), rng.random((3, 25))


def test_did_on_three_ranks_is_hals_on_one_machine(X, start):
    one = Ours("hals", "hals", {"acceleration": 1, "extrapolate": False})
    many = Cluster("did", "did", 3)
    mine, theirs = (each.run(X, *start, judge(X), LIMITS) for each in (one, many))
    assert [point.t for point in mine] == [point.t for point in theirs]
    np.testing.assert_allclose([p.error for p in mine], [p.error for p in theirs], rtol=1e-9)


def test_bytes_are_what_the_ranks_sent_and_grow_with_iterations(X, start):
    stands, _ = Cluster("did", "did", 4).follow(X, *start, LIMITS)
    pair = (25 + 3) * 3
    assert stands[-1].numbers >= 12 * pair
    assert stands[-1].numbers <= 12 * (pair + 2)
    sent = [stand.point.bytes for stand in stands]
    assert sent[0] == 0
    assert np.all(np.diff(sent) > 0)
    alone = Cluster("alone", "did", 1).follow(X, *start, LIMITS)[0][-1].point
    assert alone.bytes == 0
    assert alone.seconds > 0


def test_a_slow_network_costs_time(X, start):
    def seconds(network):
        stands, _ = Cluster("dbcd", "dbcd", 4, network=network).follow(X, *start, LIMITS)
        return stands[-1].point.seconds, stands[-1].talking

    slow, talking = seconds(Network(latency=1.0))
    assert talking >= 12 * 3 * 2  # a message for each component, two steps for four ranks
    assert slow >= talking


def test_iterations_without_an_error_are_not_told_of(X, start):
    points = method("sanls").run(X, *start, judge(X), LIMITS)
    assert [point.t for point in points] == [0, 10, 12]
    assert points[-1].error < points[1].error < points[0].error


def test_a_race_tells_bytes_to_the_target(X, tmp_path):
    store = Store(tmp_path)
    contestants = tuple(method(word) for word in ("did:ranks=3", "hpc-anls-hals:ranks=4", "hals:acceleration=1"))
    race(Race(3, contestants, (0, 1), seconds=5, iterations=20), as_matrix(X), store, lambda *_: None)
    found = {standing.method: standing for standing in standings(store, 0.5)}
    assert found["did:ranks=3"].bytes > 0
    assert found["hals:acceleration=1"].bytes == 0
    errors = {
        row["method"]: row["error"] for row in store.rows(CURVES) if row["iteration"] == "1" and row["seed"] == "0"
    }
    assert len({round(float(error), 8) for error in errors.values()}) <= 2


def test_a_run_may_end_where_the_method_did_not_measure_its_error(X, start):
    one, limits = Cluster("dsanls", "dsanls", 3), Limits(1e9, 13, settles=False)
    assert not one.follow(X, *start, limits)[0][-1].measured
    points = one.run(X, *start, judge(X), limits)
    assert points[-1].t == 13
    assert points[-1].error == pytest.approx(judge(X)(*one.follow(X, *start, limits)[1]))


@pytest.mark.parametrize("word", ["did:ranks=0", "did:ranks=many", "did:rank=3"])
def test_what_is_not_a_cluster(word, X, start):
    with pytest.raises(OptionError):
        method(word).run(X, *start, judge(X), LIMITS)
