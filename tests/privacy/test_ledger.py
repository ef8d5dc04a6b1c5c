"""The chain and the privacy ledger: durable, continued, stopped in time; every kind of tampering is seen."""

from __future__ import annotations

import json
import math
import subprocess
import sys

import numpy as np
import pytest

from partwise.errors import OptionError, RunError
from partwise.privacy import chain, oracle
from partwise.privacy.accountant import Budget
from partwise.privacy.chain import Chain
from partwise.privacy.ledger import BudgetSpentError, Ledger
from partwise.privacy.mechanisms import LatticeGaussian, LatticeLaplace
from partwise.privacy.noise import noise_source
from partwise.privacy.terms import Terms

TERMS = Terms(delta=1e-5, count=1000, epsilon=1.0, method="a test")


def mechanism(rounds=4, epsilon=1.0):
    return LatticeGaussian.of_strength(Budget(epsilon, 1e-5).rounds(rounds)[1], 0.1, 6)


def filled(path, rounds=4, terms=TERMS):
    ledger = Ledger(terms, path)
    for t in range(1, rounds + 1):
        ledger.release(np.zeros(6), mechanism(), noise_source(), t=t, what="A and B", seen_by=["everybody"])
    return ledger


@pytest.fixture
def path(tmp_path):
    return tmp_path / "ledger.jsonl"


def test_a_line_says_all_that_is_promised(path):
    filled(path)
    first, release = [json.loads(line) for line in path.read_text().splitlines()][:2]
    assert first["terms"]["unit"] == "record"
    assert first["terms"]["adversary"]
    assert release["kind"] == "release"
    named = {
        "round",
        "what",
        "unit",
        "neighbours",
        "sensitivity",
        "scale",
        "mechanism",
        "event",
        "mu_squared",
        "epsilon",
        "delta",
        "seen_by",
    }
    assert named <= set(release)
    assert release["epsilon"] < 1.0
    assert "at" not in release  # no clock: it could tell how long the private part took


def test_the_budget_is_spent_to_the_end_and_no_further(path):
    ledger = filled(path)
    assert ledger.epsilon == pytest.approx(1.0, rel=1e-9)
    before = path.read_bytes()
    with pytest.raises(BudgetSpentError, match=r"round 5 was not released: ε would rise from 1 to 1\.1"):
        ledger.release(np.zeros(6), mechanism(), noise_source(), t=5, what="A and B", seen_by=["everybody"])
    after = path.read_bytes()
    assert after.startswith(before)
    assert json.loads(after.splitlines()[-1])["kind"] == "refusal"
    assert ledger.epsilon == pytest.approx(1.0, rel=1e-9)
    assert len(list(ledger.releases())) == 4


def test_nothing_is_drawn_when_a_release_is_refused():
    """The stop comes before the noise, and before the value is looked at."""

    class Forbidden:
        def standard_normal(self, *_):
            raise AssertionError("drawn")

    ledger = filled(None)
    with pytest.raises(BudgetSpentError):
        ledger.release(None, mechanism(), Forbidden(), t=5, what="A", seen_by=[])  # pyright: ignore


def test_a_line_is_on_the_disk_before_the_value_leaves(path):
    """A mechanism that dies while it releases has been counted."""

    class Dying:
        def standard_normal(self, *_):
            raise KeyboardInterrupt

    ledger = Ledger(TERMS, path)
    with pytest.raises(KeyboardInterrupt):
        ledger.release(np.zeros(6), mechanism(), Dying(), t=1, what="A", seen_by=["everybody"])
    assert json.loads(path.read_text().splitlines()[-1])["kind"] == "release"
    assert Ledger(TERMS, path).epsilon > 0


def test_it_is_continued_where_it_stood(path):
    whole = filled(None, 4)
    filled(path, 2)
    continued = Ledger(TERMS, path)
    for t in (3, 4):
        continued.release(np.zeros(6), mechanism(), noise_source(), t=t, what="A and B", seen_by=["everybody"])
    assert continued.accountant.mu_squared == whole.accountant.mu_squared
    assert [entry["kind"] for entry in continued.entries] == ["opened", *["release"] * 2, "resumed", *["release"] * 2]
    assert chain.read(path.read_bytes()).broken is None
    with pytest.raises(BudgetSpentError):
        continued.spend(mechanism(), t=5, what="A and B", seen_by=[])


