"""`partwise fit`: what a run leaves, and what it tells."""

from __future__ import annotations

import json

import numpy as np
import pytest
from safetensors.numpy import load_file

from partwise import factorize


def test_a_run_holds_what_factorize_gives(call, here):
    result = call("fit", "X.npy", "-k", 4, "--max-iter", 30, "--seed", 3)
    assert result.exit_code == 0, result.output
    expected = factorize(np.load("X.npy"), 4, max_iter=30, seed=3)
    held = load_file(here / "run/model.safetensors")
    np.testing.assert_array_equal(held["W"], expected.W)
    np.testing.assert_array_equal(held["H"], expected.H)


def test_the_manifest_tells_how_it_came_about(call, here):
    call("fit", "X.npy", "-k", 4, "--max-iter", 30, "--threads", 1)
    manifest = json.loads((here / "run/manifest.json").read_text())
    assert manifest["command"] == "partwise fit X.npy -k 4 --max-iter 30 --threads 1"
    assert manifest["seed"] == 0
    assert manifest["data"]["shape"] == [60, 30]
    assert len(manifest["data"]["sha256"]) == 64
    assert manifest["settings"]["n_components"] == 4
    assert manifest["solver"] == "hals"
    assert "sweeps of W" in manifest["solver_why"]
    assert manifest["iterations"] == 30
    assert 0 < manifest["relative_error"] < 0.2
    assert "30" in manifest["stopping_reason"]
    assert manifest["versions"]["numpy"] == np.__version__
    assert manifest["machine"]["threads"] == 1
    import socket

    assert socket.gethostname() not in json.dumps(manifest["machine"])


def test_the_trace_has_a_line_for_each_iteration(call, here):
    call("fit", "X.npy", "-k", 4, "--max-iter", 30, "--tol", 0)
    lines = [json.loads(line) for line in (here / "run/trace.jsonl").read_text().splitlines()]
    assert [line["iteration"] for line in lines] == list(range(31))
    assert set(lines[0]) == {"iteration", "loss", "relative_error", "violation", "seconds"}
    assert lines[-1]["relative_error"] < lines[1]["relative_error"]
    assert lines[0]["violation"] is None, "what was not measured is null, not NaN"


def test_names_of_features_and_samples_are_kept(call, here):
    (here / "t.csv").write_text("gene,a,b,c\ns1,1,2,3\ns2,4,5,6\ns3,7,8,10\n")
    assert call("fit", "t.csv", "-k", 2).exit_code == 0
    assert json.loads((here / "run/names.json").read_text()) == {
        "features": ["a", "b", "c"],
        "samples": ["s1", "s2", "s3"],
    }


def test_json_is_the_only_line_on_standard_output(call):
    result = call("fit", "X.npy", "-k", 4, "--json")
    (line,) = result.stdout.splitlines()
    told = json.loads(line)
    assert {"relative_error", "iterations", "seconds", "solver", "stopping_reason", "run"} <= set(told)
    assert told["run"] == "run"


def test_json_is_valid_where_there_is_no_relative_error(call):
    result = call("fit", "X.npy", "-k", 4, "--loss", "kullback-leibler", "--max-iter", 5, "--json")

    def refuse(word):
        raise AssertionError(f"{word} is not JSON")

    assert json.loads(result.stdout, parse_constant=refuse)["relative_error"] is None


def test_a_table_for_people_fits_80_columns(call):
    result = call("fit", "X.npy", "-k", 4, "--max-iter", 30)
    assert max(map(len, result.stdout.splitlines())) <= 80
    for word in ("relative error", "60 × 30", "hals", "30 in", "run/", "partwise apply run NEW"):
        assert word in result.stdout
    assert "iteration 15 of 30" in result.stderr, "plain lines where there is no terminal"


def test_quiet_is_silent(call):
    result = call("fit", "X.npy", "-k", 4, "--quiet")
    assert result.exit_code == 0
    assert result.output == ""


