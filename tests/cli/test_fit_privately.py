"""`partwise fit --epsilon`: a run that may be published whole, and is audited; what cannot be promised is refused, with no output."""

from __future__ import annotations

import hashlib
import json

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from safetensors.numpy import load_file

PRIVATE = ("--epsilon", 1, "--delta", 1e-4)
HOLDS = ["ledger.jsonl", "manifest.json", "model.safetensors", "trace.jsonl"]


def words(text):
    return " ".join(text.split())


def fit(call, *more):
    return call("fit", "X.npy", "-k", 3, *PRIVATE, *more)


def test_a_private_run_holds_what_may_be_published_and_passes_its_audit(call, here):
    result = fit(call)
    assert result.exit_code == 0, result.output
    assert "each record, of 60" in words(result.stdout)
    assert "release 3: second moment, " in result.stderr
    assert sorted(path.name for path in (here / "run").iterdir()) == HOLDS
    model = load_file(here / "run" / "model.safetensors")
    assert set(model) == {"H"}
    assert model["H"].shape == (3, 30)
    audited = call("audit", "run")
    assert audited.exit_code == 0, audited.output
    assert "ε = 1 at δ = 0.0001, of a budget of ε = 1;" in words(audited.stdout)


def test_w_is_found_at_home(call, here):
    fit(call)
    result = call("apply", "run", "X.npy", "-o", "W.npy")
    assert result.exit_code == 0, result.output
    assert np.load(here / "W.npy").shape == (60, 3)


def test_for_machines(call, here):
    result = fit(call, "--json", "--publish-error", 0.1)
    told = json.loads(result.stdout)
    assert told["private"] is True
    assert told["epsilon"] == pytest.approx(1.0)
    assert told["releases"] == len((here / "run" / "trace.jsonl").read_text().splitlines())
    assert told["published_error"] >= 0
    audited = json.loads(call("audit", "run", "--json").stdout)
    assert (audited["head"], audited["sound"]) == (told["ledger_head"], True)


def test_nothing_of_a_single_record_is_in_it(call, here):
    """No digest of the data, no count of entries, no exact error, no duration, no names of samples: each may tell of one row."""
    names = [f"gene{j}" for j in range(30)]
    frame = pd.DataFrame(np.load(here / "X.npy"), columns=names)
    frame.insert(0, "id", [f"patient{i}" for i in range(60)])
    frame.to_csv(here / "X.csv", index=False)
    result = call("fit", "X.csv", "-k", 3, *PRIVATE)
    assert result.exit_code == 0, result.output
    held = "".join(path.read_text() for path in (here / "run").glob("*.json*"))
    assert "gene7" in held
    assert "patient" not in held
    assert hashlib.sha256((here / "X.csv").read_bytes()).hexdigest() not in held
    manifest = json.loads((here / "run" / "manifest.json").read_text())
    assert not {"relative_error", "loss", "seconds"} & set(manifest)
    assert not {"sha256", "shape", "stored"} & set(manifest["data"])


@pytest.mark.parametrize("tamper", ["cut", "edit", "swap"])
def test_tampering_is_found(call, here, tamper):
    fit(call)
    path = here / "run" / "ledger.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    if tamper == "cut":
        lines = lines[:-1]
    elif tamper == "edit":
        lines[2] = lines[2].replace(b'"round":2', b'"round":9')
    else:
        lines[1], lines[2] = lines[2], lines[1]
    assert b"".join(lines) != path.read_bytes()
    path.write_bytes(b"".join(lines))
    result = call("audit", "run")
    assert result.exit_code == 1
    assert "NOT SOUND" in result.stdout


