"""The secure sum: each promise of docs/secure_sum.md, and what breaks if it is not kept."""

import itertools
import subprocess
import sys

import numpy as np
import pytest
from scipy import stats

from partwise.currency import Field
from partwise.errors import OptionError, RunError
from partwise.privacy.secure_sum import (
    Packing,
    Ring,
    Uploads,
    differing,
    give_seeds,
    give_shares,
    join,
    masked,
    new_keys,
    primitives,
    shamir,
    unmasked,
)
from partwise.privacy.secure_sum.party import Opened

FIELDS = {"a": Field((2, 3), np.float64), "b": Field((4,), np.float64), "size": Field((), np.float64)}
REACH = {"a": 50.0, "b": 2.0, "size": np.inf}


def entropy(seed):
    """Bytes that are the same in every run of the tests."""
    rng = np.random.default_rng(seed)
    return rng.bytes


def parties(P=5, ring=None, study="s", seed=0):
    """(ring, keys of every party)"""
    ring = ring or Ring(P)
    made = [new_keys(entropy([seed, p])) for p in range(P)]
    roster = np.array([np.frombuffer(public, np.uint8) for _, public in made])
    return ring, [join(study, p, ring, secret, roster) for p, (secret, _) in enumerate(made)]


def values(P, seed=0):
    rng = np.random.default_rng(seed)
    return [
        {"a": rng.uniform(-50, 50, (2, 3)), "b": rng.uniform(-2, 2, 4), "size": np.array(10.0 ** rng.uniform(-30, 30))}
        for _ in range(P)
    ]


def whole_round(P=5, gone_before=(), gone_after=(), silent=(), ring=None, t=3, bits=64, tamper=lambda *_: None, seed=0):
    """(what was summed, the sum): parties may vanish before uploading, after, or only before giving shares."""
    ring, keys = parties(P, ring)
    packing, said = Packing(FIELDS, REACH, P, bits), values(P, seed)
    everyone = range(P)
    uploaded = [p for p in everyone if p not in gone_before]
    opened, goes = {}, {}
    for p in uploaded:
        opened[p], goes[p] = masked(keys[p], t, 1, everyone, packing, said[p], entropy([9, seed, p]))
    tamper(goes, keys)
    uploads = Uploads(*({p: goes[p][name] for p in uploaded} for name in ("masked", "sealed", "commitment")))
    alive, seeds, gone = uploaded, {p: {} for p in uploaded}, sorted(gone_before)
    for leaving in (gone_after, ()):
        if gone:
            alive = [p for p in alive if p not in leaving]
            for p in alive:
                opened[p], rows = give_seeds(keys[p], opened[p], gone)
                near = [q for q in gone if q in keys[p].pairs]
                seeds[p] |= {q: row.tobytes() for q, row in zip(near, rows, strict=True)}
        gone = [p for p in leaving if p in uploaded]
    shares = {p: {} for p in alive}
    for p in alive:
        if p not in silent:
            opened[p], rows = give_shares(keys[p], opened[p], alive, uploads.sealed_for(ring, p, alive))
            owners = sorted({*ring.neighbours(p), p} & set(alive))
            for owner, row in zip(owners, rows, strict=True):
                shares[owner][p] = row.tobytes()
    total = unmasked(ring, packing, uploads, alive, {p: seeds[p] for p in alive}, shares)
    return {name: sum(said[p][name] for p in alive) for name in FIELDS}, total


def assert_sum(true, total, P=5, bits=64):
    step = {name: Packing(FIELDS, REACH, P, bits).lattices[name].step for name in ("a", "b")}
    for name, each in step.items():
        np.testing.assert_allclose(
            total[name], true[name], rtol=0, atol=P * each / 2 + 1e-13
        )  # the latter: rounding of the floats beside it
    assert total["size"] == pytest.approx(true["size"], rel=1e-15)


@pytest.mark.parametrize("bits", [32, 64])
def test_the_sum_is_the_sum(bits):
    assert_sum(*whole_round(bits=bits), bits=bits)


@pytest.mark.parametrize(
    ("before", "after", "silent"),
    [((1,), (), ()), ((), (), (0,)), ((), (), (0, 4)), ((0, 4), (), ()), ((2,), (3,), ()), ((2,), (), (0,))],
)
def test_parties_may_vanish_in_any_phase(before, after, silent):
    assert_sum(*whole_round(P=7, gone_before=before, gone_after=after, silent=silent), P=7)


def test_below_the_threshold_nothing_is_given():
    with pytest.raises(RunError, match="threshold is 4"):
        whole_round(P=7, gone_before=(0, 1, 2, 3))
    with pytest.raises(RunError, match="cannot be opened"):
        whole_round(P=7, silent=(0, 1, 2, 3))


