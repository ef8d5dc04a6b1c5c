"""`partwise audit`: the page, the exit code, what lies beside the ledger, bad calls."""

from __future__ import annotations

import hashlib
import json

import numpy as np
import pytest

from partwise.privacy.accountant import Budget
from partwise.privacy.ledger import Ledger
from partwise.privacy.mechanisms import LatticeGaussian
from partwise.privacy.noise import noise_source
from partwise.privacy.terms import Terms

TRAFFIC = [
    {"t": t, "kind": "masked", "sender": p, "receiver": -1, "name": "sum", "shape": [20, 30], "dtype": "<u8", "bytes": 4800, "digest": "00"}
    for t in (1, 2)
    for p in (0, 1, 2)
]  # fmt: skip


def seal(folder):
    files = {p.name: {"sha256": hashlib.sha256(p.read_bytes()).hexdigest()} for p in folder.glob("*.jsonl")}
    (folder / "manifest.json").write_text(json.dumps({"kind": "partwise run", "schema": 1, "files": files}))


@pytest.fixture
def run(here):
    """A private run's directory; of its contents the audit needs the ledger and the manifest."""
    folder = here / "run"
    folder.mkdir()
    ledger = Ledger(Terms(delta=1e-5, count=1000, epsilon=1.0), folder / "ledger.jsonl")
    mechanism = LatticeGaussian.of_strength(Budget(1.0, 1e-5).rounds(3)[1], 0.1, 6)
    for t in (1, 2, 3):
        ledger.release(np.zeros(6), mechanism, noise_source(), t=t, what="A and B", seen_by=["the server", "all sites"])
    (folder / "transcript.jsonl").write_text("".join(json.dumps(line) + "\n" for line in TRAFFIC))
    seal(folder)
    return folder


def test_a_sound_run(call, run):
    result = call("audit", run)
    assert result.exit_code == 0, result.output
    text = " ".join(result.output.split())
    assert ": sound" in text
    assert "ε = 1 at δ = 1e-05, of a budget of ε = 1; 3 releases" in text
    assert "A and B, rounds 1 to 3, with lattice Gaussian noise → the server, all sites" in text
    assert "each site → server: sum (20×30; masked), 6 times over 3 sites, 28.8 kB" in text


def test_for_machines(call, run):
    result = call("audit", run, "--json")
    found = json.loads(result.stdout)
    assert result.exit_code == 0
    assert found["sound"] is True
    assert found["epsilon_recomputed"] == pytest.approx(1.0, rel=1e-4)
    assert found["budget"] == 1.0
    assert found["releases"] == 3


def edit(run):
    path = run / "ledger.jsonl"
    path.write_bytes(path.read_bytes().replace(b'"round":2', b'"round":9'))


def cut(run):
    path = run / "ledger.jsonl"
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:-1]))


def traffic(run):
    path = run / "transcript.jsonl"
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:-1]))


@pytest.mark.parametrize(
    ("tamper", "says"), [(edit, "line 3 was changed"), (cut, "manifest"), (traffic, "transcript.jsonl is not as")]
)
def test_a_breach_is_an_exit_code_and_stands_first(call, run, tamper, says):
    tamper(run)
    for words in (["audit", run], ["audit", run, "--json"]):
        result = call(*words)
        assert result.exit_code == 1
        assert says in " ".join(result.output.split())
    page = call("audit", run).output.split()
    assert page.index("BREACH") < page.index("unit")
    assert "NOT SOUND" in call("audit", run).output
    assert json.loads(call("audit", run, "--json").stdout)["breaches"]


def test_a_head_that_was_written_down_finds_a_rewritten_run(call, run):
    head = json.loads(call("audit", run, "--json").stdout)["head"]
    assert call("audit", run, "--head", head).exit_code == 0
    cut(run)
    seal(run)
    assert call("audit", run).exit_code == 0
    assert call("audit", run, "--head", head).exit_code == 1


def test_a_ledger_alone_can_be_checked(call, run):
    result = call("audit", run / "ledger.jsonl")
    assert result.exit_code == 0
    assert "would not be missed" in " ".join(result.output.split())


@pytest.mark.parametrize(
    ("prepare", "says"),
    [
        (lambda run: (run / "ledger.jsonl").unlink(), "somebody removed it"),
        (lambda run: (run / "transcript.jsonl").write_text("[]\n"), "line 1, is no line of a transcript"),
    ],
)
def test_a_run_that_cannot_be_audited_is_a_sentence(call, run, prepare, says):
    prepare(run)
    result = call("audit", run)
    assert result.exit_code == 1
    assert says in result.stderr
    assert not result.stdout


def test_places_without_a_ledger(call, here):
    assert "does not exist" in call("audit", "absent").stderr
    (here / "run.partial").mkdir()
    (here / "run.partial" / "ledger.jsonl").write_text("")
    (here / "run").mkdir()
    result = call("audit", "run")
    assert result.exit_code == 1
    assert "interrupted run is in run.partial" in result.stderr


def test_a_damaged_manifest_is_a_breach(call, run):
    for text in ("{", "[]", '{"files": [1]}', '{"files": {"ledger.jsonl": 3}}'):
        (run / "manifest.json").write_text(text)
        assert call("audit", run).exit_code == 1
