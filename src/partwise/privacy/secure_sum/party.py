"""A party's steps of the secure sum, and what it will never do.

In round t, party p with neighbours N(p) uploads, modulo 2^b,

    y_p = x_p + G(b_p) + Σ_{q ∈ N(p), q > p} G(s_pq) − Σ_{q ∈ N(p), q < p} G(s_pq)

G is a keystream; s_pq = HKDF(K_pq; t) is known to p and q alone, as K_pq is agreed on by Diffie–Hellman; b_p is drawn anew, and
shared among N(p) and p. Of every other party q, p will in a round reveal either s_pq, because q has vanished, or its share of b_q,
because q has not: never both. So what q uploads late, after others gave it up, stays hidden by b_q.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from partwise.currency import Arrays
from partwise.errors import RunError
from partwise.privacy.secure_sum import primitives, shamir
from partwise.privacy.secure_sum.graph import Ring
from partwise.privacy.secure_sum.packing import Bytes, Packing
from partwise.privacy.secure_sum.shamir import Entropy

SEALED = shamir.BYTES + primitives.TAG


@final
@dataclass(frozen=True)
class Keys:
    """Party p's secret, and what it has agreed on with each of its neighbours that joined; for one study."""

    study: str
    p: int
    ring: Ring
    secret: bytes
    pairs: dict[int, bytes]  # {neighbour: K_pq}

    def seed(self, q: int, t: int, attempt: int) -> bytes:
        """s_pq of a round, the same for both."""
        return primitives.derive(self.pairs[q], "mask", t, attempt)

    def seal_key(self, sender: int, receiver: int) -> bytes:
        """For what one of the two sends to the other; each way has its own."""
        other = sender if receiver == self.p else receiver
        return primitives.derive(self.pairs[other], "seal", sender, receiver)

    def confirmations(self) -> NDArray[np.uint8]:
        """(width, 32): for each neighbour a word that it too can say if both hold the same key; zeros where it did not join."""
        out = np.zeros((self.ring.width, primitives.KEY), np.uint8)
        for row, q in enumerate(self.ring.neighbours(self.p)):
            if q in self.pairs:
                out[row] = as_array(primitives.derive(self.pairs[q], "confirm"))
        return out


class Opened(NamedTuple):
    """What p has said in a round, so that it knows what it may still say."""

    t: int
    attempt: int
    mask: bytes  # b_p
    own: bytes  # p's own share of b_p
    asked: frozenset[int]
    revealed: frozenset[int] = frozenset()  # whose s_pq p gave away, or would have
    closed: frozenset[int] = frozenset()  # for whose sum p gave its shares; empty: not yet

    def arrays(self, parties: int) -> Arrays:
        """As arrays, to be kept."""
        sets = np.zeros((3, parties), bool)
        for row, members in zip(sets, (self.asked, self.revealed, self.closed), strict=True):
            row[list(members)] = True
        return {"round": np.array([self.t, self.attempt]), "mask": as_array(self.mask + self.own), "sets": sets}

    @classmethod
    def read(cls, arrays: Arrays) -> Opened:
        """From arrays."""
        t, attempt = map(int, arrays["round"])
        both = arrays["mask"].tobytes()
        sets = (frozenset(map(int, np.flatnonzero(row))) for row in arrays["sets"])
        return cls(t, attempt, both[: shamir.BYTES], both[shamir.BYTES :], *sets)


def new_keys(entropy: Entropy) -> tuple[bytes, bytes]:
    """(secret, public)"""
    secret = entropy(primitives.KEY)
    return secret, primitives.public_key(secret)


def join(study: str, p: int, ring: Ring, secret: bytes, public: NDArray[np.uint8]) -> Keys:
    """Agree with every neighbour on a key; `public` (P, 32) has zeros where a party did not join."""
    if public.shape != (ring.parties, primitives.KEY) or public.dtype != np.uint8:
        raise RunError(
            f"The roster of keys has shape {public.shape}; expected {(ring.parties, primitives.KEY)} of bytes."
        )
    mine = primitives.public_key(secret)
    if public[p].tobytes() != mine:
        raise RunError(f"The roster does not have party {p}'s own key in its place: it is not of this study, or someone changed it. "
                       "Nothing was sent.")  # fmt: skip
    joined = [row.tobytes() for row in public if row.any()]
    if len(set(joined)) < len(joined):
        raise RunError("Two parties of the roster have the same key, so one of them plays two parts. Nothing was sent.")
    if len(joined) < 3:
        raise RunError(f"Only {len(joined)} parties joined; a secure sum needs 3 at least. Nothing was sent.")
    pairs = {}
    for q in ring.neighbours(p):
        if public[q].any():
            theirs = public[q].tobytes()
            labels = sorted((mine.hex(), theirs.hex()))
            pairs[q] = primitives.derive(primitives.agree(secret, theirs), "pair", study, *labels)
    return Keys(study, p, ring, secret, pairs)


