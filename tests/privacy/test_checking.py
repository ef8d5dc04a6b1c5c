"""Checking a ledger: a sound one passes, each kind of breach is found, forged figures too; never a crash, whatever the bytes."""

from __future__ import annotations

import hashlib
import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from partwise.privacy import chain, oracle
from partwise.privacy.accountant import Budget
from partwise.privacy.chain import Chain
from partwise.privacy.checking import check
from partwise.privacy.ledger import BudgetSpentError, Ledger
from partwise.privacy.mechanisms import AnalyticGaussian, LatticeGaussian, LatticeLaplace
from partwise.privacy.noise import noise_source
from partwise.privacy.statement import statement
from partwise.privacy.terms import Terms

TERMS = Terms(delta=1e-5, count=1000, epsilon=1.0, method="a test")


def mechanism(kind=LatticeGaussian):
    return kind.of_strength(Budget(1.0, 1e-5).rounds(4)[1], 0.1, 6)


def content(path, rounds=4, terms=TERMS, mechanism=mechanism):
    ledger = Ledger(terms, path)
    for t in range(1, rounds + 1):
        ledger.release(np.zeros(6), mechanism(), noise_source(), t=t, what="A and B", seen_by=["everybody"])
    return path.read_bytes()


@pytest.fixture
def path(tmp_path):
    return tmp_path / "ledger.jsonl"


def forged(lines, change):
    """A ledger that somebody wrote anew, with a good chain: `change` edits the entries."""
    entries = [json.loads(line) for line in lines.splitlines()]
    change(entries)
    whole = Chain()
    for entry in entries:
        whole.append({key: value for key, value in entry.items() if key not in ("line", "previous", "digest")})
    return b"".join(chain._text(entry).encode() + b"\n" for entry in whole.entries)


def test_a_sound_ledger_is_sound(path):
    found = check(content(path), digest=hashlib.sha256(path.read_bytes()).hexdigest())
    assert found.sound
    assert not found.warnings
    assert found.epsilon_found == pytest.approx(1.0, rel=1e-4)
    assert "dp-accounting" in found.by
    assert len(found.releases) == 4


def test_a_run_that_was_stopped_in_time_is_sound_and_says_so(path):
    ledger = Ledger(TERMS, path)
    for t in range(4):
        ledger.spend(mechanism(), t=t, what="A and B", seen_by=["everybody"])
    with pytest.raises(BudgetSpentError):
        ledger.spend(mechanism(), t=4, what="A and B", seen_by=["everybody"])
    found = check(path.read_bytes(), head=ledger.head)
    assert found.sound
    assert any("budget" in text for name, text in statement(found) if name == "refused")


@pytest.mark.parametrize("lost", [1, 2, 3])
def test_a_cut_tail_is_found_by_the_manifest_and_by_a_head_that_was_kept(path, lost):
    whole = content(path)
    cut = b"".join(whole.splitlines(keepends=True)[:-lost])
    assert check(cut).sound  # alone a ledger cannot tell …
    assert any("where the ledger should end" in line for line in check(cut).warnings)  # … and says so
    assert not check(cut, digest=hashlib.sha256(whole).hexdigest()).sound
    assert not check(cut, head=json.loads(whole.splitlines()[-1])["digest"]).sound


def test_a_torn_line_is_a_warning_in_an_interrupted_run_and_a_breach_in_a_whole_one(path):
    whole = content(path)
    assert check(whole + b'{"kin').sound
    assert any("interrupted" in line for line in check(whole + b'{"kin').warnings)
    assert not check(whole + b'{"kin', digest=hashlib.sha256(whole).hexdigest()).sound


def edit(number, **values):
    return lambda entries: entries[number].update(values)


def terms(**values):
    return lambda entries: entries[0]["terms"].update(values)


