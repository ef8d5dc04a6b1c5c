"""Every experiment runs, small, on invented data; its claim is judged, its figure drawn; what is stored is compared and gone on with."""

from __future__ import annotations

import json
import shutil

import numpy as np
import pytest

from partwise.comm import Network
from partwise.compare.cluster import ETHERNET
from partwise.errors import DataError, OptionError
from partwise.estimators.study_wishes import Wishes
from partwise.reports.tables import Store
from partwise.reproduce.at_hand import at_hand
from partwise.reproduce.carrying_out import ROWS, RUNS, carry_out, typed
from partwise.reproduce.checking import differences
from partwise.reproduce.experiment import Finding, Size, Verdict, verdict
from partwise.reproduce.papers.dsanls_damping import options, tuned
from partwise.reproduce.parties import shared, study
from partwise.reproduce.privately import hexed, pictured, total_epsilon
from partwise.reproduce.ranks import FREE, over
from partwise.reproduce.registry import PAPERS, find
from partwise.reproduce.stored import stored

EVERY = [experiment for paper in PAPERS.values() for experiment in paper.experiments]


def silent(case, seconds, number, of):
    """Tell nobody."""


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """Every experiment, carried out once, when first asked for; without the real data."""
    folder, made = tmp_path_factory.mktemp("reproduced"), {}

    def result(experiment):
        if experiment.key not in made:
            made[experiment.key] = carry_out(experiment, Size.TINY, folder / experiment.key, silent)
        return made[experiment.key]

    return result


@pytest.mark.parametrize("experiment", EVERY, ids=lambda experiment: experiment.key)
def test_every_experiment_runs_and_is_judged(experiment, results, monkeypatch):
    monkeypatch.setenv("PARTWISE_DATA", "/nowhere")
    result = results(experiment)
    files = {path.name for path in result.folder.iterdir()}
    assert {"rows.csv", "runs.csv", "table.csv", "manifest.json"} <= files
    assert ("figure.svg" in files) == ("figure.png" in files) == (experiment.figure is not None)
    assert result.findings
    assert all(finding.seen and finding.criterion.endswith(".") for finding in result.findings)
    assert set(experiment.same) | set(experiment.names) <= set(result.rows[0])
    names = [tuple(row[name] for name in experiment.names) for row in result.rows]
    assert len(set(names)) == len(names), "a row's name is not unique"
    assert len({len(line) for line in experiment.table(result.rows)}) == 1
    assert not experiment.because(result.rows) or experiment.because(result.rows).endswith(".")
    manifest = json.loads((result.folder / "manifest.json").read_text())
    assert manifest["verdict"] == result.verdict
    assert experiment.minutes[Size.QUICK] <= 2


@pytest.mark.parametrize("experiment", EVERY, ids=lambda experiment: experiment.key)
def test_every_experiment_is_told_of(experiment):
    assert experiment.claim.endswith(".")
    assert experiment.data
    assert experiment.same, "nothing of it would be checked"
    assert 0 < len(experiment.cases(Size.QUICK)) <= len(experiment.cases(Size.FULL))
    keys = [tuple(case.items()) for case in experiment.cases(Size.FULL)]
    assert len(set(keys)) == len(keys)


def test_results_agree_with_themselves_and_not_with_others(results, tmp_path):
    experiment = find("dsanls", "fig5")[0]
    result = results(experiment)
    assert differences(result, result.folder.parent).agrees
    shutil.copytree(result.folder, tmp_path / experiment.key)
    store = Store(tmp_path / experiment.key)
    rows = typed(store.rows(ROWS))
    rows[3]["error"] *= 1.001
    store.drop([ROWS])
    store.add(ROWS, *rows)
    check = differences(result, tmp_path)
    assert not check.agrees
    assert len(check.differences) == 1
    assert "error is" in check.differences[0]
    with pytest.raises(DataError, match="--stored"):
        differences(result, tmp_path / "elsewhere")


def test_a_form_that_is_not_stored_is_told(results, tmp_path, monkeypatch):
    experiment = find("dsanls", "fig5")[0]
    folder = results(experiment).folder.parent
    with pytest.raises(DataError, match="is the tiny form of dsanls-fig5, and cannot be compared with the quick one"):
        stored(experiment, Size.QUICK, folder)
    monkeypatch.setattr("partwise.reproduce.stored.shipped", lambda size: tmp_path / size)
    shutil.copytree(folder / experiment.key, tmp_path / "quick" / experiment.key)
    with pytest.raises(DataError, match=r"full form of dsanls-fig5 is not .* its quick form is: give --quick as well"):
        stored(experiment, Size.FULL)
    with pytest.raises(DataError, match="tiny form of dsanls-fig5 is not"):
        stored(experiment, Size.TINY)


def test_the_same_experiment_gives_the_same_errors(results, tmp_path):
    experiment = find("dsanls", "fig5")[0]
    again = carry_out(experiment, Size.TINY, tmp_path / "again", silent)
    assert [row["error"] for row in again.rows] == [row["error"] for row in results(experiment).rows]