def masked(
    keys: Keys, t: int, attempt: int, members: Sequence[int], packing: Packing, arrays: Arrays, entropy: Entropy
) -> tuple[Opened, dict[str, NDArray[Any]]]:
    """What p uploads: y_p, the sealed shares of b_p for its neighbours, and a commitment to b_p."""
    ring, p = keys.ring, keys.p
    check_members(keys, members)
    y = packing.pack(arrays)
    drawn = shamir.random_element(entropy)
    packing.add(y, expand(drawn, packing.size))
    for q in keys.pairs:
        if q in members:
            packing.add(y, expand(keys.seed(q, t, attempt), packing.size), 1 if q > p else -1)
    holders = sorted((*ring.neighbours(p), p))
    shares = shamir.split(drawn, [q + 1 for q in holders], ring.least, entropy)
    sealed = np.zeros((ring.width, SEALED), np.uint8)
    for row, q in enumerate(ring.neighbours(p)):
        if q in keys.pairs:
            box = primitives.seal(keys.seal_key(p, q), nonce(t, attempt), shares[q + 1], about(keys, t, attempt, p, q))
            sealed[row] = as_array(box)
    opened = Opened(t, attempt, drawn, shares[p + 1], frozenset(members))
    return opened, {"masked": y, "sealed": sealed, "commitment": as_array(primitives.digest(drawn))}


def give_seeds(keys: Keys, opened: Opened, vanished: Sequence[int]) -> tuple[Opened, NDArray[np.uint8]]:
    """(v, 32): s_pq for those of p's neighbours that have vanished, ascending."""
    gone = frozenset(vanished)
    if opened.closed & gone:
        raise RunError(f"Party {keys.p} gave its shares of the masks of {_names(opened.closed & gone)} in round {opened.t} already; it "
                       "will not give their other masks as well.")  # fmt: skip
    if keys.p in gone or not gone <= opened.asked:
        raise RunError(f"Party {keys.p} was told that {_names(gone)} vanished from round {opened.t}, of whom it knows "
                       "better, or who were not part of it.")  # fmt: skip
    remaining = opened.asked - opened.revealed - gone
    check_members(keys, remaining)
    seeds = [as_array(keys.seed(q, opened.t, opened.attempt)) for q in sorted(gone) if q in keys.pairs]
    return opened._replace(revealed=opened.revealed | gone), np.array(seeds, np.uint8).reshape(-1, primitives.KEY)


def give_shares(
    keys: Keys, opened: Opened, members: Sequence[int], sealed: NDArray[np.uint8]
) -> tuple[Opened, NDArray[np.uint8]]:
    """(h, 32): p's shares of the masks of those members whose shares it holds, ascending.

    `sealed` (h', 48): what these, but p itself, sealed for p.
    """
    final = frozenset(members)
    if opened.closed and opened.closed != final:
        raise RunError(f"Party {keys.p} gave its shares for the sum of {_names(opened.closed)} in round {opened.t}; it will not for "
                       "that of others, since the difference would show what one party said.")  # fmt: skip
    if final & opened.revealed or final | opened.revealed != opened.asked:
        raise RunError(f"Party {keys.p} was asked to open the sum of {_names(final)} in round {opened.t}, which are not those that "
                       "remained.")  # fmt: skip
    check_members(keys, final)
    owners = [q for q in sorted(final) if q in keys.pairs]
    shares = {keys.p: opened.own}
    for q, box in zip(owners, sealed, strict=True):
        text = about(keys, opened.t, opened.attempt, q, keys.p)
        share = primitives.unseal(
            keys.seal_key(q, keys.p), nonce(opened.t, opened.attempt), np.ascontiguousarray(box).tobytes(), text
        )
        if share is None:
            raise RunError(f"What party {q} sealed for party {keys.p} in round {opened.t} cannot be opened: it was changed on the way, "
                           f"is of another round, or the two hold different keys. The sum must go on without party {q}.")  # fmt: skip
        shares[q] = share
    return opened._replace(closed=final), np.array([as_array(shares[q]) for q in sorted(shares)], np.uint8)


def check_members(keys: Keys, members: Sequence[int] | frozenset[int]) -> None:
    """That a sum over these hides each of them as promised."""
    ring, inside = keys.ring, frozenset(members)
    holding = len(inside & {*keys.pairs, keys.p})
    if keys.p not in inside or len(inside) < ring.fewest or holding < ring.least:
        raise RunError(f"A sum over {len(inside)} parties, {holding} of them party {keys.p} and its neighbours, is too small: the "
                       f"threshold is {ring.least} of these, and {ring.fewest} in all. Nothing was given.")  # fmt: skip
    if not ring.joined(sorted(inside)):
        raise RunError(
            "Without the parties that vanished the others fall into groups, whose sums would be seen. Nothing was given."
        )


def expand(secret: bytes, size: int) -> Bytes:
    """G: a mask of `size` bytes from a secret of one round."""
    return primitives.keystream(primitives.derive(secret, "stream"), size)


def nonce(t: int, attempt: int) -> bytes:
    """Of sealing: never twice under a key, as a party seals once an attempt for each neighbour."""
    return t.to_bytes(4, "little") + attempt.to_bytes(8, "little")


def about(keys: Keys, t: int, attempt: int, sender: int, receiver: int) -> bytes:
    """What a sealed share is bound to."""
    return "\0".join(map(str, (keys.study, t, attempt, sender, receiver))).encode()


def as_array(some: bytes) -> NDArray[np.uint8]:
    """Bytes as an array."""
    return np.frombuffer(some, np.uint8)


def _names(parties: frozenset[int]) -> str:
    names = sorted(parties)
    listed = ", ".join(map(str, names[:8])) + (f" and {len(names) - 8} more" if len(names) > 8 else "")
    return f"{'party' if len(names) == 1 else 'parties'} {listed}"