FORGERIES = {
    "less ε than follows": (edit(4, epsilon=0.5), "does not add up"),
    "less μ²": (edit(2, mu_squared=1e-6), "μ² so far"),
    "another noise multiplier": (edit(2, event={"noise": "gaussian", "noise_multiplier": 100.0}), "noise by sensitivity"),
    "a smaller sensitivity": (edit(2, sensitivity=0.01), "noise by sensitivity"),
    "no noise": (edit(2, scale=0.0), "noise by sensitivity"),
    "another δ": (edit(2, delta=0.1), "its δ"),
    "another unit": (edit(2, unit="party"), "another unit"),
    "a release left out": (lambda entries: entries.pop(2), "does not add up"),
    "unknown noise": (edit(2, event={"noise": "cauchy", "noise_multiplier": 1.0}), "no release that this version"),
    "a word for a number": (edit(2, epsilon="none"), "no release that this version"),
    "nothing for a number": (edit(2, sensitivity=0), "no release that this version"),
    "a list for an event": (edit(2, event=[]), "no release that this version"),
    "a kind of its own": (edit(2, kind="gift"), "kind that this version does not know"),
    "no opening": (lambda entries: entries.pop(0), "no terms"),
    "a δ that hides nothing": (terms(delta=0.01), "no terms"),
    "a smaller budget": (terms(epsilon=0.5), "budget is exceeded"),
    "a seed": (terms(insecure_seed=3), "subtract the noise"),
    "foreign terms": (terms(colour="blue"), "no terms"),
    "a word for a δ": (terms(delta="small"), "no terms"),
    "a leak": (lambda entries: entries.append({"kind": "note", "text": "NNDSVD start", "private": False}), "no ε covers"),
}  # fmt: skip


@pytest.mark.parametrize("name", FORGERIES)
def test_a_forged_ledger_with_a_good_chain_does_not_add_up(path, name):
    change, says = FORGERIES[name]
    found = check(forged(content(path), change))
    assert not found.sound
    assert any(says in line for line in found.breaches), found.breaches
    statement(found)


def test_an_edited_line_is_named(path):
    lines = content(path).splitlines(keepends=True)
    lines[2] = lines[2].replace(b"everybody", b"nobody")
    found = check(b"".join(lines))
    assert any("line 3 was changed" in line for line in found.breaches)


def test_other_noise_is_recomputed_too(path):
    found = check(content(path, 2, Terms(delta=1e-5, count=1000, epsilon=5.0), lambda: mechanism(LatticeLaplace)))
    assert found.sound
    assert found.epsilon_found == pytest.approx(found.epsilon_said, rel=1e-6)


def test_floating_point_noise_is_a_warning(path):
    found = check(content(path, 1, mechanism=lambda: mechanism(AnalyticGaussian)))
    assert any("low bits" in line for line in found.warnings)


def test_without_the_oracle_it_says_who_computed(path, monkeypatch):
    gaussian = content(path)
    laplace = content(path.with_name("other"), 1, mechanism=lambda: mechanism(LatticeLaplace))
    monkeypatch.setattr(oracle, "find_spec", lambda _: None)
    assert check(gaussian).sound
    assert "own formula only" in check(gaussian).by
    assert any("not recomputed independently" in line for line in check(gaussian).warnings)
    assert any("could not be recomputed" in line for line in check(laplace).breaches)


def test_a_wrong_formula_of_ours_would_be_found(path, monkeypatch):
    """The audit does not believe the ledger's own arithmetic, nor ours."""
    monkeypatch.setattr("partwise.privacy.accountant.epsilon_of", lambda delta, mu: 0.3)
    found = check(content(path))
    assert any("recomputed it is" in line for line in found.breaches)


SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-5, 5)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=4)
)
VALUES = (
    SCALARS
    | st.lists(SCALARS, max_size=2)
    | st.dictionaries(st.sampled_from(["noise", "noise_multiplier", "sampled"]), SCALARS)
)


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_no_content_crashes_it(data):
    """Good chains around hostile values: whoever forges a ledger chooses them."""
    ledger = Ledger(TERMS)
    ledger.spend(mechanism(), t=1, what="A", seen_by=["everybody"])
    lines = b"".join(chain._text(entry).encode() + b"\n" for entry in ledger.entries)

    def change(entries):
        opening, release = entries
        for place in (opening, opening["terms"], release, release["event"], release["details"]):
            if data.draw(st.booleans()):
                place[data.draw(st.sampled_from(sorted(place)))] = data.draw(VALUES)

    statement(check(forged(lines, change)))


@settings(max_examples=50, deadline=None)
@given(st.binary(max_size=200))
def test_no_bytes_crash_it(content):
    assert not check(content).sound


def test_the_statement_says_what_an_officer_asks(path):
    rows = dict(statement(check(content(path))))
    assert "replaced by any other" in rows["unit"]
    assert "any computing power" in rows["adversary"]
    assert "ε = 1 at δ = 1e-05, of a budget of ε = 1; 4 releases" in rows["total"]
    assert "at most 8.4%" in rows["meaning"]  # Φ(Φ⁻¹(0.05) + 0.2676)
    assert "rounds 1 to 4" in rows["left"]
    assert "everybody" in rows["left"]