def test_fewer_than_three_are_refused():
    with pytest.raises(OptionError, match="needs 3 parties"):
        Ring(2)


def test_thresholds_let_no_two_halves_open_two_sums():
    with pytest.raises(OptionError, match="more than half"):
        Ring(6, threshold=3)
    assert Ring(6).least == 4


def test_a_ring_of_neighbours_gives_the_sum_too():
    ring = Ring(20, degree=8, seed=3)
    assert all(p in ring.neighbours(q) for p in range(20) for q in ring.neighbours(p))
    assert_sum(*whole_round(P=20, ring=ring, gone_before=(3, 11), silent=(5,)), P=20)


def test_a_ring_that_falls_apart_is_not_summed():
    ring = Ring(12, degree=4, seed=0, threshold=3)
    order = [int(p) for p in ring._order]
    gone = {order[0], order[1], order[6], order[7]}  # two stretches, each as long as anyone reaches
    rest = sorted(set(range(12)) - gone)
    assert not ring.joined(rest)
    assert ring.joined([p for p in range(12) if p not in {order[0], order[1]}])
    with pytest.raises(RunError, match="fall into groups"):
        whole_round(P=12, ring=ring, gone_before=sorted(gone))


def test_joined_is_what_a_search_finds():
    rng = np.random.default_rng(0)
    for _ in range(200):
        ring = Ring(11, degree=4, seed=int(rng.integers(99)), threshold=3)
        members = sorted(map(int, rng.choice(11, rng.integers(3, 11), replace=False)))
        seen, fresh = {members[0]}, [members[0]]
        while fresh:
            fresh = [q for p in fresh for q in ring.neighbours(p) if q in members and q not in seen]
            seen.update(fresh)
        assert ring.joined(members) == (seen == set(members))


# What the server sees of one party. False alarms of the test of uniformity: one in a million (α = 1e-6), seeds being fixed it is
# the same in every run.
def test_one_upload_is_uniform_whatever_was_said():
    _, keys = parties(3)
    packing = Packing({"a": Field((64,), np.float64)}, {"a": 1.0}, 3)
    for said in (np.zeros(64), np.ones(64), np.full(64, -0.001)):
        uploads = [masked(keys[0], t, 1, range(3), packing, {"a": said}, entropy(t))[1]["masked"] for t in range(400)]
        counts = np.bincount(np.concatenate(uploads), minlength=256)
        assert stats.chisquare(counts).pvalue > 1e-6
        for byte in (
            0,
            7,
        ):  # the lowest and the highest of each word: a mask that is too short would show in one of them
            counts = np.bincount(np.concatenate([upload[byte::8] for upload in uploads]), minlength=256)
            assert stats.chisquare(counts).pvalue > 1e-6


def test_without_its_own_mask_or_without_the_others_an_upload_is_still_uniform():
    """All but one colluding with the server, and the late message: either half of the mask alone hides."""
    _, keys = parties(3)
    packing, said = Packing({"a": Field((64,), np.float64)}, {"a": 1.0}, 3), {"a": np.ones(64)}
    alone, paired = [], []
    for t in range(300):
        opened, goes = masked(keys[0], t, 1, range(3), packing, said, entropy(t))
        for left, secrets in ((alone, [(keys[0].seed(q, t, 1), -1) for q in (1, 2)]), (paired, [(opened.mask, -1)])):
            y = goes["masked"].copy()
            for secret, sign in secrets:
                from partwise.privacy.secure_sum.party import expand

                packing.add(y, expand(secret, packing.size), sign)
            left.append(y)
    for left in (alone, paired):
        assert stats.chisquare(np.bincount(np.concatenate(left), minlength=256)).pvalue > 1e-6


def test_the_chi_square_does_see_numbers_that_are_not_masked():
    packing = Packing({"a": Field((64,), np.float64)}, {"a": 1.0}, 3)
    y = np.concatenate([packing.pack({"a": np.full(64, -0.001)}) for _ in range(400)])
    assert stats.chisquare(np.bincount(y, minlength=256)).pvalue < 1e-6


def test_a_late_message_cannot_be_opened():
    """Whoever was given up has had its pair masks revealed; from then on nobody gives a share of its own mask, nor conversely."""
    _, keys = parties(5)
    packing, said = Packing(FIELDS, REACH, 5), values(5)
    opened, goes = zip(*(masked(keys[p], 1, 1, range(5), packing, said[p], entropy(p)) for p in range(5)), strict=True)
    state, _ = give_seeds(keys[0], opened[0], [4])
    uploads = Uploads(*({p: goes[p][name] for p in range(5)} for name in ("masked", "sealed", "commitment")))
    boxes = uploads.sealed_for(Ring(5), 0, range(5))
    with pytest.raises(RunError, match="not those that remained"):
        give_shares(keys[0], state, [0, 1, 2, 3, 4], boxes)
    with pytest.raises(RunError, match="not those that remained"):  # nor may somebody be left out quietly
        give_shares(keys[0], opened[0], [0, 1, 2, 3], boxes[:3])
    state, _ = give_shares(keys[0], opened[0], range(5), boxes)
    with pytest.raises(RunError, match="gave its shares of the masks"):
        give_seeds(keys[0], state, [4])


