"""The harness of benchmarks/: it measures what it says, goes on where it was stopped, and needs no peer."""

from __future__ import annotations

import importlib
import itertools
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.decomposition import NMF

ROOT = Path(__file__).parent.parent


@pytest.fixture(autouse=True)
def _importable(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT))


def part(name):
    return importlib.import_module(f"partwise.compare.{name}" if name in ("clock", "peers") else f"benchmarks.{name}")


def problem(sparse=False, dtype="float64"):
    rng = np.random.default_rng(3)
    X = rng.gamma(0.3, 1.0, (40, 25))
    X = sp.csr_array(X * (X > 0.2)) if sparse else X
    return part("workloads").given(X, 4, 0, dtype)


def measured(folder, *more, env=None):
    words = ["--quick", "--only", "toy", "--out", str(folder), "--limit", "0.2", "--reference", "0.2", *more]
    return subprocess.run(
        [sys.executable, "-m", "benchmarks", *words], cwd=ROOT, env=env, capture_output=True, text=True, timeout=120
    )


@pytest.fixture(scope="module")
def without_peers(tmp_path_factory):
    """A run where no peer but scikit-learn is installed."""
    folder = tmp_path_factory.mktemp("results")
    hidden = tmp_path_factory.mktemp("site") / "sitecustomize.py"
    hidden.write_text(
        "from importlib.machinery import PathFinder\n"
        "found, hidden = PathFinder.find_spec, {'torch', 'nmf', 'torchnmf', 'nimfa', 'matplotlib'}\n"
        "PathFinder.find_spec = lambda name, *more: None if name in hidden else found(name, *more)\n"
    )
    path = os.pathsep.join(filter(None, [str(hidden.parent), os.environ.get("PYTHONPATH")]))
    env = {**os.environ, "PYTHONPATH": path}
    return folder, measured(folder, "--methods", "partwise,scikit-learn cd,torchnmf mu,nimfa mu", env=env), env


def test_a_toy_runs_without_peers_and_says_who_is_missing(without_peers):
    folder, done, _ = without_peers
    assert done.returncode == 0, done.stderr
    assert "torchnmf mu: torchnmf is not installed, skipped" in done.stdout
    rows = part("store").Store(folder).rows("fits")
    assert {row["method"] for row in rows} == {"partwise", "scikit-learn cd", "end"}
    assert all(row["outcome"] in ("reached", "given up") for row in rows if row["method"] != "end")
    manifest = json.loads((folder / "manifest.json").read_text())
    assert manifest["made_with"]["versions"]["scikit-learn"]
    assert os.uname().nodename not in json.dumps(manifest)


def test_what_is_stored_is_not_measured_again_and_a_killed_case_is_finished(without_peers):
    folder, _, env = without_peers
    before = (folder / "fits.csv").read_text()
    assert measured(folder, env=env).returncode == 0
    assert (folder / "fits.csv").read_text() == before
    lines = before.splitlines(keepends=True)
    (folder / "fits.csv").write_text("".join(lines[:2]) + lines[2][:20])  # killed while writing its second row
    assert measured(folder, "--methods", "partwise,scikit-learn cd", env=env).returncode == 0
    rows = part("store").Store(folder).rows("fits")
    runs = [(row["method"], row["repeat"]) for row in rows if row["method"] != "end"]
    assert sorted(runs) == sorted(set(runs))
    assert (folder / "fits.csv").read_text().startswith("".join(lines[:2]))


def test_results_of_another_source_are_not_mixed(without_peers, tmp_path):
    folder, _, env = without_peers
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["made_with"]["source"] = "another"
    (tmp_path / "manifest.json").write_text(json.dumps(manifest))
    done = measured(tmp_path, env=env)
    assert done.returncode == 2
    assert "source" in done.stderr


