"""Where methods become one another."""

from __future__ import annotations

import numpy as np
import pytest

from federated.parties import run, shards
from partwise.algorithms.federated.sketching import ROOM, Local
from partwise.algorithms.federated.study import Study, fitted_W
from partwise.data import as_matrix
from partwise.drivers.transports.clocked import Clocked, Speeds
from partwise.drivers.transports.in_process import InProcess
from partwise.drivers.transports.unreliable import Unreliable
from partwise.sketches import KINDS
from partwise.updates import Hals

WHOLE = {"sketch": "subsample", "sketch_size": 1.0, "damping": (0.0, 0.0)}  # all samples, in another order: S Sᵀ = I


def test_one_party_alone_is_one_machine():
    """Syn-SD of one party is HALS on its data."""
    (X,) = shards(rows=(12,))
    outcome, *_ = run("syn-sd", [X], rounds=3, local_steps=4)
    held, H = as_matrix(X), Study(3, 11, 1, 3, sizes=(12,)).start()
    Wt = fitted_W(held, H)
    for _ in range(12):
        H, _ = Hals()(H, held.T.normal_eq(Wt, H), ())
        Wt, _ = Hals()(Wt, held.normal_eq(H, Wt), ())
    np.testing.assert_allclose(outcome.public["H"], H, rtol=1e-9)


def test_whole_samples_make_syn_ssd_v_syn_sd():
    sketched, *_ = run("syn-ssd-v", shards(), rounds=4, **WHOLE)
    plain, *_ = run("syn-sd", shards(), rounds=4)
    np.testing.assert_allclose(sketched.public["H"], plain.public["H"], rtol=1e-7, atol=1e-10)


@pytest.mark.parametrize("name", ["syn-ssd-u", "syn-ssd-uv"])
def test_whole_features_of_one_party_make_syn_ssd_u_syn_sd(name):
    """Of several, each W follows the mean of the H_p, which is what -U is for."""
    Xs = shards(rows=(12,))
    sketched, *_ = run(name, Xs, rounds=4, **WHOLE)
    plain, *_ = run("syn-sd", Xs, rounds=4)
    np.testing.assert_allclose(sketched.public["H"], plain.public["H"], rtol=1e-7, atol=1e-10)


def test_equal_speeds_and_shrinking_weights_make_a_round_of_asyn_sd_one_of_syn_sd():
    """ω⁰, ω¹, … = 1, 1/2, 1/3, …: the replies to one H are averaged."""
    Xs, even = shards(), Speeds((1.0,) * 4, by_rows=False)
    folded, *_ = run("asyn-sd", Xs, rounds=1, relaxation=1.0, transport=lambda seats: Clocked(seats, even))
    averaged, *_ = run("syn-sd", Xs, rounds=1)
    np.testing.assert_allclose(folded.public["H"], averaged.public["H"], rtol=1e-9, atol=1e-12)


def test_the_faster_party_is_heard_more_often():
    speeds = Speeds((4.0, 1.0, 1.0, 1.0), by_rows=False)
    _, _, mail = run("asyn-sd", shards(), rounds=7, transport=lambda seats: Clocked(seats, speeds))
    said = [entry.sender for entry in mail.transcript.entries if entry.kind == "round" and entry.sender >= 0]
    assert said.count(0) == 16
    assert {said.count(p) for p in (1, 2, 3)} == {4}


def test_missing_parties_do_not_spoil_the_error_of_the_others():
    """Whoever is missing for a round: the error is of those that replied, for the H that they were sent."""
    Xs = shards()
    lost = lambda letter: letter[1:4] == ("round", 3, 2)  # noqa: E731
    outcome, *_ = run("exact", Xs, rounds=3, transport=lambda seats: Unreliable(InProcess(seats), lost))
    before, *_ = run("exact", Xs, rounds=2)
    H = before.public["ahead"]
    rest = [X for p, X in enumerate(Xs) if p != 2]
    left = sum(np.linalg.norm(X - fitted_W(as_matrix(X), H).T @ H) ** 2 for X in rest)
    assert outcome.history[-1].error == pytest.approx(
        np.sqrt(left / sum(np.linalg.norm(X) ** 2 for X in rest)), rel=1e-6
    )


def test_a_party_missing_in_the_first_round_may_be_larger_than_all_others():
    """The secure sum has room for it."""
    Xs = shards()
    Xs[3] = 30 * Xs[3]
    lost = lambda letter: letter.t == 0 and letter.party == 3 and letter.kind in ("round", "masked")  # noqa: E731
    secure, _, mail = run(
        "exact", Xs, rounds=4, secure=True, transport=lambda seats: Unreliable(InProcess(seats), lost)
    )
    opened, *_ = run("exact", Xs, rounds=4, transport=lambda seats: Unreliable(InProcess(seats), lost))
    assert [point.parties for point in secure.history] == [3, 4, 4, 4, 4]
    assert len(mail.faults) == 1
    np.testing.assert_allclose(secure.public["H"], opened.public["H"], atol=1e-6)


def test_a_component_that_a_party_has_no_use_for_drives_nothing_to_infinity():
    X, Wt, H = as_matrix(np.ones((4, 6), np.float32)), np.full((2, 4), 1e-15, np.float32), np.ones((2, 6), np.float32)
    assert Local().move_H(X, Wt, H).max() <= ROOM * np.sqrt(2 * np.sqrt(24)) * (1 + 1e-6)
    nothing = as_matrix(np.zeros((4, 6), np.float32))
    np.testing.assert_array_equal(Local().move_H(nothing, np.zeros((2, 4), np.float32), H), H)


@pytest.mark.parametrize("kind", KINDS)
def test_no_entry_of_a_sketch_exceeds_what_the_secure_sum_makes_room_for(kind):
    for m, share in ((12, 0.5), (60, 0.1), (300, 0.9)):
        local = Local(kind, share)
        largest = max(np.abs(local.features(m, 3, t).apply(np.eye(m))).max() for t in range(1, 20))
        assert 0.05 * local.largest(m, 3) < largest <= local.largest(m, 3)
