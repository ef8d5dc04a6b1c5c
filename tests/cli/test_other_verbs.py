"""plan, datasets, version, help: quick to come, and true."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp

from partwise import __version__

VERBS = (
    ["fit"],
    ["apply"],
    ["audit"],
    ["compare"],
    ["plan"],
    ["reproduce"],
    ["run"],
    ["shard"],
    ["version"],
    ["datasets", "list"],
    ["datasets", "get"],
    ["federate", "simulate"],
)


@pytest.mark.parametrize("verb", VERBS, ids=" ".join)
def test_every_verb_has_help_with_an_example(call, verb):
    result = call(*verb, "--help")
    assert result.exit_code == 0
    assert "Example:" in result.stdout
    assert f"partwise {' '.join(verb)}" in " ".join(result.stdout.split())


def test_help_loads_nothing_heavy():
    program = (
        "import sys; from partwise.cli import app; app(['fit', '--help'], standalone_mode=False); "
        "sys.exit(str([m for m in ('numpy', 'scipy', 'numba', 'sklearn', 'pooch') if m in sys.modules]))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.stderr.strip() == "[]"


def test_versions(call):
    assert call("--version").stdout.strip() == f"partwise {__version__}"
    told = json.loads(call("version", "--json").stdout)
    assert told["partwise"] == __version__
    assert told["numpy"] == np.__version__
    assert told["blas"][0]["num_threads"] >= 1
    assert np.__version__ in call("version").stdout


def test_python_m_partwise():
    done = subprocess.run([sys.executable, "-m", "partwise", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == f"partwise {__version__}"


def test_no_verb_shows_the_verbs(call):
    result = call()
    assert result.exit_code == 2
    assert "fit" in result.stdout


def test_an_unknown_verb(call):
    result = call("fot", "X.npy")
    assert result.exit_code == 2
    assert "Did you mean 'fit'?" in result.stderr


def test_a_plan_says_what_a_fit_then_does(call, here):
    result = call("plan", "X.npy", "-k", 4, "--json", "--threads", 1)
    assert result.exit_code == 0, result.output
    told = json.loads(result.stdout)
    assert told["shape"] == [60, 30]
    assert told["density"] == 1
    assert told["predicted_seconds_per_iteration"] > 0
    assert told["memory_bytes"]["X"] == 0, "a memory map is not held"
    assert told["memory_bytes"]["factors"] >= (60 + 30) * 4 * 8
    held = told["memory_bytes"]
    assert held["total"] == held["X"] + held["factors"] + held["block"]
    fitted = json.loads(call("fit", "X.npy", "-k", 4, "--json").stdout)
    assert told["solver"] == fitted["solver"]
    assert sorted(path.name for path in here.iterdir()) == ["X.npy", "run"], "a plan writes nothing"


def test_a_plan_of_sparse_data(call, here):
    X = sp.random_array((4000, 50), density=0.02, random_state=1, format="csr")
    sp.save_npz(here / "S.npz", X)
    told = json.loads(call("plan", "S.npz", "-k", 4, "--json").stdout)
    assert told["stored"] == X.nnz
    assert told["memory_bytes"]["X"] == X.data.nbytes + X.indices.nbytes + X.indptr.nbytes
    text = call("plan", "S.npz", "-k", 4, "--solver", "bpp").stdout
    assert "sparse (2 % stored)" in text
    assert "prediction" in text
    assert "bpp (as asked)" in text


def test_a_plan_from_some_rows(call, here, monkeypatch):
    from partwise.cli import planning

    monkeypatch.setattr(planning, "WORK", 1)
    np.save("tall.npy", np.random.default_rng(0).random((2000, 6)))
    told = json.loads(call("plan", "tall.npy", "-k", 2, "--json").stdout)
    assert told["sampled_rows"] == 512
    assert told["measured_seconds_per_iteration"] > 0


def test_data_sets(call, cache):
    listed = json.loads(call("datasets", "list", "--json").stdout)["datasets"]
    assert "digits" in [one["name"] for one in listed]
    text = call("datasets", "list").stdout
    assert "1,797 × 64" in text
    assert "…" not in text, "a pipe gets titles whole"
    told = json.loads(call("datasets", "get", "digits", "--json").stdout)
    assert told["path"].startswith(str(cache))
    result = call("datasets", "get", "digitz")
    assert result.exit_code == 2
    assert "Did you mean digits?" in result.stderr


def test_the_first_compilation_is_announced_once(call, monkeypatch):
    import logging

    from partwise.cli import fitting

    plain = fitting.prepare

    def compiling(*arguments):
        for _ in range(2):
            logging.getLogger("partwise").warning("partwise: compiling its kernels")
        return plain(*arguments)

    monkeypatch.setattr(fitting, "prepare", compiling)
    assert call("fit", "X.npy", "-k", 2).stderr.count("compiling its kernels") == 1
