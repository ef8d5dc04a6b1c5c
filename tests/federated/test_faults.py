"""Parties that vanish, repeat themselves, come late, or lie: the round ends without them, and they are named."""

from collections import Counter, deque

import numpy as np
import pytest

from federated.parties import run, seated, shards
from partwise.data import as_matrix
from partwise.drivers.correspondence import Correspondence
from partwise.drivers.gathering import SecureSum
from partwise.drivers.letters import Letter, decode, encode
from partwise.drivers.rounds import Terms, run_rounds
from partwise.drivers.safety import Safety
from partwise.drivers.transports.in_process import InProcess
from partwise.drivers.transports.unreliable import Dropouts, Unreliable
from partwise.drivers.vault import Vault
from partwise.errors import OptionError, RunError
from partwise.estimators.federate import federate
from partwise.estimators.study_wishes import Wishes

XS = shards(rows=(9, 5, 12, 7, 8))


class Tampering(InProcess):
    """A transport on which `change(letter)` gives the answers that arrive instead of an answer."""

    def __init__(self, seats, change):
        super().__init__(seats)
        self.change, self.coming = change, deque()

    def next(self, seconds=None):
        while not self.coming:
            letter = super().next(seconds)
            if letter is None:
                return None
            self.coming.extend(self.change(letter))
        return self.coming.popleft()


def only(party, t, change, kinds=("round", "masked")):
    """Change one answer of one party."""
    return lambda letter: (
        change(letter) if (letter.party, letter.t) == (party, t) and letter.kind in kinds else [letter]
    )


def with_first(letter, **how):
    """The letter with its first array changed."""
    name = next(iter(letter.arrays))
    array = letter.arrays[name]
    if "shape" in how:
        array = array[:-1]
    elif "value" in how:
        array = array.copy()
        array.flat[0] = how["value"]
    return letter._replace(arrays={**letter.arrays, name: array})


LIES = {
    "vanishes": (lambda letter: [], "did not answer"),
    "has another shape": (lambda letter: [with_first(letter, shape=True)], "declares shape"),
    "has NaN": (lambda letter: [with_first(letter, value=np.nan)], "NaN"),
    "is negative": (lambda letter: [with_first(letter, value=-1.0)], "negative"),
    "is of another study": (lambda letter: [letter._replace(study="other")], "of study 'other'"),
    "is of an older round": (lambda letter: [letter._replace(t=letter.t - 1)], "was due"),
    "says more than declared": (
        lambda letter: [letter._replace(arrays={**letter.arrays, "X": np.ones(3)})],
        "declares",
    ),
    "says less": (lambda letter: [letter._replace(arrays={})], "sent nothing"),
    "is of another precision": (
        lambda letter: [letter._replace(arrays={n: a.astype(np.float32) for n, a in letter.arrays.items()})],
        "float32",
    ),
}


@pytest.mark.parametrize("name", ["exact", "syn-sd"])
@pytest.mark.parametrize("lie", LIES)
def test_the_round_ends_without_whoever(name, lie):
    """Party 2 lies in round 2: that round is as if it had not been there, and it is named."""
    change, sentence = LIES[lie]
    outcome, _, mail = run(name, XS, rounds=4, transport=lambda seats: Tampering(seats, only(2, 2, change)))
    silent, *_ = run(name, XS, rounds=4, transport=lambda seats: Tampering(seats, only(2, 2, lambda letter: [])))
    assert [point.parties for point in outcome.history if point.t > 0] == [5, 4, 5, 5]
    assert any(fault.party == 2 and sentence in fault.sentence for fault in mail.faults)
    np.testing.assert_array_equal(outcome.public["H"], silent.public["H"])


@pytest.mark.parametrize("name", ["exact", "syn-sd", "asyn-sd"])
def test_an_answer_that_comes_twice_counts_once(name):
    plain, *_ = run(name, XS, rounds=4)
    outcome, _, mail = run(
        name, XS, rounds=4, transport=lambda seats: Tampering(seats, only(1, 2, lambda letter: [letter, letter]))
    )
    assert any(fault.party == 1 for fault in mail.faults)
    np.testing.assert_array_equal(outcome.public["H"], plain.public["H"])


