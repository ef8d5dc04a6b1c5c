"""Sketches of the data: the attack of Theorem 3, and the ledger that comes before it."""

import numpy as np
import pytest

from federated.parties import run, seated, shards
from partwise.currency import Disclosure
from partwise.drivers.correspondence import Correspondence
from partwise.drivers.rounds import Terms, one_by_one, run_rounds
from partwise.drivers.transports.in_process import InProcess
from partwise.errors import OptionError, RunError
from partwise.privacy.leakage import REFUSED, SHOWN, LeakLedger, LeakRefusedError

XS = shards(rows=(30, 24, 18), m=7)
TENTH = {"sketch_size": 0.1, "sketch": "gaussian"}  # of 72 rows: d = 7


def overheard(rounds, **options):
    """What party 0 said in each round."""
    method, seats = seated("modified-dsanls", XS, rounds=rounds, **options)
    mail, heard = Correspondence("test", InProcess(seats)), []

    def listening(*asked):
        replies = one_by_one(*asked)
        heard.append(replies[0].arrays["SX"])
        return replies

    run_rounds(method, mail, Terms(rounds, gather=listening))
    return method, heard


def recovered(method, heard):
    """X_0 as whoever heard it can tell: the equations of all rounds, solved."""
    rows = method.starts[1]
    equations = np.concatenate(
        [method._samples(t).apply(np.eye(method.starts[-1]))[:rows].T for t in range(1, len(heard) + 1)]
    )
    return np.linalg.lstsq(equations, np.concatenate(heard), rcond=None)[0]


def distance(X):
    return np.linalg.norm(X - XS[0]) / np.linalg.norm(XS[0])


def test_the_attack_of_theorem_3_recovers_the_data_when_the_ledger_is_overruled():
    needed = -(-30 // 7)
    assert distance(recovered(*overheard(needed - 1, allowance=1.0, **TENTH))) > 0.1
    assert distance(recovered(*overheard(needed, allowance=1.0, **TENTH))) < 1e-8


def test_the_ledger_refuses_before_anything_is_said_unless_told_otherwise():
    with pytest.raises(RunError, match="allowance is 0%"):
        run("modified-dsanls", XS, **TENTH)


def test_an_allowance_ends_the_study_before_it_is_exceeded():
    method, seats = seated("modified-dsanls", XS, allowance=0.5, **TENTH)
    mail = Correspondence("test", InProcess(seats))
    with pytest.raises(RunError, match="rank 14"):  # of 24 and of 18 rows that is more than half; of 30 it is not
        run_rounds(method, mail, Terms(9, least=3))
    ranks = [[entry["rank"] for entry in seat.leaks.entries if entry["kind"] == SHOWN] for seat in seats]
    assert ranks == [[7, 14], [7], [7]]
    assert all(seat.leaks.entries[-1]["kind"] == REFUSED for seat in seats[1:])


def test_the_same_sketch_again_adds_no_rank():
    outcome, seats, _ = run("modified-dsanls", XS, rounds=6, allowance=0.4, sketches=1, **TENTH)
    assert len(outcome.history) == 6
    assert seats[0].leaks.rank == 7
    method, heard = overheard(6, allowance=0.4, sketches=1, **TENTH)
    assert distance(recovered(method, heard)) > 0.1


def test_a_party_may_insist_on_a_ledger_of_its_own():
    method, seats = seated("modified-dsanls", XS, allowance=1.0, **TENTH)
    seats[1].leaks = LeakLedger(0.0)
    mail = Correspondence("test", InProcess(seats))
    run_rounds(method, mail, Terms(2))
    assert {fault.party for fault in mail.faults} == {1}
    assert all(entry.sender != 1 for entry in mail.transcript.entries if entry.name == "SX")


def test_subsampling_is_refused_whatever_the_allowance():
    with pytest.raises(OptionError, match="entries of the data as they are"):
        run("modified-dsanls", XS, sketch="subsample", allowance=1.0)
    ledger = LeakLedger(1.0)
    with pytest.raises(LeakRefusedError, match="entries of the data as they are"):
        ledger.show(Disclosure("subsample", "sketch 1", 1, 100), 1)


def test_the_ledger_goes_on_where_it_was_and_is_hash_chained(tmp_path):
    path = tmp_path / "leaks.jsonl"
    LeakLedger(0.3, path).show(Disclosure("count", "sketch 1", 20, 100), 1)
    again = LeakLedger(0.3, path)
    assert again.rank == 20
    with pytest.raises(LeakRefusedError, match="rank 40"):
        again.show(Disclosure("count", "sketch 2", 20, 100), 2)
    path.write_text(path.read_text().replace('"rank":20', '"rank":10'))
    with pytest.raises(RunError, match="changed after it was written"):
        LeakLedger(0.3, path)


@pytest.mark.parametrize("allowance", [-0.1, 1.5, True, "all", float("nan")])
def test_an_allowance_is_a_share(allowance):
    with pytest.raises(OptionError, match="allowance"):
        LeakLedger(allowance)


def test_a_party_without_published_sizes_is_told_so():
    from partwise.algorithms.federated.methods import method
    from partwise.algorithms.federated.study import Study

    with pytest.raises(OptionError, match="publish"):
        method("modified-dsanls", Study(3, 7, 3), {})