def test_an_interrupted_experiment_goes_on_with_what_is_stored(tmp_path):
    experiment = find("dsanls", "fig5")[0]
    made = []

    def stopping(case, seconds, number, of):
        made.append(case)
        if len(made) == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        carry_out(experiment, Size.TINY, tmp_path / "it", stopping)
    assert not (tmp_path / "it").exists()
    store = Store(tmp_path / "it.partial")
    store.add(ROWS, *store.rows(ROWS)[:2])  # as if killed between the rows of a run and its end
    kept = store.rows(RUNS)
    store.drop([RUNS])
    store.add(RUNS, *kept[1:])
    result = carry_out(experiment, Size.TINY, tmp_path / "it", silent, resume=True)
    assert len(result.rows) == len({tuple(row[name] for name in experiment.names) for row in result.rows})
    assert len(Store(result.folder).rows(RUNS)) == len(experiment.cases(Size.TINY))


def test_verdicts():
    yes, no = Finding("a.", True, ""), Finding("b.", False, "")
    assert verdict([yes, yes]) is Verdict.HOLDS
    assert verdict([yes, no]) is Verdict.PART
    assert verdict([no]) is Verdict.NOT


@pytest.mark.parametrize(("paper", "name", "says"), [("dsanl", None, "dsanls"), ("dsanls", "fig55", "fig5")])
def test_what_is_not_there(paper, name, says):
    with pytest.raises(OptionError, match=says):
        find(paper, name)


def test_what_cannot_be_had_is_left_out_and_said(monkeypatch, tmp_path):
    experiment = find("dsanls", "fig5")[0]
    known = at_hand(experiment, Size.TINY)
    assert len(known.cases) == len(experiment.cases(Size.TINY))

    def digest(name):
        if name != "mnist":
            raise DataError(f"{name} is not on this machine.")
        return "abc"

    monkeypatch.setattr("partwise.reproduce.at_hand.digest", digest)
    there = at_hand(experiment, Size.QUICK)
    assert {case["data"] for case in there.cases} == {"MNIST", "GISETTE"}
    assert there.digests == {"mnist": "abc"}
    assert there.left_out["FACE"] == "cbcl_faces is not on this machine."
    monkeypatch.setattr("partwise.reproduce.at_hand.digest", lambda name: digest("none"))
    with pytest.raises(DataError, match=r"dsanls fig5 can be had\. none is not"):
        at_hand(experiment, Size.QUICK)


def test_rates_of_parties_side_by_side():
    rng = np.random.default_rng(0)
    X = rng.random((60, 12))
    rows, found = study(shared(X, 3), Wishes(2, "fedavg", 4, measure_every=1))
    assert [row["t"] for row in rows] == [1, 2, 3, 4]
    assert rows[-1]["bytes"] == found.bytes_up + sum(point.bytes_down for point in found.history)  # of rounds alone
    assert rows[-1]["up"] == found.bytes_up
    assert np.all(np.diff([row["seconds"] for row in rows]) > 0)
    _, plain = study(shared(X, 3), Wishes(2, "fedavg", 4, measure_every=1), saying=lambda arrays, t, p: arrays)
    np.testing.assert_array_equal(found.H, plain.H)
    _, silent = study(shared(X, 3), Wishes(2, "fedavg", 4), saying=lambda arrays, t, p: {"H": 0 * arrays["H"]})
    assert not silent.H.any()


def test_total_epsilon_is_the_papers_formula():
    rho = 100 * 2 * (0.5 / np.sqrt(2 * np.log(1.25e5))) ** 2 / 2
    assert total_epsilon(0.5, 100) == pytest.approx(rho + 2 * np.sqrt(rho * np.log(1e5)))


def test_pixels_come_back():
    picture = np.arange(12.0).reshape(3, 4) * 255 / 11
    rows = [{"pixels": f"x{hexed(picture[:, :3].ravel(order='F'))}"}]
    np.testing.assert_allclose(pictured(rows, 3)[0], (255 * picture[:, :3] / picture[:, :3].max()).round())


def test_messages_over_another_network():
    row = {"seconds": 3.0, "talking": 1.0, "messages": 2, "error": 0.5}
    assert over(row, ETHERNET) == pytest.approx(row)
    assert over(row, FREE)["seconds"] == 2.0
    wire = 1.0 - 2 * ETHERNET.latency
    twice = Network(latency=2 * ETHERNET.latency, bandwidth=2 * ETHERNET.bandwidth)
    assert over(row, twice, more=3)["talking"] == pytest.approx(wire / 2 + 5 * twice.latency)


def test_the_damping_that_ends_least_is_taken():
    rows = [
        {"data": "D", "method": "S", "damping": damping, "seed": seed, "t": t, "error": error}
        for damping, error in (("none", 0.3), ("1 + 1 t", 0.2))
        for seed in (0, 1)
        for t in (1, 2)
    ]
    rows[0]["error"] = 0.01  # on the way, not in the end
    assert {row["damping"] for row in tuned(rows)} == {"1 + 1 t"}
    assert options("1 + 0.1 t") == {"damping": (1.0, 0.1), "relative_damping": False}
    assert options("own") == {}