def test_shares_are_given_for_one_sum_only():
    _, keys = parties(5)
    packing, said = Packing(FIELDS, REACH, 5), values(5)
    opened, goes = zip(*(masked(keys[p], 1, 1, range(5), packing, said[p], entropy(p)) for p in range(5)), strict=True)
    uploads = Uploads(*({p: goes[p][name] for p in range(5)} for name in ("masked", "sealed", "commitment")))
    state, first = give_shares(keys[0], opened[0], range(5), uploads.sealed_for(Ring(5), 0, range(5)))
    _, again = give_shares(keys[0], state, range(5), uploads.sealed_for(Ring(5), 0, range(5)))
    np.testing.assert_array_equal(first, again)
    with pytest.raises(RunError, match="difference would show"):
        give_shares(keys[0], state, range(4), uploads.sealed_for(Ring(5), 0, range(4)))


def test_tampered_shares_do_not_open_and_are_not_needed_while_enough_are_left():
    def tamper(goes, keys):
        goes[2]["sealed"] = goes[2]["sealed"].copy()
        goes[2]["sealed"][0, 5] ^= 1  # for party 0

    with pytest.raises(RunError, match=r"party 2 sealed for party 0 .* cannot be opened"):
        whole_round(tamper=tamper)
    assert_sum(*whole_round(tamper=tamper, silent=(0,)))


def test_shares_of_another_round_do_not_open():
    """A replay: what was sealed in round 1 is no use in round 2."""
    _, keys = parties(3)
    packing, said = Packing(FIELDS, REACH, 3), values(3)
    old = [masked(keys[p], 1, 1, range(3), packing, said[p], entropy(p))[1] for p in range(3)]
    opened, _ = masked(keys[0], 2, 1, range(3), packing, said[0], entropy(7))
    uploads = Uploads(*({p: old[p][name] for p in range(3)} for name in ("masked", "sealed", "commitment")))
    with pytest.raises(RunError, match="cannot be opened"):
        give_shares(keys[0], opened, range(3), uploads.sealed_for(Ring(3), 0, range(3)))


def test_a_share_that_lies_is_noticed():
    ring, _ = parties(3)
    mask = shamir.random_element(entropy(0))
    shares = shamir.split(mask, [1, 2, 3], ring.least, entropy(1))
    commitment = {0: np.frombuffer(primitives.digest(mask), np.uint8)}
    from partwise.privacy.secure_sum.server import own_mask

    right = {q: shares[q + 1] for q in range(3)}
    assert own_mask(ring, Uploads({}, {}, commitment), 0, right, {}) == mask
    wrong = {**right, 1: shares[3]}
    with pytest.raises(RunError, match="do not fit together"):
        own_mask(ring, Uploads({}, {}, commitment), 0, wrong, {})


def test_keys_that_differ_are_found_before_anything_is_summed():
    ring = Ring(3)
    made = [new_keys(entropy(p)) for p in range(3)]
    roster = np.array([np.frombuffer(public, np.uint8) for _, public in made])
    changed = roster.copy()
    changed[1] = np.frombuffer(new_keys(entropy(99))[1], np.uint8)
    keys = [join("s", 0, ring, made[0][0], changed), *(join("s", p, ring, made[p][0], roster) for p in (1, 2))]
    assert differing(ring, {p: k.confirmations() for p, k in enumerate(keys)}) == [(0, 1)]
    others = join("other study", 0, ring, made[0][0], roster)
    assert differing(ring, {0: others.confirmations(), 1: keys[1].confirmations()}) == [(0, 1)]


def test_a_roster_is_looked_at_before_it_is_trusted():
    secret, public = new_keys(entropy(0))
    mine = np.frombuffer(public, np.uint8)
    other = np.frombuffer(new_keys(entropy(1))[1], np.uint8)
    third = np.frombuffer(new_keys(entropy(2))[1], np.uint8)
    ring = Ring(3)
    for roster, sentence in (
        ([other, mine, third], "own key in its place"),
        ([mine, other, other], "same key"),
        ([mine, other, np.zeros(32, np.uint8)], "Only 2 parties joined"),
    ):
        with pytest.raises(RunError, match=sentence):
            join("s", 0, ring, secret, np.array(roster))
    with pytest.raises(RunError, match="shape"):
        join("s", 0, ring, secret, np.zeros((2, 32), np.uint8))
    low_order = np.array([mine, other, np.zeros(32, np.uint8)])
    low_order[2, 0] = 1  # a point of small order: no secret could come of it
    with pytest.raises(RunError, match="no point"):
        join("s", 0, ring, secret, low_order)