def test_methods_and_their_options(call, here):
    sp.save_npz(here / "S.npz", sp.csr_array(np.load(here / "X.npy")))
    laplace = call("fit", "X.npy", "-k", 2, *PRIVATE, "--mechanism", "laplace", "--json")
    assert json.loads(laplace.stdout)["private"] is True
    assert "with lattice Laplace noise" in words(call("audit", "run").stdout)
    for solver, option in (("residual", "rounds=4"), ("plain", "rounds=3"), ("ppnmf", "rounds=5")):
        result = call(
            "fit", "S.npz", "-k", 2, *PRIVATE, "--solver", solver, "--solver-option", option, "--force", "--json"
        )
        assert result.exit_code == 0, result.output
        assert json.loads(result.stdout)["releases"] == int(option[-1])


def test_one_ledger_is_one_budget_for_all_runs(call, here):
    assert fit(call, "--ledger", "data.ledger").exit_code == 0
    assert call("audit", "run").exit_code == 0
    again = fit(call, "--ledger", "data.ledger", "-o", "more")
    assert again.exit_code == 1
    assert "mean of round 1 was not released: ε would rise from 1" in again.stderr
    assert not [path for path in here.iterdir() if path.name.startswith("more")]


@pytest.mark.parametrize(
    ("more", "says"),
    [
        (("--epsilon", 0), "epsilon is 0"),
        (("--epsilon", -2), "epsilon is -2"),
        (("--epsilon", "nan"), "epsilon is nan"),
        (("--delta", 0.02), "not below 1/n"),
        (("--delta", 0), "delta is 0"),
        (("--neighbours", "add-remove"), "how many records there are is itself private"),
        (("--neighbours", "swap"), "neighbours is 'swap'"),
        (("--records", 61), "must agree"),
        (("--row-norm", "none"), "expected 'unit', or a public number"),
        (("--row-norm", "inf"), "without a bound on its length"),
        (("--solver", "hals"), "expected one of: auto, moments"),
        (("--solver", "residual", "--solver-option", "rounds=0"), "A run of no rounds publishes nothing"),
        (("--init", "nndsvd"), "a start made from the data"),
        (("--tol", 1e-3), "would stop by an objective"),
        (("--target-error", 0.1), "--publish-error SHARE"),
        (("--max-iter", 10), "rounds=N"),
        (("--max-seconds", 10), "may depend on the data"),
        (("--resume",), "simply made again"),
        (("--alpha-w", 1), "no such option"),
        (("--publish-error", 1), "share of the budget"),
    ],
)
def test_what_cannot_be_promised_is_refused_with_no_output(call, here, more, says):
    result = fit(call, *more)
    assert result.exit_code == 2, result.output
    assert says in words(result.stderr)
    assert sorted(path.name for path in here.iterdir()) == ["X.npy"]


def test_options_of_a_private_fit_need_a_promise(call, here):
    for more in (("--delta", 1e-5), ("--ledger", "l"), ("--epsilon", 1)):
        result = call("fit", "X.npy", "-k", 3, *more)
        assert result.exit_code == 2
        assert "--delta" in result.stderr
    assert not (here / "run").exists()


def test_one_record_and_missing_entries_are_refused(call, here):
    X = np.load(here / "X.npy")
    np.save(here / "one.npy", X[:1])
    X[3, 4] = np.nan
    np.save(here / "missing.npy", X)
    one = call("fit", "one.npy", "-k", 2, *PRIVATE)
    missing = call("fit", "missing.npy", "-k", 2, *PRIVATE, "--missing", "nan")
    assert (one.exit_code, missing.exit_code) == (1, 1)
    assert "cannot hide it" in one.stderr
    assert "complete rows" in missing.stderr
    assert not (here / "run").exists()
    assert not (here / "run.partial").exists()


def test_noise_from_a_seed_and_starts_that_leak_say_so_and_fail_their_audit(call, here):
    seeded = fit(call, "--insecure-seed", 3, "--json")
    assert json.loads(seeded.stdout)["private"] is False
    assert call("audit", "run").exit_code == 1
    leaking = fit(call, "--solver", "ppnmf-as-published", "--solver-option", "start=nndsvd", "--force")
    assert "WARNING not private: the start is NNDSVD" in words(leaking.stdout)
    assert "which no ε covers" in words(call("audit", "run").stdout)
    assert call("audit", "run").exit_code == 1
