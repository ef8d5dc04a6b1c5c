"""`partwise apply`: W of new samples, features matched, damaged runs refused."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy.optimize import nnls

from partwise.reports.run_contents import read_run


@pytest.fixture
def run(call, here):
    assert call("fit", "X.npy", "-k", 4, "--max-iter", 30).exit_code == 0
    return here / "run"


def test_W_is_the_exact_solution(call, here, run):
    new = np.random.default_rng(5).random((7, 30))
    np.save("new.npy", new)
    result = call("apply", "run", "new.npy", "--json")
    assert result.exit_code == 0, result.output
    H = read_run(run).H
    expected = np.array([nnls(H.T, row)[0] for row in new])
    np.testing.assert_allclose(np.load("W.npy"), expected, atol=1e-8)
    told = json.loads(result.stdout)
    assert told["relative_error"] == pytest.approx(np.linalg.norm(new - expected @ H) / np.linalg.norm(new))


def test_the_data_of_the_fit_give_its_W(call, run):
    call("apply", "run", "X.npy")
    np.testing.assert_allclose(np.load("W.npy"), read_run(run).W, atol=1e-9)


def test_an_existing_file_stays(call, here, run):
    (here / "W.npy").write_text("mine")
    result = call("apply", "run", "X.npy")
    assert result.exit_code == 2
    assert (here / "W.npy").read_text() == "mine"
    assert call("apply", "run", "X.npy", "--force").exit_code == 0


@pytest.fixture
def named(call, here):
    (here / "t.csv").write_text("a,b,c\n1,2,3\n4,5,6\n7,8,10\n2,0,1\n")
    assert call("fit", "t.csv", "-k", 2, "--quiet").exit_code == 0
    call("apply", "run", "t.csv")
    return np.load("W.npy")


def test_features_are_matched_by_name(call, here, named):
    (here / "n.csv").write_text("name,c,extra,a,b\ns1,3,9,1,2\ns2,6,9,4,5\ns3,10,9,7,8\ns4,1,9,2,0\n")
    assert call("apply", "run", "n.csv", "-o", "n.tsv").exit_code == 0
    lines = [line.split("\t") for line in (here / "n.tsv").read_text().splitlines()]
    assert lines[0] == ["", "part0", "part1"]
    assert [line[0] for line in lines[1:]] == ["s1", "s2", "s3", "s4"]
    np.testing.assert_array_equal(np.array([line[1:] for line in lines[1:]], float), named)


def test_missing_features_are_listed(call, here, named):
    (here / "n.csv").write_text("c,x\n1,2\n")
    result = call("apply", "run", "n.csv", "--force")
    assert result.exit_code == 1
    assert "lacks 2 of the 3 features that the run was fitted on: a, b." in result.stderr


def test_names_that_stand_twice_cannot_be_matched(call, here, named):
    (here / "n.csv").write_text("c,b,a,a\n1,2,3,4\n")
    result = call("apply", "run", "n.csv", "--force")
    assert result.exit_code == 1
    assert "twice" in result.stderr


def test_features_of_data_on_disk_are_matched_too(call, here, named):
    anndata = pytest.importorskip("anndata")
    import pandas as pd

    X = np.array([[3.0, 1, 2], [6, 4, 5], [10, 7, 8], [1, 2, 0]])
    anndata.AnnData(X, var=pd.DataFrame(index=["c", "a", "b"])).write_h5ad(here / "n.h5ad")
    assert call("apply", "run", "n.h5ad", "-o", "n.npy").exit_code == 0
    np.testing.assert_allclose(np.load("n.npy"), named, atol=1e-12)


def test_another_width_is_refused(call, here, run):
    np.save("new.npy", np.ones((3, 29)))
    result = call("apply", "run", "new.npy")
    assert result.exit_code == 1
    assert "29 features; the run was fitted on 30" in result.stderr
    assert not (here / "W.npy").exists()


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("absent", "X.npy"), 1),
        (("X.npy", "X.npy"), 1),
        ((".", "X.npy"), 1),
        (("run", "absent.npy"), 1),
        (("run", "X.npy", "-o", "W.xlsx"), 2),
        (("run", "X.npy", "-o", "no/where/W.npy"), 2),
        (("run",), 2),
    ],
)
def test_bad_calls(call, here, run, words, code):
    result = call("apply", *words)
    assert result.exit_code == code, result.output
    assert result.stderr.startswith("error: ")
    assert not (here / "W.npy").exists()


def _damage(run, kind):
    model, manifest = run / "model.safetensors", run / "manifest.json"
    if kind == "truncated model":
        model.write_bytes(model.read_bytes()[:-100])
    elif kind == "changed model":
        model.write_bytes(model.read_bytes()[:-1] + b"\x01")
    elif kind == "no model":
        model.unlink()
    elif kind == "foreign manifest":
        manifest.write_text('{"name": "webpack", "schema": 1}')
    elif kind == "manifest of another kind":
        manifest.write_text("[1, 2]")
    elif kind == "half a manifest":
        manifest.write_text(manifest.read_text()[:100])
    elif kind == "later schema":
        manifest.write_text(manifest.read_text().replace('"schema": 1', '"schema": 99'))
    elif kind == "unknown settings":
        manifest.write_text(manifest.read_text().replace('"tol"', '"tolerance"'))


@pytest.mark.parametrize(
    "kind",
    [
        "truncated model", "changed model", "no model", "foreign manifest", "manifest of another kind", "half a manifest",
        "later schema", "unknown settings",
    ],
)  # fmt: skip
def test_a_damaged_run_is_refused(call, here, run, kind):
    _damage(run, kind)
    result = call("apply", "run", "X.npy")
    assert result.exit_code == 1, result.output
    assert result.stderr.startswith("error: ")
    assert "bug" not in result.stderr
    assert not (here / "W.npy").exists()