def test_a_number_out_of_range_is_refused_and_never_clipped():
    _, keys = parties(3)
    packing = Packing({"a": Field((2,), np.float64)}, {"a": 1.0}, 3)
    for wrong in (1.0000001, np.nan, np.inf):
        with pytest.raises(RunError, match=r"range agreed on|finite"):
            masked(keys[0], 1, 1, range(3), packing, {"a": np.array([0.5, wrong])}, entropy(0))


def test_no_mask_comes_twice():
    _, keys = parties(3)
    packing, said = Packing(FIELDS, REACH, 3), values(3)[0]
    rounds = itertools.product(range(3), (1, 2))
    seen = {
        masked(keys[0], t, attempt, range(3), packing, said, entropy(0))[1]["masked"].tobytes() for t, attempt in rounds
    }
    assert len(seen) == 6  # though the entropy, and what was said, are the same


def test_what_a_party_has_said_survives_being_kept():
    opened = Opened(4, 2, b"m" * 32, b"o" * 32, frozenset({0, 1, 2}), frozenset({1}), frozenset({0, 2}))
    assert Opened.read(opened.arrays(5)) == opened


@pytest.mark.parametrize(("holders", "threshold"), [(3, 2), (7, 4), (30, 16), (5, 5)])
def test_any_enough_shares_give_the_secret_and_fewer_another(holders, threshold):
    secret = shamir.random_element(entropy(holders))
    shares = shamir.split(secret, range(1, holders + 1), threshold, entropy(1))
    rng = np.random.default_rng(0)
    for _ in range(5):
        chosen = sorted(rng.choice(range(1, holders + 1), threshold, replace=False).tolist())
        assert shamir.combine({x: shares[x] for x in chosen}) == secret
        assert shamir.combine({x: shares[x] for x in chosen[:-1]}) != secret


def test_too_few_shares_are_uniform():
    """One share of a secret, with a threshold of 2, over many polynomials: chi-square of its low byte, α = 1e-6."""
    secret = (5).to_bytes(32, "little")
    draw = entropy(0)
    low = [shamir.split(secret, [1, 2, 3], 2, draw)[2][0] for _ in range(8000)]
    assert stats.chisquare(np.bincount(low, minlength=256)).pvalue > 1e-6


def test_keys_are_agreed_on_as_in_rfc_7748():
    """Its section 6.1: other implementations of the protocol will agree with ours."""
    alice_public = bytes.fromhex("8520f0098930a754748b7ddcb43ef75a0dbf3a0d26381af4eba4a98eaa9b4e6a")
    bob = bytes.fromhex("5dab087e624a8a4b79e17f8b83800ee66f3bb1292618b6fd1c2f8b27ff88e0eb")
    assert primitives.public_key(bob).hex() == "de9edb7d7b7dc1b4d35b61c2ece435373f8343c85b78674dadfc7e146f882b4f"
    shared = "4a5d9d5ba4ce2de1728e3bf480350f25e07e21c947d19e3376f09b3c1e161742"
    assert primitives.agree(bob, alice_public).hex() == shared


def test_the_keystream_is_that_of_rfc_8439():
    """Its appendix A.1, vectors 1 and 2: key and nonce zero, blocks 0 and 1."""
    stream = primitives.keystream(bytes(32), 128).tobytes().hex()
    assert stream.startswith("76b8e0ada0f13d90405d6ae55386bd28bdd219b8a08ded1aa836efcc8b770dc7")
    assert stream[128:].startswith("9f07e7be5551387a98ba977c732d080dcb0f29a048e3656912c6533e32ee7aed")


def test_only_secure_sums_need_the_library():
    """As in an environment of `pip install partwise` alone."""
    program = """
import sys
sys.modules["cryptography"] = sys.modules["phe"] = None
import numpy as np
from partwise import FederatedNMF
Xs = [np.random.default_rng(p).random((5, 4)) for p in range(3)]
FederatedNMF(2, rounds=2, tol=0).fit(Xs)
for wish in (True, "paillier"):
    try:
        FederatedNMF(2, rounds=2, tol=0, secure_sum=wish).fit(Xs)
    except ImportError as error:
        print(error)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [
        "The secure sum needs cryptography, which is not installed: pip install 'partwise[secure]'",
        "Paillier's encryption needs phe, which is not installed: pip install 'partwise[paillier]'",
    ]
