"""What holds for every method between parties, crossed with the one list of them."""

from __future__ import annotations

from collections import deque

import numpy as np
import pytest
import scipy.sparse as sp

from federated.cases import CASES
from federated.parties import run, seated, shards
from partwise.algorithms.federated.study import fitted_W
from partwise.data import as_matrix
from partwise.drivers.arrivals import run_arrivals
from partwise.drivers.correspondence import Correspondence
from partwise.drivers.gathering import SecureSum
from partwise.drivers.rounds import Terms, run_rounds
from partwise.drivers.safety import Safety
from partwise.drivers.transports.in_process import InProcess
from partwise.drivers.vault import Vault
from partwise.errors import RunError

XS = shards(m=13)
ASYNCHRONOUS = {case.name for case in CASES if case.method.startswith("asyn")}
SYNCHRONOUS = [case for case in CASES if case.name not in ASYNCHRONOUS]
every = pytest.mark.parametrize("case", CASES, ids=str)
synchronous = pytest.mark.parametrize("case", SYNCHRONOUS, ids=str)


def once(case, Xs=XS, rounds=3, **how):
    return run(case.method, Xs, rounds=rounds, **how, **case.options)


class Backwards(InProcess):
    """Answers come in the reverse of the order in which they were asked for."""

    def next(self, seconds=None):
        if not self._answers:
            self._answers = deque(self._answer(letter) for letter in reversed(self._posted))
            self._posted.clear()
        return super().next(seconds)


@every
def test_factors_are_nonnegative_and_finite_and_W_is_the_best_for_H(case):
    outcome, seats, mail = once(case)
    H = outcome.public["H"]
    assert np.isfinite(H).all()
    assert (H >= 0).all()
    assert not mail.faults
    for X, seat in zip(XS, seats, strict=True):
        np.testing.assert_allclose(seat.finished()["Wt"], fitted_W(as_matrix(X), H), atol=1e-8)


@pytest.mark.parametrize("case", [case for case in CASES if case.falls], ids=str)
def test_the_error_falls(case):
    outcome, *_ = once(case, rounds=12)
    errors = [point.error for point in outcome.history if not np.isnan(point.error)]
    assert errors[-1] < 0.8 * errors[0]


@every
def test_a_seed_gives_the_same_bits_again_and_another_does_not(case):
    first, again, other = (once(case, seed=seed)[0].public["H"] for seed in (5, 5, 6))
    np.testing.assert_array_equal(first, again)
    assert not np.allclose(first, other)


@every
def test_sparse_data_give_what_dense_data_give(case):
    dense, stored = once(case)[0], once(case, [sp.csr_array(X) for X in XS])[0]
    np.testing.assert_allclose(stored.public["H"], dense.public["H"], rtol=1e-5, atol=1e-9)


@every
def test_single_precision_stays(case):
    chosen, seats = seated(case.method, [X.astype(np.float32) for X in XS], rounds=2, dtype=np.float32, **case.options)
    mail = Correspondence("test", InProcess(seats))
    outcome = (run_arrivals if chosen.asynchronous else run_rounds)(chosen, mail, Terms(2))
    assert outcome.public["H"].dtype == np.float32
    assert not mail.faults
    assert all(seat.finished()["Wt"].dtype == np.float32 for seat in seats)


@synchronous
def test_the_order_of_the_replies_changes_no_bit(case):
    in_turn, backwards = once(case)[0], once(case, transport=Backwards)[0]
    np.testing.assert_array_equal(in_turn.public["H"], backwards.public["H"])


@synchronous
def test_threads_change_no_bit(case):
    alone, together = once(case)[0], once(case, transport=lambda seats: InProcess(seats, threads=True))[0]
    np.testing.assert_array_equal(alone.public["H"], together.public["H"])


@every
def test_what_goes_is_what_the_method_declares_and_no_more(case):
    """Both ways, by name, shape and type, in every round; the bytes are those."""
    outcome, seats, mail = once(case, terms=Terms(3))
    method, went, size = seats[0].method, {}, {True: 0, False: 0}
    for entry in mail.transcript.entries:
        if entry.kind == "finish":
            assert (entry.name, entry.sender) == ("H", -1), "at the end everybody gets H, and says nothing"
            continue
        assert entry.kind == "round"
        up = entry.sender >= 0
        went.setdefault((entry.t, entry.sender if up else entry.receiver, up), {})[entry.name] = (
            entry.shape,
            entry.dtype,
        )
        size[up] += entry.bytes
    for (t, p, up), arrays in went.items():
        declared = method.declare(t, p)
        fields = declared.up if up else declared.down
        assert arrays == {name: (tuple(field.shape), np.dtype(field.dtype).str) for name, field in fields.items()}
    assert (size[True], size[False]) == tuple(
        sum(getattr(point, name) for point in outcome.history) for name in ("bytes_up", "bytes_down")
    )