def test_a_letter_that_comes_twice_is_answered_alike_and_computed_once():
    _, seats = seated("syn-sd", XS)
    letter = Letter("test", "round", 1, 0, {"H": seats[0].method.opening()["H"]})
    first = seats[0].answer(letter)
    state = seats[0].private()["Wt"]
    again = seats[0].answer(letter)
    np.testing.assert_array_equal(first.arrays["H"], again.arrays["H"])
    assert seats[0].private()["Wt"] is state


def test_too_few_replies_end_the_study_with_a_sentence_and_what_was_kept():
    vault = Vault("test")
    with pytest.raises(RunError, match=r"got 4 of the 5 replies that it needs\. Party 3 did not answer"):
        run("exact", XS, terms=Terms(6, least=5, vault=vault),
            transport=lambda seats: Unreliable(InProcess(seats), lambda letter: letter[1:4] == ("round", 4, 3)))  # fmt: skip
    assert vault.kept().t == 3


@pytest.mark.parametrize("kind", ["masked", "seeds", "shares"])
def test_secure_sums_go_on_when_parties_vanish_in_any_phase(kind):
    """In round 2 party 4 vanishes in this phase (and party 0 before, so that seeds are asked for)."""

    def lost(letter):
        return letter.t == 2 and (
            (letter.party == 4 and letter.kind == kind)
            or (letter.party == 0 and letter.kind == "masked" and kind == "seeds")
        )

    outcome, _, mail = run(
        "exact", XS, rounds=4, secure=True, transport=lambda seats: Unreliable(InProcess(seats), lost)
    )
    counted = {"masked": 4, "seeds": 3, "shares": 5}[kind]
    assert [point.parties for point in outcome.history] == [5, 5, counted, 5, 5]
    gone = {"masked": [4], "seeds": [0, 4], "shares": []}[kind]
    plain, *_ = run("exact", XS, rounds=4, transport=lambda seats: Unreliable(
        InProcess(seats), lambda letter: letter.kind == "round" and letter.t == 2 and letter.party in gone))  # fmt: skip
    np.testing.assert_allclose(outcome.public["H"], plain.public["H"], rtol=1e-9, atol=1e-12)
    assert {fault.party for fault in mail.faults} == {4} | set(gone)


def test_a_masked_message_that_is_late_stays_closed():
    """Party 4's upload comes after it was given up: it is not counted, not recorded as an upload, and its mask is not asked for."""
    late = []

    def change(letter):
        if (letter.kind, letter.t, letter.party) == ("masked", 2, 4):
            late.append(letter)
            return []
        return [*late, letter] if letter.kind == "seeds" else [letter]

    outcome, seats, mail = run("exact", XS, rounds=3, secure=True, transport=lambda seats: Tampering(seats, change))
    assert [point.parties for point in outcome.history] == [5, 5, 4, 5]
    assert any(fault.party == 4 and "was due" in fault.sentence for fault in mail.faults)
    for seat in seats[:4]:
        sealed = [
            e
            for e in mail.transcript.entries
            if e.kind == "shares" and e.t == 2 and e.receiver == seat.p and e.name == "sealed"
        ]
        assert sealed[0].shape[0] == 3  # of the three others that remained, not of party 4


def test_a_party_whose_key_was_changed_on_its_way_does_not_join():
    def change(letter):
        if letter.kind == "keys" and letter.party == 1:
            return [letter._replace(arrays={"key": np.roll(letter.arrays["key"], 1)})]
        return [letter]

    outcome, _, mail = run("exact", XS, rounds=3, secure=True, transport=lambda seats: Tampering(seats, change))
    assert [point.parties for point in outcome.history] == [4, 4, 4, 4]
    assert any(fault.party == 1 and "own key" in fault.sentence for fault in mail.faults)
    plain, *_ = run("exact", XS, rounds=3, transport=lambda seats: Unreliable(
        InProcess(seats), lambda letter: letter.party == 1 and letter.kind == "round"))  # fmt: skip
    np.testing.assert_allclose(outcome.public["H"], plain.public["H"], rtol=1e-9, atol=1e-12)


def test_a_party_that_shows_sums_only_says_nothing_in_the_open():
    with pytest.raises(RunError, match="secure sums only"):
        run("exact", XS, terms=Terms(3), safety=Safety(5, only_sums=True))
    outcome, _, mail = run("exact", XS, rounds=3, safety=Safety(5, only_sums=True), secure=True)
    assert len(outcome.history) == 4
    assert not mail.faults, "nobody was asked for an error in the open"
    _, seats = seated("exact", XS, safety=Safety(5, only_sums=True))
    asked = seats[0].answer(Letter("test", "measure", 1, 0, {"H": seats[0].method.opening()["H"]}))
    assert asked.kind == "failed"


