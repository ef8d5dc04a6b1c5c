"""Private studies between parties: what one unit may move, what leaves, whose noise it is, what a party does whatever it is asked."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from partwise import FederatedNMF
from partwise.algorithms.private.methods import METHODS
from partwise.algorithms.private.methods import method as private_method
from partwise.algorithms.private.query import Knowledge
from partwise.currency import Reply
from partwise.data import as_matrix
from partwise.drivers.letters import Letter, decode, encode
from partwise.drivers.seat import Seat
from partwise.drivers.vault import Kept, Vault
from partwise.errors import OptionError, RunError
from partwise.estimators.federate import federate
from partwise.estimators.privacy_wishes import Privacy
from partwise.estimators.study_wishes import Wishes
from partwise.privacy.checking import check
from partwise.privacy.mechanisms import LatticeGaussian
from partwise.privacy.noise import noise_source
from partwise.privacy.sharing import NoiseShares

SIZES = (40, 25, 60, 30, 45)
M, K = 9, 3
TERMS = {"epsilon": 2.0, "delta": 1e-5}
PARTY = {"epsilon": 8.0, "delta": 1e-2, "unit": "party"}
CASES = [
    ("exact", TERMS | {"statistics": "moments"}),
    ("exact", TERMS | {"statistics": "residual"}),
    ("exact", TERMS | {"statistics": "plain", "secure_sum": False}),
    ("exact", TERMS | {"statistics": "ppnmf"}),
    ("exact", TERMS | {"neighbours": "add-remove", "n_records": 200}),
    ("exact", PARTY | {"statistics": "residual"}),
    ("exact", PARTY | {"statistics": "moments", "secure_sum": False}),
    ("fedavg", PARTY),
    ("fedprox", PARTY | {"neighbours": "add-remove"}),
    ("fnmf", PARTY | {"secure_sum": False}),
    ("fedavg", TERMS | {"secure_sum": False}),
    ("fedprox", TERMS | {"secure_sum": False}),
    ("fnmf", TERMS | {"secure_sum": False}),
]

LOCAL = CASES[-3:]  # what is noised stays at the party, and what follows from it is said


def parties(seed=0, sizes=SIZES):
    rng = np.random.default_rng(seed)
    H = rng.gamma(0.3, 1, (K, M))
    return [rng.gamma(0.5, 1, (n, K)) @ H + 0.05 * rng.random((n, M)) for n in sizes]


def wishes(method="exact", privacy=None, **more):
    rounds = None if (privacy or {}).get("statistics") == "moments" else 3
    privacy = Privacy.of({"insecure_seed": 4, **(TERMS if privacy is None else privacy)})
    return Wishes(K, method, **{"rounds": rounds, "privacy": privacy, **more})


def study(method="exact", privacy=None, Xs=None, **more):
    return federate([as_matrix(X) for X in Xs or parties()], wishes(method, privacy, **more))


def agreed(method, privacy):
    return wishes(method, privacy).round_method((M, list(SIZES)), np.float64)


def test_every_private_method_is_tried_between_parties():
    tried = {said.get("statistics", "moments") for name, said in CASES if name == "exact"}
    assert tried | {"ppnmf-as-published"} == set(METHODS)


@pytest.mark.parametrize("name", METHODS)
def test_a_query_needs_no_more_than_it_says(name):
    """Parties are told `needs` and nothing else of what is public; the query is the same."""
    known = Knowledge(40, M, K, 2.0, seed=3)
    chosen, X = private_method(name, known, {} if name == "moments" else {"rounds": 3}), as_matrix(parties()[0])
    public = chosen.opening()
    for t in range(1, chosen.rounds + 1):
        told = {part: public[part] for part in chosen.needs(t)}
        assert {part: array.shape for part, array in told.items()} == dict(chosen.needs(t))
        query, again = chosen.query(public, t), chosen.query(told, t)
        assert query[:4] == again[:4]
        assert query.entries == chosen.entries(t)
        answer = query.answer(X)
        np.testing.assert_array_equal(answer, again.answer(X))
        public = chosen.learn(public, answer, 1e-6, t)


def units(unit, neighbours):
    """Pairs of data sets of party 1 that differ in one unit."""
    X, rng = parties()[1], np.random.default_rng(1)
    if unit == "party":
        yield X, rng.exponential(1, (70, M)) ** 3
        yield np.eye(M)[[0] * 25], np.eye(M)[[1] * 3]
        return
    for row in (np.eye(M)[0], 1e6 * np.eye(M)[1], np.zeros(M), rng.exponential(1, M) ** 4):
        changed = X.copy()
        changed[2] = row
        yield (X, changed) if neighbours == "replace" else (changed, np.delete(changed, 2, axis=0))


@pytest.mark.parametrize(("method", "privacy"), [case for case in CASES if case not in LOCAL])
def test_one_unit_moves_what_a_party_says_within_the_sensitivity_of_its_ledger(method, privacy):
    """The same noise twice (by the seed), so that what differs is what the unit did; in every round of a study."""
    chosen = agreed(method, privacy)
    ended = study(method, privacy)
    public = {**chosen.opening(), "H": ended.H, **({"clip": np.array(0.4)} if method == "exact" else {})}
    for t in range(1, chosen.rounds + 1):
        if method == "exact" and "basis" in chosen.asked.needs(t):
            r, _ = chosen.asked.needs(t)["basis"]
            public |= {"features": np.arange(M, dtype=float), "basis": np.eye(M)[:r], "shrink": np.full(r, 0.5)}
        down = chosen.down(public, t, 1)
        mechanism = chosen.release(down, t, 1).mechanism
        entries = mechanism.entries
        absent = chosen.shares.said(np.zeros(entries), mechanism, chosen.noise(t, 1))
        for pair in units(chosen.terms.unit, chosen.terms.neighbours):
            said = [chosen.party(as_matrix(X), chosen.begin(as_matrix(X), 1), down, t, 1)[1]["steps"] for X in pair]
            if chosen.terms.unit == "party" and chosen.terms.neighbours == "add-remove":
                said[1] = absent
            assert np.linalg.norm(said[0] - said[1]) * mechanism.step <= mechanism.sensitivity


@pytest.mark.parametrize("method", [name for name, _ in LOCAL])
def test_a_record_shows_in_nothing_but_noisy_statistics(method, monkeypatch):
    """With the noisy statistics held fast, what a party says is the same bits whatever its records are."""
    chosen = agreed(method, {"epsilon": 3000.0, "delta": 1e-5, "secure_sum": False})
    fixed = np.random.default_rng(0).random(1000)
    monkeypatch.setattr(LatticeGaussian, "release", lambda self, value, rng: (fixed[: len(value)], self.event))
    said = []
    for X in (parties()[1], parties(7)[1]):
        private, down = chosen.begin(as_matrix(X), 1), {"H": chosen.opening()["H"]}
        for t in (1, 2, 3):
            private, goes = chosen.party(as_matrix(X), private, down, t, 1)
        said.append(goes["H"])
    assert np.abs(said[0] - chosen.opening()["H"]).max() > 0.1
    np.testing.assert_array_equal(*said)


@pytest.mark.parametrize(("method", "privacy"), CASES)
def test_a_study_spends_its_budget_and_its_ledger_is_sound(method, privacy):
    ended = study(method, {**privacy, "insecure_seed": None})
    checked = check(ended.ledger.content, head=ended.ledger.head)
    assert checked.sound, checked.breaches
    assert 0.99 * privacy["epsilon"] < checked.epsilon_found <= privacy["epsilon"] * (1 + 1e-6)
    assert (ended.H >= 0).all()
    assert np.isfinite(ended.H).all()
    assert [W.shape for W in ended.Ws] == [(n, K) for n in SIZES]
    added = {entry["details"]["noise_added"].split(":")[0] for entry in checked.releases}
    secure = privacy.get("secure_sum", True)
    assert added == {"in shares through the secure sum" if secure else "local"}
    assert np.isnan(ended.relative_error)


@pytest.mark.parametrize(("method", "privacy"), CASES)
def test_what_leaves_a_party_is_what_is_declared_and_nothing_else(method, privacy):
    ended, chosen = study(method, privacy), agreed(method, privacy)
    up = [entry for entry in ended.transcript.entries if entry.sender >= 0]
    secure = privacy.get("secure_sum", True)
    kinds = {"keys", "roster", "masked", "shares"} if secure else {"round"}
    assert {entry.kind for entry in ended.transcript.entries} == {*kinds, "finish"}
    assert {entry.kind for entry in up} == kinds
    if not secure:
        for entry in up:
            declared = chosen.declare(entry.t, entry.sender).up
            assert entry.name in declared
            assert entry.shape == declared[entry.name].shape
    releases = len(list(ended.ledger.releases()))
    assert len({entry.t for entry in up if entry.kind in ("masked", "round")}) == releases == chosen.rounds


def test_a_sum_of_parties_is_the_curators_answer_on_the_lattice():
    """One rounding at each party, none after: the server has Σ round(v_p / g) and the noise, exactly."""
    shares, mechanism = NoiseShares(5, True), LatticeGaussian.of_strength(0.7, 0.01, 12)
    rng = np.random.default_rng(0)
    vectors = rng.normal(0, 1, (5, 12))
    said = sum(shares.said(v, mechanism, noise_source(1, 0, p)) for p, v in enumerate(vectors))
    noise = sum(mechanism.noise(noise_source(1, 0, p), shares.share) for p in range(5))
    np.testing.assert_array_equal(said - noise, sum(mechanism.snap(v) for v in vectors))
    np.testing.assert_allclose((said - noise) * mechanism.step, vectors.sum(axis=0), atol=5 * mechanism.step)


@pytest.mark.parametrize(("P", "dropouts", "colluders"), [(3, 0, 0), (5, 1, 1), (12, 3, 2)])
def test_those_that_stay_and_keep_quiet_have_added_the_noise_that_is_promised(P, dropouts, colluders):
    """Variance over 40,000 numbers: off by 3.5 % with probability below 1e-6; seeded."""
    shares, mechanism = NoiseShares(P, True, dropouts, colluders), LatticeGaussian.of_strength(1.0, 1.0, 40_000)
    zero = np.zeros(40_000)
    honest = P - dropouts - colluders
    noise = [shares.said(zero, mechanism, noise_source(2, 0, p)) * mechanism.step for p in range(P - dropouts)]
    assert np.var(sum(noise[:honest])) == pytest.approx(mechanism.scale**2, rel=0.035)
    assert np.std(sum(noise)) == pytest.approx(shares.scale(mechanism, P - dropouts), rel=0.0175)
    local = NoiseShares(P, False)
    assert np.std(local.said(zero, mechanism, noise_source(2, 0, 0))) * mechanism.step == pytest.approx(1.0, rel=0.02)
    assert local.scale(mechanism, P) == mechanism.scale * P**0.5


@pytest.mark.parametrize("privacy", [said for name, said in CASES if name == "exact" and "unit" not in said])
def test_the_server_hears_what_a_curator_of_all_records_would_hear(privacy):
    """But for the noise, and one rounding at each party."""
    chosen, Xs = agreed("exact", privacy), parties()
    public = chosen.opening()
    for t in range(1, chosen.rounds + 1):
        query, mechanism = chosen.asked.query(public, t), chosen.release(public, t, 0).mechanism
        replies = [Reply((p,), chosen.party(as_matrix(X), {}, public, t, p)[1]) for p, X in enumerate(Xs)]
        noise = [mechanism.noise(chosen.noise(t, p), chosen.shares.share) for p in range(len(Xs))]
        heard = sum(reply.arrays["steps"] for reply in replies) - sum(noise)
        pooled = query.answer(as_matrix(np.concatenate(Xs)))
        np.testing.assert_allclose(heard * mechanism.step, pooled, atol=3 * mechanism.step)
        public = chosen.server(public, replies, t)


def test_the_noise_is_of_one_curator_under_the_secure_sum_and_root_P_without():
    said = [study("exact", TERMS | {"secure_sum": secure}).ledger for secure in (True, False)]
    scales = [next(entry["scale"] for entry in ledger.releases()) for ledger in said]
    assert scales[0] == scales[1]  # what is promised is the same …
    assert NoiseShares(5, True, colluders=0).scale(LatticeGaussian.of_strength(1, 1, 4), 5) == pytest.approx(
        1, rel=1e-2
    )
    assert NoiseShares(5, False).scale(LatticeGaussian.of_strength(1, 1, 4), 5) == pytest.approx(5**0.5, rel=1e-2)


def seat(folder=None, method="exact", privacy=None, p=0):
    chosen = wishes(method, privacy).round_method((M, list(SIZES)), np.float64)
    return chosen, Seat("s", chosen, as_matrix(parties()[p]), p, Vault("s", folder))


def ask(party, chosen, t, kind="round"):
    return party.answer(Letter("s", kind, t, party.p, chosen.down(chosen.opening(), t, party.p)))


def test_single_numbers_stay_single_on_a_wire_and_on_a_disk(tmp_path):
    """Clips are arrays of shape (): as vectors they would not be what a method declares."""
    one = {"clip": np.array(0.5), "H": np.ones((2, 3)).T}
    Vault("s", tmp_path).keep(Kept(1, {"public": one}))
    for held in (Vault("s", tmp_path).kept().groups["public"], decode(encode(Letter("s", "round", 1, 0, one))).arrays):
        assert {name: array.shape for name, array in held.items()} == {"clip": (), "H": (3, 2)}


PLAIN = TERMS | {"statistics": "plain", "secure_sum": False}


def test_a_party_stops_at_its_own_budget_whatever_the_server_asks():
    chosen, party = seat(privacy=PLAIN)
    said = [ask(party, chosen, t) for t in (1, 2, 3, 4)]
    assert [letter.kind for letter in said] == ["round", "round", "round", "failed"]
    assert "was not released: ε would rise" in said[3].word
    assert party.ledger.epsilon <= 2.0 + 1e-9


def test_a_round_that_is_asked_for_again_is_said_alike_and_paid_for_once(tmp_path):
    chosen, party = seat(tmp_path, privacy=PLAIN | {"insecure_seed": None})
    first = [ask(party, chosen, 1).arrays["steps"] for _ in range(2)]
    _, again = seat(tmp_path, privacy=PLAIN | {"insecure_seed": None})  # the party was started anew
    np.testing.assert_array_equal(first[0], first[1])
    np.testing.assert_array_equal(first[0], ask(again, chosen, 1).arrays["steps"])
    assert len(list(again.ledger.releases())) == 1


def test_a_party_never_tells_how_well_its_data_fit():
    chosen, party = seat(privacy=PLAIN)
    letter = party.answer(Letter("s", "measure", 1, 0, chosen.closing(chosen.opening(), 0)))
    assert letter.kind == "failed"
    assert "private study" in letter.word


def test_parties_may_vanish_as_far_as_the_noise_was_made_for_it():
    gone = {"dropouts": 2, "colluders": 1}
    ended = study("exact", TERMS | gone | {"statistics": "plain"}, dropout=0.3, seed=3, rounds=5)
    assert {3, 4} & {point.parties for point in ended.history}
    assert check(ended.ledger.content).accountant is not None
    with pytest.raises(RunError, match=r"sum needs 5 at least|too small|are left"):
        study("exact", TERMS | {"dropouts": 0}, dropout=0.5, seed=1)


def test_no_party_opens_a_sum_of_too_few_even_if_the_server_would():
    from federated.test_secure_sum import FIELDS, REACH, entropy, values
    from federated.test_secure_sum import parties as keyed
    from partwise.privacy.secure_sum import Packing, Ring, give_seeds, masked

    _, keys = keyed(5, Ring(5, fewest=4))
    packing, said = Packing(FIELDS, REACH, 5), values(5)
    opened, _ = masked(keys[0], 1, 1, range(5), packing, said[0], entropy(0))
    give_seeds(keys[0], opened, [4])
    with pytest.raises(RunError, match="4 in all"):
        give_seeds(keys[0], opened, [3, 4])


def test_a_study_that_was_interrupted_goes_on_and_pays_once(tmp_path):
    Xs = [as_matrix(X) for X in parties()]

    def stop(public, point):
        if point.t == 2:
            raise KeyboardInterrupt

    wished = wishes("exact", PLAIN | {"insecure_seed": None}, rounds=4)
    with pytest.raises(KeyboardInterrupt):
        federate(Xs, wished, folder=tmp_path, observers=[stop])
    ended = federate(Xs, wished, folder=tmp_path)
    checked = check((tmp_path / "ledger.jsonl").read_bytes(), head=ended.ledger.head)
    assert checked.sound
    assert [entry["round"] for entry in checked.releases] == [1, 2, 3, 4]
    own = check((tmp_path / "party-0000" / "ledger.jsonl").read_bytes())
    assert own.sound
    assert own.epsilon_said == checked.epsilon_said


def model(**more):
    return FederatedNMF(K, **{"privacy": TERMS, "random_state": 0, **more})


def test_the_estimator_says_what_was_spent_and_keeps_the_exact_error_to_itself():
    fitted = clone(model()).fit(parties())
    assert fitted.epsilon_spent_ == pytest.approx(2.0)
    for word in (
        "each record, of 200",
        "the server and 1 of the 5 parties",
        "in shares through the secure sum",
        "ε = 2",
    ):
        assert word in fitted.statement_
    for name in ("relative_error_", "reconstruction_err_", "rmsd_sum_"):
        assert not hasattr(fitted, name)
        with pytest.raises(AttributeError, match="no noise hides"):
            getattr(fitted, name)
    assert np.isnan([point.error for point in fitted.history_]).all()
    fitted.set_params(privacy=None).fit(parties())
    assert fitted.relative_error_ < 1
    assert not hasattr(fitted, "ledger_")


def test_sparse_single_precision_and_frames_are_parties_too():
    Xs = [X * (X > 0.3) for X in parties()]
    forms = [Xs[0].astype(np.float32), sp.csr_array(Xs[1]), *Xs[2:]]
    seeded = TERMS | {"insecure_seed": 1, "epsilon": 50.0}
    dense, mixed = (model(privacy=seeded).fit(data).components_ for data in (Xs, forms))
    np.testing.assert_allclose(mixed, dense, atol=1e-5)
    assert model(privacy=seeded).fit([X.astype(np.float32) for X in Xs]).components_.dtype == np.float64


def test_noise_is_new_each_time():
    a, b = (model().fit(parties()).components_ for _ in range(2))
    assert np.abs(a - b).max() > 1e-6


@pytest.mark.parametrize(
    ("wish", "privacy", "match"),
    [
        ({}, {"epsilon": 1.0}, "lacks delta"),
        ({}, TERMS | {"sigma": 3}, "does not know sigma"),
        ({}, 3, "expected a mapping"),
        ({}, TERMS | {"epsilon": 0}, "epsilon is 0"),
        ({}, TERMS | {"epsilon": "1"}, "expected a number"),
        ({}, TERMS | {"delta": 0.2}, "not below 1/n"),
        ({}, PARTY | {"delta": 0.5}, "not below 1/n"),
        ({}, TERMS | {"unit": "hospital"}, "expected 'record'"),
        ({}, TERMS | {"neighbours": "swap"}, "neighbours='swap'"),
        ({}, TERMS | {"neighbours": "add-remove"}, "give n_records"),
        ({}, TERMS | {"n_records": 7}, "must agree"),
        ({}, TERMS | {"dropouts": 4}, "too few are left"),
        ({}, TERMS | {"colluders": 5}, "too few are left"),
        ({}, TERMS | {"colluders": -1}, "colluders=-1"),
        ({}, TERMS | {"row_norm": float("inf")}, "without a bound"),
        ({}, TERMS | {"density": 2}, "density=2"),
        ({}, TERMS | {"statistics": "laplace"}, "is not known"),
        ({"method": "syn-sd"}, TERMS, "has no private form"),
        ({"method": "fedavg"}, TERMS, "give secure_sum=False"),
        ({"method": "fedavg"}, TERMS | {"secure_sum": False, "neighbours": "add-remove"}, "its own number of records"),
        ({"method": "fnmf"}, PARTY, "must see it"),
        ({"method": "fedavg", "method_options": {"own_starts": True}}, PARTY, "no common H"),
        ({"method": "fedavg"}, PARTY | {"clip": 0}, "clip=0"),
        ({"tol": 1e-4}, TERMS, "every record"),
        ({"secure_sum": True}, TERMS | {"secure_sum": False}, "say it once"),
        ({"compare_pooled": True}, TERMS, "exact error"),
    ],
)  # fmt: skip
def test_what_cannot_be_promised_is_refused_and_nothing_is_published(wish, privacy, match):
    refused = model(privacy=privacy, **wish)
    with pytest.raises(OptionError, match=match):
        refused.fit(parties())
    assert not hasattr(refused, "components_")


def test_two_parties_have_no_secure_sum():
    with pytest.raises(OptionError, match="3 parties at least"):
        model().fit(parties()[:2])
    assert model(privacy=TERMS | {"secure_sum": False}).fit(parties()[:2]).epsilon_spent_ > 0