def test_a_torn_last_line_is_removed_and_said(path):
    filled(path, 2)
    whole = path.read_bytes()
    with path.open("ab") as file:
        file.write(b'{"line": 3, "kind": "rel')
    ledger = Ledger(TERMS, path)
    assert path.read_bytes().startswith(whole)
    assert ledger.entries[-1]["torn_bytes_removed"] == 24
    assert chain.read(path.read_bytes()).broken is None


def test_a_killed_process_leaves_a_chain_that_goes_on(path):
    code = f"""
from pathlib import Path
from partwise.privacy.ledger import Ledger
from partwise.privacy.terms import Terms
ledger = Ledger(Terms(delta=1e-5, count=1000), Path({str(path)!r}))
for t in range(100000):
    ledger.note(str(t)); print(t, flush=True)
"""
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    seen = [process.stdout.readline() for _ in range(20)]
    process.kill()
    last = int((process.communicate()[0].split() or seen[-1:])[-1])
    ledger = Ledger(Terms(delta=1e-5, count=1000), path)
    assert len(ledger.entries) >= last + 3  # opened, 0 … last, resumed: nothing that was said to be saved is lost


TAMPERED = "edited dropped swapped doubled beheaded blank foreign binary nan key-twice respelled inf surrogate deep"


@pytest.mark.parametrize(
    ("tamper", "says"),
    [
        (lambda lines: [*lines[:2], lines[2].replace(b'"round":2', b'"round":7'), *lines[3:]], "line 3 was changed"),
        (lambda lines: [*lines[:2], *lines[3:]], "line 3 does not follow"),
        (lambda lines: [lines[0], lines[2], lines[1], *lines[3:]], "line 2 does not follow"),
        (lambda lines: [*lines[:3], lines[2], *lines[3:]], "line 4 does not follow"),
        (lambda lines: lines[1:], "line 1 does not follow"),
        (lambda lines: [*lines[:2], b"", *lines[2:]], "line 3 is not JSON"),
        (lambda lines: [*lines[:2], b"[1]", *lines[2:]], "line 3 is not a link"),
        (lambda lines: [*lines[:2], b"\xff\xfe", *lines[2:]], "line 3 is not JSON"),
        (lambda lines: [b'{"line":NaN}', *lines], "line 1 is not"),
        (lambda lines: [*lines[:2], lines[2].replace(b'"round":2', b'"round":2,"round":3'), *lines[3:]], "line 3 was changed"),
        (lambda lines: [*lines[:2], lines[2].replace(b',"round"', b', "round"'), *lines[3:]], "line 3 was changed"),
        (lambda lines: [*lines[:2], lines[2].replace(b'"round":2', b'"round":1e999'), *lines[3:]], "line 3 was changed"),
        (lambda lines: [*lines[:2], lines[2].replace(b'"A and B"', b'"\\ud800"'), *lines[3:]], "line 3 was changed"),
        (lambda lines: [*lines[:2], b"[" * 100_000, *lines[2:]], "line 3 is not JSON"),
    ],
    ids=TAMPERED.split(),
)  # fmt: skip
def test_tampering_is_seen_and_nothing_is_added(path, tamper, says):
    filled(path)
    content = b"\n".join(tamper(path.read_bytes().splitlines())) + b"\n"
    path.write_bytes(content)
    with pytest.raises(RunError, match=says):
        Ledger(TERMS, path)
    assert path.read_bytes() == content


def test_a_cut_tail_needs_the_head(path):
    ledger = filled(path)
    head = ledger.head
    path.write_bytes(b"\n".join(path.read_bytes().splitlines()[:-1]) + b"\n")
    found = chain.read(path.read_bytes())
    assert found.broken is None
    assert found.entries[-1]["digest"] != head


