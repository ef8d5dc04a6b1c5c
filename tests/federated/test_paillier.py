"""Sums under Paillier's encryption: those of the secure sum to the bit, read by nobody but the party that holds the key."""

import logging
import os
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from federated.parties import run, seated, shards
from federated.test_faults import Tampering
from partwise.currency import Field
from partwise.drivers import adding
from partwise.drivers.adding import EncryptedSum
from partwise.drivers.correspondence import Correspondence
from partwise.drivers.letters import Letter
from partwise.drivers.rounds import Terms, run_rounds
from partwise.drivers.safety import Safety
from partwise.drivers.transports.in_process import InProcess
from partwise.drivers.transports.unreliable import Unreliable
from partwise.drivers.vault import Vault
from partwise.errors import MissingExtraError, OptionError, RunError
from partwise.privacy import paillier
from partwise.privacy.plaintexts import Plaintexts
from partwise.privacy.secure_sum import Packing

XS = shards(rows=(4, 3, 5, 2), m=6)
BITS = 512  # keys that are made, and broken, in no time
SAFETY = Safety(4, only_sums=True, by="paillier", key_bits=BITS)
FLOAT64 = np.dtype(np.float64)


def encrypted(name="sfmf", safety=SAFETY, rounds=2, **more):
    return run(name, XS, k=2, rounds=rounds, safety=safety, secure=True, **more)


@pytest.mark.parametrize("name", ["sfmf", "exact", "syn-sd"])
def test_the_sum_is_that_of_the_secure_sum_to_the_bit(name):
    masks = run(name, XS, k=2, rounds=2, safety=Safety(4, only_sums=True), secure=True)[0]
    np.testing.assert_array_equal(encrypted(name)[0].public["H"], masks.public["H"])