def test_methods_that_need_to_see_each_reply_cannot_have_secure_sums():
    with pytest.raises(OptionError, match="exact"):
        run("modified-dsanls", XS, secure=True, allowance=1.0)
    chosen, seats = seated("exact", XS, safety=Safety(5))
    with pytest.raises(OptionError, match="set up for 3 parties"):
        run_rounds(chosen, Correspondence("test", InProcess(seats)), Terms(2, gather=SecureSum(Safety(3))))


def test_dropouts_are_the_same_in_every_run():
    def once(secure):
        return run(
            "exact",
            XS,
            rounds=8,
            secure=secure,
            transport=lambda seats: Unreliable(InProcess(seats), Dropouts(0.2, seed=1)),
        )

    first, second = once(False)[0], once(False)[0]
    np.testing.assert_array_equal(first.public["H"], second.public["H"])
    assert min(point.parties for point in first.history) < 5
    secured = once(True)[0]
    assert np.isfinite(secured.history[-1].error)
    with pytest.raises(OptionError, match="dropout"):
        Dropouts(1.0)


def test_asynchronous_parties_that_vanish_are_asked_again_and_then_given_up():
    outcome, _, mail = run(
        "asyn-sd", XS, transport=lambda seats: Unreliable(InProcess(seats), lambda letter: letter.party == 3)
    )
    assert len(outcome.history) == 10
    assert sum(fault.party == 3 for fault in mail.faults) >= 3
    with pytest.raises(RunError, match=r"0 parties are left.*Parties 0, 1, 2, 3, 4 did not answer"):
        run("asyn-sd", XS, transport=lambda seats: Unreliable(InProcess(seats), lambda letter: letter.kind == "round"))


@pytest.mark.parametrize(
    "lie", ["has another shape", "has NaN", "is negative", "says more than declared", "is of another precision"]
)
def test_an_asynchronous_server_folds_in_nothing_that_was_not_declared(lie):
    """Party 2 lies once: it is named and asked again at once, and of what it said nothing is used, as if it had said nothing."""
    change, sentence = LIES[lie]
    outcome, _, mail = run("asyn-sd", XS, rounds=4, transport=lambda seats: Tampering(seats, only(2, 2, change)))
    nothing = LIES["says less"][0]
    mute, *_ = run("asyn-sd", XS, rounds=4, transport=lambda seats: Tampering(seats, only(2, 2, nothing)))
    assert [(fault.party, fault.t) for fault in mail.faults] == [(2, 2)]
    assert sentence in mail.faults[0].sentence
    assert outcome.history[-1].t == 4
    np.testing.assert_array_equal(outcome.public["H"], mute.public["H"])


def test_asynchronous_parties_that_are_away_for_a_round_come_back():
    """They are noted, and heard again: in the simulation of `partwise federate simulate`."""
    found = federate([as_matrix(X) for X in XS], Wishes(3, "asyn-sd", rounds=20, dropout=0.2))
    assert found.history[-1].t == 20
    away = Counter(fault.party for fault in found.faults)
    assert 8 < away.total() < 40, "of a hundred and some letters a fifth"
    assert set(away) == set(range(5))
    rounds = {
        entry.sender: entry.t for entry in found.transcript.entries if entry.sender >= 0 and entry.kind == "round"
    }
    assert min(rounds.values()) > 10, "nobody is lost for good"


@pytest.mark.parametrize("blob", [b"", b"x" * 40, b"\xff" * 200, encode(Letter("s", "round", 1, 0, {}))[:-2]])
def test_bytes_that_are_no_letter(blob):
    with pytest.raises(RunError, match="no letter"):
        decode(blob)


def test_letters_survive_the_wire():
    arrays = {
        "H": np.arange(6.0).reshape(2, 3),
        "n": np.array(3.5),
        "none": np.zeros((0, 4), np.uint8),
        "b": np.array([True]),
    }
    back = decode(encode(Letter("s", "round", 7, 2, arrays, "word")))
    assert back[:4] == ("s", "round", 7, 2)
    assert back.word == "word"
    for name, array in arrays.items():
        assert (back.arrays[name].dtype, back.arrays[name].shape) == (array.dtype, array.shape)
        np.testing.assert_array_equal(back.arrays[name], array)