def test_other_terms_are_refused(path):
    filled(path, 1)
    with pytest.raises(RunError, match=r"epsilon was 1\.0 and is 8\.0"):
        Ledger(Terms(delta=1e-5, count=1000, epsilon=8.0, method="a test"), path)


def test_two_writers_are_refused(path):
    one, two = filled(path, 1), Ledger(TERMS, path)
    with pytest.raises(RunError, match="somebody else"):
        one.note("mine")
    two.note("still whole")
    assert chain.read(path.read_bytes()).broken is None


def test_a_full_disk_stops_the_release_and_leaves_the_chain_whole(path, monkeypatch):
    ledger = filled(path, 1)
    before, spent = path.read_bytes(), ledger.epsilon

    def full(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(chain.os, "fsync", full)
    with pytest.raises(RunError, match="No space left"):
        ledger.release(np.zeros(6), mechanism(), noise_source(), t=2, what="A", seen_by=["everybody"])
    monkeypatch.undo()
    assert path.read_bytes() == before
    assert ledger.epsilon == spent
    ledger.note("room again")
    assert chain.read(path.read_bytes()).broken is None


def test_a_folder_that_is_not_there_is_a_sentence(tmp_path):
    with pytest.raises(RunError, match="could not be written"):
        Ledger(TERMS, tmp_path / "absent" / "ledger.jsonl")


def test_what_is_not_private_is_marked():
    ledger = Ledger(TERMS)
    ledger.note("not private: NNDSVD start", private=False)
    ledger.refuse("reconstruction_err_", "it is a figure of the private data")
    assert [entry["kind"] for entry in ledger.entries] == ["opened", "note", "refusal"]
    assert ledger.entries[1]["private"] is False


def test_a_ledger_without_a_budget_counts_and_does_not_stop():
    ledger = Ledger(Terms(delta=1e-5, count=1000))
    for t in range(8):
        ledger.spend(mechanism(), t=t, what="A", seen_by=[])
    assert ledger.epsilon > 1.0


def test_laplace_and_gaussian_noise_share_a_ledger():
    ledger = Ledger(Terms(delta=1e-5, count=1000, epsilon=2.0))
    ledger.spend(mechanism(), t=1, what="A", seen_by=[])
    ledger.spend(LatticeLaplace.of_strength(0.5, 1.0, 3), t=2, what="three counts", seen_by=[])
    assert ledger.epsilon == pytest.approx(oracle.epsilon(ledger.accountant.events(), 1e-5))
    assert ledger.epsilon <= 1.1


def test_the_seed_of_insecure_noise_is_in_the_first_line():
    assert Ledger(Terms(delta=1e-5, count=9, insecure_seed=7)).entries[0]["terms"]["insecure_seed"] == 7


def test_any_nonempty_data_of_any_type_goes_into_a_chain_and_comes_back(path):
    one = Chain(path)
    one.append({"text": "ü — \u2028 \n \x00", "numbers": [1e-300, 2**60, 0.1, -0.0], "nested": {"b": None, "a": True}})
    two = Chain(path)
    assert two.entries == one.entries
    with pytest.raises(ValueError, match="JSON compliant"):
        two.append({"epsilon": math.nan})
    assert len(Chain(path).entries) == 1


@pytest.mark.parametrize(
    ("made", "says"),
    [
        (lambda: Terms(delta=1e-3, count=1000), "not below 1/n"),
        (lambda: Terms(delta=0.0, count=1000), "delta"),
        (lambda: Terms(delta=1e-5, count=None), "public knowledge"),
        (lambda: Terms(delta=1e-5, count=1), "alone cannot hide"),
        (lambda: Terms(delta=1e-5, count=1000, epsilon=0.0), "epsilon"),
        (lambda: Terms(delta=1e-5, count=1000, epsilon=math.nan), "epsilon"),
        (lambda: Terms(delta=1e-5, count=1000, neighbours="swap"), "neighbours"),
    ],
)  # fmt: skip
def test_terms_that_promise_nothing_are_refused(made, says):
    with pytest.raises(OptionError, match=says):
        made()