@pytest.mark.parametrize("sparse", [False, True])
def test_stepping_scikit_learn_gives_what_its_public_solvers_give(sparse):
    X, W, H = problem(sparse)
    for solver, steps in (("cd", part("peers").sklearn_cd), ("mu", part("peers").sklearn_mu)):
        stepped = next(itertools.islice(steps(X, W, H), 5, None))
        public = NMF(4, init="custom", solver=solver, tol=0, max_iter=5)
        found = public.fit_transform(X, W=W.copy(), H=H.copy())
        np.testing.assert_allclose(stepped[0], found, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(stepped[1], public.components_, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("sparse", [False, True])
def test_every_method_lowers_the_error_from_the_same_start(sparse, dtype):
    methods, clock = part("methods"), part("clock")
    X, W, H = problem(sparse, dtype)
    kept = W.copy(), H.copy()
    error = clock.judge(X)
    for method in methods.METHODS:
        if methods.missing(method):
            continue
        points = method.run(X, W, H, error, lambda points: points[-1].t >= 10)  # sanls measures every tenth
        assert points[0].error == pytest.approx(error(W, H), rel=1e-5), method.name
        assert points[-1].error < 0.95 * points[0].error, method.name
        assert (kept[0] == W).all(), method.name
        assert (kept[1] == H).all(), method.name


def test_a_row_that_was_cut_off_does_not_count_and_is_replaced(tmp_path):
    store = part("store").Store(tmp_path)
    (tmp_path / "fits.csv").write_text("a,b\n1,2\n3,")
    assert store.rows("fits") == [{"a": "1", "b": "2"}]
    store.add("fits", {"a": 5, "b": 0.1})
    assert (tmp_path / "fits.csv").read_text() == "a,b\n1,2\n5,0.1\n"


@pytest.mark.parametrize("sparse", [False, True])
def test_the_judge_is_right(sparse):
    X, W, H = problem(sparse)
    dense = X.toarray() if sparse else X
    assert part("clock").judge(X)(W, H) == pytest.approx(np.linalg.norm(dense - W @ H) / np.linalg.norm(dense))


def test_only_iterations_count():
    clock = part("clock")

    def steps():
        for t in itertools.count():
            yield t, t

    spent = []

    def slow(t, _):
        began = time.perf_counter()
        time.sleep(0.02)
        spent.append(time.perf_counter() - began)
        return 1.0 / (1 + t)

    points = clock.follow(steps(), slow, clock.until(0.05, 10.0))
    assert points[-1].error <= 0.05
    assert points[-1].seconds < sum(spent) / 4


def test_between_evaluations_the_iteration_is_found_by_falling_evenly():
    clock = part("clock")
    points = [clock.Point(0, 0.0, 1.0), clock.Point(1, 1.0, 0.8), clock.Point(11, 11.0, 0.3)]
    assert clock.reached(points, 0.8) == (1.0, 1)
    assert clock.reached(points, 0.53) == (7.0, 7)  # 5.4 of 10 iterations on: the sixth is the first one there
    assert clock.reached(points, 0.2) is None


def test_ratios_are_medians_over_seeds_of_least_times_over_repeats():
    tables = part("tables")

    def row(method, seed, repeat, one, tenth, cd="9"):
        case = {"workload": "w", "k": "5", "dtype": "float64", "threads": "1", "seconds_cd": cd}
        return {
            **case,
            "method": method,
            "seed": seed,
            "repeat": repeat,
            "seconds_1%": one,
            "seconds_0.1%": tenth,
            "seconds": "9",
        }

    rows = [row("partwise", seed, repeat, "1", "2") for seed in "012" for repeat in "01"]
    for seed, one in (("0", "3"), ("1", "8"), ("2", "4")):
        rows += [row("scikit-learn cd", seed, "0", one, "6"), row("scikit-learn cd", seed, "1", "30", "")]
    rows.append(row("nimfa mu", "0", "0", "7", ""))
    table = tables.fits(rows)
    line = dict(zip(*table, strict=True))
    assert line["scikit-learn cd"] == "4 / 3 / 1"
    assert line["nimfa mu"] == "7 / >4.5 / 1"
    assert line["first"] == "partwise / partwise / partwise"


def test_the_page_holds_what_is_stored():
    store = part("store").Store(ROOT / "benchmarks" / "results")
    page = (ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8")
    made = page.split(part("page").BEGIN)[1].split(part("page").END)[0].strip()
    assert made == (part("page").results(store) if store.manifest() else "Nothing is stored yet.")


def test_of_several_settings_the_one_that_was_best_on_the_first_seed_counts():
    page = part("privacy_page")

    def row(seed, setting, objective):
        return {"data": "CBCL", "method": "m", "epsilon": "1", "seed": seed, "setting": setting, "objective": objective}

    rows = [row("0", "a", "0.3"), row("0", "b", "0.2"), row("1", "a", "0.0"), row("1", "b", "0.4")]
    assert page.value(rows, "CBCL", "m", 1.0) == pytest.approx(0.3)
    assert page.value(rows, "CBCL", "m", 2.0) != page.value(rows, "CBCL", "m", 2.0)


def test_a_claim_compares_a_tenth_of_the_budget():
    page = part("privacy_page")
    case = {"data": "TDT2", "seed": "0", "setting": ""}
    rows = [case | {"method": page.OURS, "epsilon": "1", "objective": "0.41"}]
    rows += [case | {"method": page.RIVAL, "epsilon": "10", "objective": "0.49"}]
    names, *lines = page.claims(rows)
    assert names[1] == "ours at 1 / PPNMF at 10"
    assert next(line for line in lines if line[0] == "TDT2") == ["TDT2", "0.410 / 0.490", *[" / "] * 3, "1 of 1"]


def test_contaminated_pictures_differ_in_a_tenth_of_the_rows(monkeypatch):
    robust = part("robust")
    X = np.random.default_rng(0).random((40, 30)) + 0.1
    monkeypatch.setattr(robust, "load", lambda name: type("Data", (), {"X": X}))
    clean, spoiled = robust.pictures("any", 40, np.random.default_rng(1))
    assert ((clean != spoiled).any(axis=1)).sum() == 4
    assert spoiled.min() >= 0


def test_asking_for_help_measures_nothing(monkeypatch, capsys):
    robust = part("robust")
    monkeypatch.setattr(robust, "load", lambda data: pytest.fail("it measures"))
    with pytest.raises(SystemExit) as ended:
        robust.main(["--help"])
    assert ended.value.code == 0
    assert "usage: python -m benchmarks.robust" in capsys.readouterr().out
