"""Parties as ranks: what is wrong is a sentence on all of them, and a study goes on. On MPI: tests/federated/test_mpi.py."""

import numpy as np
import pytest

from federated.parties import shards
from partwise import federate_on_ranks
from partwise.comm import simulate
from partwise.data import as_matrix
from partwise.errors import DataError, OptionError, RunError
from partwise.estimators.federate import federate
from partwise.estimators.study_wishes import Wishes

XS = shards(rows=(9, 5, 12))


def ranks(Xs=(None, *XS), **wishes):
    """What each rank has in the end."""
    return simulate(
        lambda comm: federate_on_ranks(Xs[comm.rank], 3, comm=comm, **{"rounds": 3, **wishes}), len(Xs)
    ).results


def here(**wishes):
    return federate([as_matrix(X) for X in XS], Wishes(3, **{"rounds": 3, **wishes}))


@pytest.mark.parametrize(
    "wishes", [{}, {"method": "fnmf", "options": {"alignment": "lap-rho"}}, {"secure_sum": True}], ids=str
)
def test_ranks_have_what_one_process_has(wishes):
    seen, whole = ranks(**wishes), here(**wishes)
    same = {"atol": 1e-9} if wishes.get("secure_sum") else {"atol": 0, "rtol": 0}
    for p, rank in enumerate(seen):
        np.testing.assert_allclose(rank.H, whole.H, **same)
        assert (rank.server is None) == (p > 0)
        if p > 0:
            np.testing.assert_allclose(rank.W, whole.Ws[p - 1], rtol=1e-9, atol=1e-9)
        if p > 0 and whole.own is not None:
            np.testing.assert_array_equal(rank.own[1], whole.own[p - 1][1])
    assert len(seen[0].server.outcome.history) == len(whole.history)
    assert seen[0].server.faults == []


def test_private_studies_have_a_ledger_on_rank_0_and_at_every_party(tmp_path):
    promise = {"epsilon": 2.0, "delta": 1e-4}
    seen = ranks(privacy=promise, rounds=None, folder=tmp_path)
    assert seen[0].server.ledger.epsilon <= 2.0
    assert sorted(path.parent.name for path in tmp_path.rglob("ledger.jsonl")) == [
        *("party-0000", "party-0001", "party-0002"), tmp_path.name,
    ]  # fmt: skip


def test_a_study_goes_on_from_what_every_rank_kept(tmp_path):
    ranks(folder=tmp_path, rounds=2)
    gone_on = ranks(folder=tmp_path, rounds=5)
    np.testing.assert_array_equal(gone_on[0].H, ranks(rounds=5)[0].H)
    assert [point.t for point in gone_on[0].server.outcome.history] == [0, 1, 2, 3, 4, 5]


@pytest.mark.parametrize(
    ("Xs", "wishes", "kind", "match"),
    [
        ((XS[0], *XS), {}, OptionError, "rank 0 of 4: Rank 0 is the server and brings no data"),
        ((None, XS[0], None, XS[1]), {}, OptionError, "rank 2 of 4: .*every other rank is a party"),
        ((None, XS[0], -XS[1]), {}, DataError, "rank 2 of 3: .*negative entries"),
        ((None, XS[0], XS[1][:, :7]), {}, DataError, "The parties have 11, 7 features"),
        ((None, XS[0], XS[1].astype(np.float32)), {}, DataError, "have 8, 4 bytes in a number"),
        ((None,), {}, OptionError, "one for the server and one for each party"),
        ((None, *XS[:2]), {"secure_sum": True}, OptionError, "3 parties at least"),
        ((None, *XS), {"method": "fnmf", "secure_sum": True}, OptionError, "cannot have secure_sum"),
        ((None, *XS), {"dropout": 0.1}, OptionError, "does not know dropout"),
    ],
)
def test_what_is_wrong_is_said_on_all_ranks(Xs, wishes, kind, match):
    with pytest.raises(kind, match=match):
        ranks(Xs, **wishes)


def test_ranks_that_wish_differently_are_told_so():
    def differing(comm):
        return federate_on_ranks(None if comm.rank == 0 else XS[comm.rank - 1], 3, comm=comm, rounds=3 + comm.rank)

    with pytest.raises(RunError, match="do not agree: rounds is 4 here and 3 on rank 0"):
        simulate(differing, 4)
