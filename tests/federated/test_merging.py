"""Methods that merge what parties send: laws that all keep, limits in which they are each other, and what leaves a party."""

from __future__ import annotations

import numpy as np
import pytest

from federated.parties import run, shards
from partwise.algorithms.federated.averaging import own_start
from partwise.algorithms.federated.local import LOCAL_SOLVERS, Local
from partwise.algorithms.federated.methods import method
from partwise.algorithms.federated.study import Study, fitted_W
from partwise.consensus.align import ALIGNMENTS
from partwise.consensus.barycenters import BARYCENTERS
from partwise.currency import Reply
from partwise.data import as_matrix
from partwise.drivers.rounds import Terms
from partwise.errors import OptionError
from partwise.updates.gradient import simplex

FALLING = [
    "fedavg",
    "fedprox",
    "fnmf",
    "fedmavg",
    "sfmf",
]  # their error falls over rounds on parties that share their parts


def errors(outcome):
    return [point.error for point in outcome.history if not np.isnan(point.error)]


def test_sfmf_needs_the_sum_alone():
    opened, *_ = run("sfmf", shards(), rounds=6)
    summed, _, mail = run("sfmf", shards(), rounds=6, secure=True)
    np.testing.assert_allclose(summed.public["H"], opened.public["H"], atol=1e-6)
    assert not any(entry.name in ("gradient", "curvature") for entry in mail.transcript.entries)


def test_sfmf_stays_within_the_range_it_promises():
    """However wild the start: after a level, no gradient exceeds 2 ‖X‖², no curvature 4 ‖X‖²."""
    rng = np.random.default_rng(0)
    X = as_matrix(rng.random((9, 11)))
    sfmf = method("sfmf", Study(3, 11, 1), {})
    H = sfmf.opening()["H"]
    for scale in (0.0, 1e-6, 1.0, 1e6):
        private = {"Wt": scale * rng.random((3, 9))}
        _, said = sfmf.party(X, private, {"H": H, "lengths": np.ones(3)}, 1, 0)
        bound = sfmf.reach({"bound": np.array(X.sq_norm())}, 1)
        assert np.abs(said["gradient"]).max() <= bound["gradient"]
        assert said["curvature"] <= bound["curvature"]


def test_one_party_alone_is_one_machine():
    """FedAvg of one party and one local step is projected gradient on one machine: inertia begins anew each round."""
    (X,) = shards(rows=(12,))
    outcome, *_ = run("fedavg", [X], rounds=8, local_steps=1)
    study, held = Study(3, 11, 1, 8, sizes=(12,)), as_matrix(X)
    H, update = study.start(), LOCAL_SOLVERS["pgd"]
    Wt = fitted_W(held, H)
    for _ in range(8):
        Wt, _ = update(Wt, held.normal_eq(H, Wt), ())
        H, _ = update(H, held.T.normal_eq(Wt, H), ())
    np.testing.assert_allclose(outcome.public["H"], H, rtol=1e-9)


def test_fedprox_without_proximity_is_fedavg_bit_for_bit():
    prox, *_ = run("fedprox", shards(), proximity=0)
    avg, *_ = run("fedavg", shards())
    np.testing.assert_array_equal(prox.public["H"], avg.public["H"])


def test_endless_proximity_keeps_parties_where_the_server_is():
    prox, *_ = run("fedprox", shards(), rounds=2, proximity=1e9)
    start = Study(3, 11, 4, sizes=(9, 5, 12, 7)).start()
    np.testing.assert_allclose(prox.public["H"], start, rtol=1e-6)


def test_fnmf_without_proximity_and_with_the_mean_is_fedavg():
    fnmf, *_ = run("fnmf", shards(), proximity=0, barycenter="mean", own_order=False)
    avg, *_ = run("fedavg", shards())
    np.testing.assert_array_equal(fnmf.public["H"], avg.public["H"])


@pytest.mark.parametrize("name", FALLING)
def test_identical_parties_do_not_drift(name):
    X = shards(rows=(9,))[0]
    together, *_ = run(name, [X, X, X], rounds=3)
    alone, *_ = run(name, [X], rounds=3)
    np.testing.assert_allclose(together.public["H"], alone.public["H"], rtol=1e-6, atol=1e-9)
    sent = [point.drift for point in together.history[:1] if not np.isnan(point.drift)]
    assert all(drift < 1e-9 for drift in sent) or name == "fedmavg"  # which is projected after it was averaged


@pytest.mark.parametrize("alignment", ALIGNMENTS)
@pytest.mark.parametrize("barycenter", BARYCENTERS)
def test_every_alignment_goes_with_every_barycenter(alignment, barycenter):
    outcome, *_ = run("fnmf", shards(m=30), rounds=3, alignment=alignment, barycenter=barycenter, own_starts=True)
    found = errors(outcome)
    assert np.isfinite(outcome.public["H"]).all()
    assert found[-1] < 0.9


def test_alignment_repairs_what_averaging_spoils_when_parties_start_apart():
    Xs = shards(rows=(40, 40, 40, 40), m=30, k=5)
    apart = {"rounds": 1, "own_starts": True, "local_steps": 200, "k": 5}
    aligned, *_ = run("fnmf", Xs, proximity=0, **apart)
    averaged, *_ = run("fedavg", Xs, **apart)
    assert errors(aligned)[-1] < 0.6 * errors(averaged)[-1]