def test_solver_options_reach_the_solver(call, here):
    assert call("fit", "X.npy", "-k", 4, "--solver-option", "acceleration=3", "--solver", "hals").exit_code == 0
    settings = json.loads((here / "run/manifest.json").read_text())["settings"]
    assert settings["options"] == {"acceleration": 3}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--solver", "foo"), "solver='foo'"),
        (("--solver", "bpp", "--solver-option", "speed=3"), "speed"),
        (("--solver-option", "speed"), "name=value"),
        (("--loss", "cosine"), "--loss cosine"),
        (("--loss", "nan"), "--loss nan"),
        (("--loss", "1", "--solver", "hals"), "solver='mu'"),
        (("--init", "warm"), "warm"),
        (("--loss", "1", "--target-error", "0.1"), "target_error"),
        (("--missing", "maybe"), "missing='maybe'"),
        (("--negative", "flip"), "negative='flip'"),
        (("--dtype", "float16"), "float16"),
        (("--dtype", "words"), "words"),
        (("--tol", "-1"), "tol"),
        (("--tol", "nan"), "tol"),
        (("--l1-ratio", "2"), "l1_ratio"),
        (("--alpha-h", "much"), "--alpha-h much"),
        (("--max-iter", "0"), "--max-iter"),
        (("--threads", "0"), "--threads"),
        (("--checkpoint-every", "0"), "--checkpoint-every"),
        (("--seed", "-1"), "--seed"),
        (("--normalize", "max"), "normalize='max'"),
        (("--no-such-option",), "--no-such-option"),
        (("--resume", "--force"), "--resume"),
        (("-o", "."), "-o run"),
    ],
)
def test_a_bad_call_is_a_sentence_and_exit_code_2(call, here, words, said):
    result = call("fit", "X.npy", "-k", 4, *words)
    assert result.exit_code == 2, result.output
    (line,) = result.stderr.splitlines()
    assert line.startswith("error: ")
    assert said in line
    assert sorted(path.name for path in here.iterdir()) == ["X.npy"], "nothing is left"


@pytest.mark.parametrize("k", ["0", "-3", "many", "2.5"])
def test_a_number_of_parts_that_is_none(call, k):
    assert call("fit", "X.npy", "-k", k).exit_code == 2


def test_more_parts_than_memory_is_no_crash(call, here):
    result = call("fit", "X.npy", "-k", 10**13)
    assert result.exit_code == 1
    assert "memory" in result.stderr
    assert not (here / "run").exists()
    assert not (here / "run.partial").exists()


def _bad(here, kind):
    path = here / "bad.npy"
    X = np.ones((5, 4))
    if kind == "truncated":
        path.write_bytes((here / "X.npy").read_bytes()[:200])
    elif kind == "directory":
        path.mkdir()
    elif kind != "absent":
        X[2, 1] = {"NaN": np.nan, "negative": -1, "infinite": np.inf}[kind]
        np.save(path, X)


@pytest.mark.parametrize("kind", ["absent", "truncated", "directory", "NaN", "negative", "infinite"])
def test_bad_data_is_a_sentence_and_exit_code_1(call, here, kind):
    _bad(here, kind)
    result = call("fit", "bad.npy", "-k", 2)
    assert result.exit_code == 1, result.output
    assert result.stderr.startswith("error: ")
    assert "Traceback" not in result.output
    assert not (here / "run").exists()
    assert not (here / "run.partial").exists()


def test_what_is_missing_or_negative_can_be_allowed(call, here):
    _bad(here, "NaN")
    assert call("fit", "bad.npy", "-k", 2, "--missing", "nan").exit_code == 0
    _bad(here, "negative")
    assert call("fit", "bad.npy", "-k", 2, "--negative", "clip", "-o", "other").exit_code == 0


def test_neither_file_nor_data_set(call):
    result = call("fit", "digitz", "-k", 2)
    assert result.exit_code == 1
    assert "Did you mean digits?" in result.stderr


def test_a_data_set_by_name(call):
    result = call("fit", "digits", "-k", 3, "--max-iter", 5, "--json", "--threads", 1)
    assert json.loads(result.stdout)["shape"] == [1797, 64]


def test_an_unexpected_error_says_that_it_is_a_bug(call, monkeypatch):
    from partwise.cli import fitting

    monkeypatch.setattr(fitting, "prepare", lambda *_: 1 / 0)
    result = call("fit", "X.npy", "-k", 2)
    assert result.exit_code == 1
    assert "bug in partwise" in result.stderr
    assert "ZeroDivisionError" in result.stderr
    assert "Traceback" not in result.stderr
    assert "Traceback" in call("fit", "X.npy", "-k", 2, "--debug").stderr