def test_only_ciphertexts_go_up_and_all_their_bytes_are_counted():
    outcome, _, mail = encrypted()
    up = [entry for entry in mail.transcript.entries if entry.sender >= 0]
    assert {(entry.kind, entry.name) for entry in up} == {
        ("holder", "key"),
        ("encrypted", "encrypted"),
        ("opened", "sum"),
    }
    assert {entry.sender for entry in up if entry.kind != "encrypted"} == {0}
    numbers = 2 * 6 + 1
    ciphertexts = -(-numbers // ((BITS - 2) // 64))
    sizes = {entry.bytes for entry in up if entry.kind == "encrypted" and entry.t > 0}
    assert sizes == {ciphertexts * 2 * BITS // 8}
    words = 8 * numbers
    assert outcome.history[-1].bytes_up == 4 * ciphertexts * 2 * BITS // 8 + words
    digests = [entry.digest for entry in up if entry.kind == "encrypted"]
    assert len(set(digests)) == len(digests)
    assert mail.faults == []


def test_the_same_number_is_never_encrypted_alike_and_sums_are_sums():
    secret, public = paillier.new_keys(BITS)
    sealer = paillier.Sealer(public)
    one, other = sealer.encrypt([-7, 5]), sealer.encrypt([-7, 5])
    assert not np.array_equal(one, other)
    assert one.shape == (2, BITS // 4)
    assert paillier.decrypt(secret, sealer.add([one, other, sealer.encrypt([1, 0])])) == [-13, 10]


@given(st.integers(0, 2**32), st.sampled_from([32, 64]), st.integers(3, 9), st.sampled_from([300, 512, 2048]))
@settings(max_examples=30, deadline=None)
def test_plaintexts_add_up_to_what_residues_add_up_to(seed, word, parties, key):
    rng = np.random.default_rng(seed)
    fields = {"a": Field((3, 2), FLOAT64), "w": Field((), FLOAT64), "z": Field((4,), FLOAT64)}
    packing = Packing(fields, {"a": 2.0, "w": np.inf, "z": 1e-3}, parties, word)
    plain = Plaintexts(packing, key)
    sums, residues = [0] * plain.count, np.zeros(packing.size, np.uint8)
    for p in range(parties):
        wide = np.array((-1.0) ** p * 10 ** rng.uniform(-300, 300))
        said = {"a": rng.uniform(-2, 2, (3, 2)), "w": wide, "z": np.full(4, 1e-3 * (-1) ** (p // 2))}
        numbers = plain.numbers(said, os.urandom)
        assert max(abs(number) for number in numbers) * parties < 2 ** (key - 2), "sums have room, with their signs"
        sums = [a + b for a, b in zip(sums, numbers, strict=True)]
        packing.add(residues, packing.pack(said))
    np.testing.assert_array_equal(plain.packed(sums), residues)


def test_the_same_sum_of_other_parts_decrypts_alike():
    """Not even how many parties said something negative is seen by the holder."""
    plain = Plaintexts(Packing({"a": Field((3,), FLOAT64)}, {"a": 1.0}, 3), BITS)

    def sums(*parts):
        numbers = [plain.numbers({"a": np.array(part)}, os.urandom) for part in parts]
        return [sum(column) for column in zip(*numbers, strict=True)]

    assert sums([0.5, -0.25, 1.0], [-0.5, 0.25, -1.0], [0.0, 0.0, 0.0]) == sums([0.0] * 3, [0.0] * 3, [0.0] * 3)


def test_what_is_carried_between_digits_of_a_wide_number_is_hidden():
    plain = Plaintexts(Packing({"w": Field((), FLOAT64)}, {"w": np.inf}, 3), BITS)
    low = [plain.numbers({"w": np.array(0.0)}, os.urandom)[0] for _ in range(50)]
    assert len({number >> plain.digit for number in low}) == 50
    assert {number % 2**plain.digit for number in low} == {0}, "what is below the digit is the number's own"


def test_a_number_out_of_range_is_refused():
    plain = Plaintexts(Packing({"a": Field((2,), FLOAT64)}, {"a": 1.0}, 3), BITS)
    with pytest.raises(RunError, match=r"size 1\.5 is to be summed"):
        plain.numbers({"a": np.array([0.5, -1.5])}, os.urandom)
    with pytest.raises(RunError, match="no sum of numbers in the range"):
        plain.packed([2 ** (BITS - 3)])
    with pytest.raises(OptionError, match="too short"):
        Plaintexts(plain.packing, 128)


def test_the_sum_is_of_those_that_did_not_vanish():
    def lost(letter):
        return letter.party == 2 and letter.kind in ("encrypted", "masked") and letter.t == 1

    outcome, _, mail = encrypted(transport=lambda seats: Unreliable(InProcess(seats), lost))
    masks = run("sfmf", XS, k=2, rounds=2, safety=Safety(4, only_sums=True), secure=True,
                transport=lambda seats: Unreliable(InProcess(seats), lost))[0]  # fmt: skip
    assert [point.parties for point in outcome.history] == [4, 3, 4]
    assert [fault.party for fault in mail.faults] == [2]
    np.testing.assert_array_equal(outcome.public["H"], masks.public["H"])


def test_without_the_holder_nothing_is_opened_and_the_study_goes_on_later(tmp_path):
    def lost(letter):
        return letter.kind == "opened" and letter.t == 2

    def study(transport):
        chosen, seats = seated("sfmf", XS, k=2, rounds=3, safety=SAFETY)
        for seat in seats:
            seat.vault = Vault("test", tmp_path / f"{seat.p}", durable=False)
        terms = Terms(3, gather=EncryptedSum(SAFETY), vault=Vault("test", tmp_path / "server", durable=False))
        return run_rounds(chosen, Correspondence("test", transport(seats)), terms)

    with pytest.raises(RunError, match=r"Party 0 alone can decrypt the sum of round 2.*Nothing is lost"):
        study(lambda seats: Unreliable(InProcess(seats), lost))
    np.testing.assert_array_equal(study(InProcess).public["H"], encrypted(rounds=3)[0].public["H"])


def test_what_is_no_ciphertext_is_left_out_and_its_party_named():
    def change(letter):
        if letter.kind == "encrypted" and (letter.party, letter.t) == (3, 1):
            return [letter._replace(arrays={"encrypted": np.zeros_like(letter.arrays["encrypted"])})]
        return [letter]

    outcome, _, mail = encrypted(transport=lambda seats: Tampering(seats, change))
    assert [(fault.party, "no ciphertexts" in fault.sentence) for fault in mail.faults] == [(3, True)]
    assert [point.parties for point in outcome.history] == [4, 3, 4]


@pytest.fixture
def after_a_round():
    """(seats, the letter by which the sum of round 1 was opened)"""
    letters = []

    class Watched(InProcess):
        def post(self, posted):
            letters.extend(posted)
            super().post(posted)

    _, seats, _ = encrypted(rounds=1, transport=Watched)
    return seats, next(letter for letter in letters if letter.kind == "opened" and letter.t == 1)


def test_the_holder_opens_one_sum_a_round_and_none_of_two(after_a_round):
    seats, letter = after_a_round
    assert seats[0].answer(letter).kind == "opened", "the same again, when the answer was lost"
    another = {**letter.arrays, "encrypted": letter.arrays["encrypted"][:, ::-1].copy()}
    assert "will not open another" in seats[0].answer(letter._replace(arrays=another)).word
    two = {**letter.arrays, "members": np.array([True, True, False, False])}
    assert "opens none of fewer than 3" in seats[0].answer(letter._replace(arrays=two)).word
    assert "has not said anything" in seats[0].answer(letter._replace(t=5)).word
    assert "only party 0 can do" in seats[1].answer(letter._replace(party=1)).word


def test_a_party_encrypts_under_the_key_of_its_study_alone(after_a_round):
    seats, _ = after_a_round
    reach = np.array([1.0, 1.0])
    asked = Letter("test", "encrypted", 2, 1, {"sum.key": paillier.new_keys(BITS)[1], "sum.reach": reach})
    assert "another key" in seats[1].answer(asked).word
    _, fresh = seated("sfmf", XS, k=2, safety=SAFETY)
    weak = asked._replace(t=0, arrays={"sum.key": paillier.new_keys(256)[1], "sum.reach": np.array([np.inf])})
    assert "a key of 256 bits; the study has 512" in fresh[1].answer(weak).word


@pytest.mark.parametrize(("by", "kind"), [("paillier", "masked"), ("masks", "encrypted"), ("paillier", "round")])
def test_a_party_says_nothing_in_another_way_than_was_agreed(by, kind):
    _, seats = seated("sfmf", XS, k=2, safety=Safety(4, only_sums=True, by=by, key_bits=BITS))
    answer = seats[1].answer(Letter("test", kind, 0, 1, {}))
    assert answer.kind == "failed"
    assert not answer.arrays


def test_sums_of_two_and_methods_that_must_be_seen_are_refused():
    with pytest.raises(OptionError, match="3 parties at least"):
        EncryptedSum(Safety(2, only_sums=True, by="paillier"))
    with pytest.raises(OptionError, match="cannot have sums only"):
        encrypted("fedavg")


def test_too_few_that_answer_are_no_sum():
    with pytest.raises(RunError, match=r"2 are left; this sum needs 3 at least.*did not answer"):
        encrypted(transport=lambda seats: Unreliable(InProcess(seats), lambda one: one.party > 1))
    with pytest.raises(RunError, match="makes the keys of this study, and gave none"):
        encrypted(transport=lambda seats: Unreliable(InProcess(seats), lambda one: one.party == 0))


def test_what_it_will_take_is_told_before_anybody_waits(monkeypatch, caplog):
    monkeypatch.setattr(adding, "LONG", 0.0)
    with caplog.at_level(logging.WARNING, "partwise"):
        encrypted()
    assert len(caplog.records) == 1
    assert "4 parties encrypt 2 ciphertexts of 128 bytes" in caplog.messages[0]
    assert "with 2 rounds to go" in caplog.messages[0]


def test_without_the_library_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "phe", None)
    with pytest.raises(MissingExtraError, match=r"phe.*partwise\[paillier\]"):
        encrypted()