def test_a_party_in_another_order_says_the_same_in_its_own_order():
    """`own_order`: where a party's components lie is its own affair."""
    X, order = as_matrix(shards()[0]), np.array([2, 0, 1])
    fnmf = method("fnmf", Study(3, 11, 2), {"local_steps": 3})
    private, down = fnmf.begin(X, 0), {"H": fnmf.opening()["H"]}
    moved = {name: part[order] for name, part in private.items()}
    _, said = fnmf.party(X, private, down, 2, 0)
    _, other = fnmf.party(X, moved, down, 2, 0)
    np.testing.assert_allclose(other["H"], said["H"][order], rtol=1e-9)


def test_personal_components_stay_with_the_party():
    rng = np.random.default_rng(2)
    H = rng.gamma(0.3, 1, (4, 200))
    Xs = [rng.gamma(0.5, 1, (30, 4)) @ H for _ in range(3)]
    Xs[2] = rng.gamma(0.5, 1, (30, 4)) @ np.vstack([H[:3], rng.gamma(0.3, 1, (1, 200))])  # one component is its own
    _, seats, _ = run("fnmf", Xs, k=4, rounds=6, alignment="lap-rho", local_steps=30, proximity=0.3,
                      alignment_options={"floor": 0.7}, own_starts=True)  # fmt: skip
    kept = [seat.finished() for seat in seats]
    assert all(set(party) == {"Wt", "H", "Wt_own"} for party in kept)
    own = np.linalg.norm(Xs[2] - kept[2]["Wt_own"].T @ kept[2]["H"]) / np.linalg.norm(Xs[2])
    assert own < 0.2


# FedMAvg


def fedmavg(parties=3, **options):
    return method("fedmavg", Study(3, 11, parties, sizes=(5,) * parties), options)


def test_all_drawn_once_is_the_plain_average():
    one = fedmavg(participation=3)
    t = next(t for t in range(1, 200) if (one.drawn(t) == 1).all())
    parts = np.random.default_rng(0).random((3, 3, 11))
    replies = [Reply((p,), {"H": part}) for p, part in enumerate(parts)]
    np.testing.assert_allclose(one.server(one.opening(), replies, t)["H"], parts.mean(axis=0))
    np.testing.assert_allclose(fedmavg().server(one.opening(), replies, t)["H"], parts.mean(axis=0))


def test_parties_are_drawn_with_replacement_by_size():
    one = method("fedmavg", Study(3, 11, 3, sizes=(10, 30, 60)), {"participation": 4})
    drawn = np.array([one.drawn(t) for t in range(1, 4001)])
    assert (drawn.sum(axis=1) == 4).all()
    assert drawn.max() == 4
    np.testing.assert_allclose(drawn.mean(axis=0), [0.4, 1.2, 2.4], atol=4.5 * np.sqrt(4 * 0.25 / 4000))


def test_only_parties_that_are_drawn_say_anything():
    outcome, _, mail = run("fedmavg", shards(), rounds=6, participation=2, terms=Terms(6))
    one = method("fedmavg", Study(3, 11, 4, 6, sizes=(9, 5, 12, 7)), {"participation": 2})
    heard = {
        (entry.t, entry.sender) for entry in mail.transcript.entries if entry.sender >= 0 and entry.kind == "round"
    }
    assert heard == {(t, p) for t in range(1, 7) for p in np.flatnonzero(one.drawn(t))}
    assert [point.parties for point in outcome.history] == [np.count_nonzero(one.drawn(t)) for t in range(1, 7)]


def test_constraint_sets_hold():
    outcome, seats, _ = run("fedmavg", shards(), rounds=3, project_H="ball", project_W="simplex")
    assert (np.linalg.norm(outcome.public["H"], axis=1) <= 1 + 1e-9).all()
    np.testing.assert_allclose(seats[0].private()["Wt"].sum(axis=0), 1)
    np.testing.assert_allclose(seats[0].private()["Wt"], simplex(seats[0].private()["Wt"]), atol=1e-12)


# what is asked for wrongly


@pytest.mark.parametrize(
    ("name", "options", "match"),
    [
        ("fnmf", {"alignment": "hungarian"}, "lap, lap-rho, sinkhorn"),
        ("fnmf", {"barycenter": "median"}, "fixed-point, kmeans"),
        ("fnmf", {"alignment_options": {"temperature": 1}}, "does not know temperature"),
        ("fnmf", {"proximity": -1}, "≥ 0"),
        ("fedavg", {"local_solver": "sgd"}, "ipalm"),
        ("fedavg", {"local_steps": 0}, "positive whole"),
        ("fedavg", {"proximity": 1.0}, "its options are"),
        ("fedmavg", {"participation": 0}, "positive whole"),
        ("fedmavg", {"w_margin": 1.0}, "above 1"),
        ("fedmavg", {"project_H": "cube"}, "orthant, simplex, ball"),
    ],
)
def test_unknown_wishes_are_refused(name, options, match):
    with pytest.raises(OptionError, match=match):
        method(name, Study(3, 11, 2), options)


def test_own_starts_differ_and_the_common_one_does_not():
    fedavg = method("fedavg", Study(3, 11, 2), {"own_starts": True})
    assert not np.allclose(own_start(fedavg, 0), own_start(fedavg, 1))
    assert isinstance(fedavg.local, Local)
