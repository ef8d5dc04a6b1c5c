"""`partwise compare`: what it writes, what it tells, and how it goes on."""

from __future__ import annotations

import json
import shutil

import pytest

from partwise.reports.results import is_results

ASKED = ("compare", "X.npy", "-k", "3", "--methods", "auto,mu", "--seeds", "2", "--max-iter", "20", "--threads", "1")
OUTSIDE = """
def moving(X, W, H, *, seed=0):
    yield W, H
    while True:
        W = W * (X @ H.T) / (W @ (H @ H.T))
        yield W, H, 8

def broken(X, W, H):
    raise RuntimeError("not today")

nothing = 3
"""


@pytest.fixture
def outside(tmp_path, monkeypatch):
    """Another package, installed, that brings methods."""
    site = tmp_path / "site"
    facts = site / "outside-1.0.dist-info"
    facts.mkdir(parents=True)
    (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: outside\nVersion: 1.0\n")
    (facts / "entry_points.txt").write_text(
        "[partwise.methods]\nmoving = outside:moving\nbroken = outside:broken\n"
        "nothing = outside:nothing\nabsent = elsewhere:it\n"
    )
    (site / "outside.py").write_text(OUTSIDE)
    monkeypatch.syspath_prepend(str(site))


def test_it_writes_tables_a_figure_and_a_manifest(call, here):
    result = call(*ASKED, "--peers", "sklearn-cd", "-o", "out")
    assert result.exit_code == 0, result.stderr
    names = {path.name for path in (here / "out").iterdir()}
    assert names == {"runs.csv", "curves.csv", "summary.csv", "figure.svg", "figure.png", "manifest.json"}
    manifest = json.loads((here / "out" / "manifest.json").read_text())
    assert set(manifest["files"]) == names - {"manifest.json"}
    assert manifest["seeds"] == [0, 1]
    assert manifest["versions"]["scikit-learn"]
    assert len(manifest["data"]["sha256"]) == 64
    for word in ("auto", "mu", "scikit-learn cd", "bootstrap", "of 2"):
        assert word in result.stdout


def test_json_is_one_line_with_every_method(call):
    result = call(*ASKED, "--json", "--quiet", "-o", "out")
    told = json.loads(result.stdout)
    assert [row["method"] for row in told["results"]] == ["auto", "mu"]
    assert told["results"][0]["reached"] == 2
    assert result.stderr == ""


def test_an_interrupted_comparison_goes_on(call, here, monkeypatch):
    def stop(*anything):
        raise KeyboardInterrupt

    with monkeypatch.context() as interrupted:
        interrupted.setattr("partwise.compare.race.summary", stop)
        stopped = call(*ASKED, "-o", "out")
    assert stopped.exit_code == 1
    assert "--resume" in stopped.stderr
    assert not (here / "out").exists()
    again = call(*ASKED, "-o", "out")
    assert again.exit_code == 2
    assert "--resume" in again.stderr
    other = call(*ASKED, "-k", "2", "-o", "out", "--resume")
    assert other.exit_code == 2
    assert "k (3 then, 2 now)" in other.stderr
    assert call(*ASKED, "-o", "out", "--resume").exit_code == 0
    assert is_results(here / "out", "comparison")
    assert not (here / "out.partial").exists()


def test_what_is_there_is_not_replaced_unasked(call, here):
    assert call(*ASKED, "-o", "out").exit_code == 0
    refused = call(*ASKED, "-o", "out")
    assert refused.exit_code == 2
    assert "--force" in refused.stderr
    (here / "mine").mkdir()
    (here / "mine" / "thesis.tex").write_text("…")
    kept = call(*ASKED, "-o", "mine", "--force")
    assert kept.exit_code == 2
    assert (here / "mine" / "thesis.tex").exists()
    assert call(*ASKED, "-o", "out", "--force").exit_code == 0
    shutil.rmtree(here / "out")


def test_a_method_from_outside_is_one_function(call, here, outside):
    result = call(
        "compare", "X.npy", "-k", "3", "--methods", "moving,broken", "--max-iter", "5", "--seeds", "1", "-o", "o"
    )
    assert result.exit_code == 0, result.stderr
    assert "moving" in result.stdout
    assert "bytes to target" in result.stdout
    assert "broken: failed: RuntimeError: not today" in result.stdout


@pytest.mark.parametrize(
    ("methods", "code", "says"),
    [
        ("nothing", 1, "not a function"),
        ("absent", 1, "cannot be loaded"),
        ("moving:fast=1", 2, "takes no options"),
        ("movin", 2, "Did you mean moving"),
        ("", 2, "nobody to compare"),
        ("hals:speed=3", 2, "its options are"),
    ],
)
def test_methods_that_cannot_be(call, outside, methods, code, says):
    result = call("compare", "X.npy", "-k", "3", "--methods", methods, "-o", "out")
    assert result.exit_code == code, result.stdout
    assert says in result.stderr