@pytest.mark.parametrize("case", [case for case in CASES if seated(case.method, XS, **case.options)[0].sums], ids=str)
@pytest.mark.parametrize("level", [1.0, 1e-9, 0.0])
def test_under_a_secure_sum_the_result_is_the_same_and_nothing_that_a_party_says_is_seen(case, level):
    """At any level of the data, too: what may be said has a range that goes with them."""
    Xs = [level * X for X in XS]
    seen = once(case, Xs)[0]
    hidden, _, mail = once(case, Xs, safety=Safety(len(XS), only_sums=True), secure=True)
    np.testing.assert_allclose(hidden.public["H"], seen.public["H"], rtol=1e-6, atol=1e-9)
    up = {entry.name for entry in mail.transcript.entries if entry.sender >= 0}
    assert up == {"key", "confirmations", "masked", "sealed", "commitment", "shares"}
    assert not mail.faults


@every
def test_nothing_that_is_given_is_written_to(case):
    """Neither a party's data, nor a letter, nor what it kept."""
    kept = [X.copy() for X in XS]
    for X in kept:
        X.flags.writeable = False
    outcome, *_ = once(case, kept, transport=ReadOnly)
    np.testing.assert_array_equal(outcome.public["H"], once(case)[0].public["H"])


class ReadOnly(InProcess):
    """What goes can be read, not written to."""

    def _answer(self, letter):
        for array in letter.arrays.values():
            array.flags.writeable = False
        answer = super()._answer(letter)
        for array in answer.arrays.values():
            array.flags.writeable = False
        return answer


@synchronous
def test_interrupted_and_gone_on_with_is_never_interrupted(case, tmp_path):
    """The server stops after round 2, in the midst of asking for round 3; everybody begins anew from what was kept."""
    whole = once(case, rounds=4)[0]

    def part(rounds, broken):
        chosen, seats = seated(case.method, XS, rounds=4, **case.options)
        for seat in seats:
            seat.vault = Vault("test", tmp_path / f"{seat.p}")
        mail = Correspondence("test", Breaking(seats) if broken else InProcess(seats))
        return run_rounds(chosen, mail, Terms(rounds, measure_every=1, vault=Vault("test", tmp_path / "server")))

    with pytest.raises(RunError, match="the line is cut"):
        part(4, broken=True)
    gone_on = part(4, broken=False)
    np.testing.assert_array_equal(gone_on.public["H"], whole.public["H"])
    np.testing.assert_array_equal(  # (round 0 knows no error: NaN)
        [point.error for point in gone_on.history], [point.error for point in whole.history]
    )


def test_so_it_is_of_secure_sums_however_fast_the_rounds(tmp_path):
    """Some parties have uploaded when the server stops, and upload again, for a later attempt: once it was counted in seconds."""
    last, safety = 12, Safety(len(XS), only_sums=True)

    class Cut(InProcess):
        def _answer(self, letter):
            if (letter.kind, letter.t, letter.party) == ("masked", last, 2):
                raise RunError("the line is cut")
            return super()._answer(letter)

    def part(transport):
        chosen, seats = seated("exact", XS, rounds=last, safety=safety)
        for seat in seats:
            seat.vault = Vault("test", tmp_path / f"{seat.p}", durable=False)
        terms = Terms(last, gather=SecureSum(safety), vault=Vault("test", tmp_path / "server", durable=False))
        return run_rounds(chosen, Correspondence("test", transport(seats)), terms)

    with pytest.raises(RunError, match="the line is cut"):
        part(Cut)
    whole = run("exact", XS, rounds=last, safety=safety, secure=True)[0]
    np.testing.assert_array_equal(part(InProcess).public["H"], whole.public["H"])


class Breaking(InProcess):
    """Breaks when party 2 is asked for round 3, having heard the others (methods of one round: for round 1)."""

    def _answer(self, letter):
        seat = self.seats[letter.party]
        last = 1 if seat.method.study.rounds == 1 else 3
        if letter.kind == "round" and letter.party == 2 and letter.t >= (last - 1) * seat.method.exchanges + 1:
            raise RunError("the line is cut")
        return super()._answer(letter)
