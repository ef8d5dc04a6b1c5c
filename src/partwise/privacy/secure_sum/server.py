"""The server's part of the secure sum: it takes masks off the sum, and never off what one party said."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from partwise.errors import RunError
from partwise.privacy.secure_sum import primitives, shamir
from partwise.privacy.secure_sum.graph import Ring
from partwise.privacy.secure_sum.packing import Bytes, Packing
from partwise.privacy.secure_sum.party import expand


class Uploads(NamedTuple):
    """What came in a round, by party."""

    masked: Mapping[int, Bytes]
    sealed: Mapping[int, NDArray[np.uint8]]  # (width, 48): for the party's neighbours, ascending
    commitment: Mapping[int, Bytes]

    def sealed_for(self, ring: Ring, p: int, members: Sequence[int]) -> NDArray[np.uint8]:
        """(h, 48): what members sealed for p, ascending."""
        near = set(ring.neighbours(p))
        boxes = [self.sealed[q][ring.neighbours(q).index(p)] for q in members if q in near]
        return np.array(boxes, np.uint8).reshape(len(boxes), -1)


def unmasked(
    ring: Ring, packing: Packing, uploads: Uploads, members: Sequence[int],
    seeds: Mapping[int, Mapping[int, bytes]], shares: Mapping[int, Mapping[int, bytes]],
) -> dict[str, NDArray[Any]]:  # fmt: skip
    """The sum over `members`, from {member: {vanished neighbour: s}} and {member: {holder: share of its b}}."""
    total = np.zeros(packing.size, np.uint8)
    known: dict[tuple[int, ...], list[int]] = {}
    for p in members:
        packing.add(total, uploads.masked[p])
        packing.add(total, expand(own_mask(ring, uploads, p, shares[p], known), packing.size), -1)
        for q, seed in seeds.get(p, {}).items():
            packing.add(total, expand(seed, packing.size), -1 if q > p else 1)
    return packing.unpack(total)


def own_mask(
    ring: Ring, uploads: Uploads, p: int, shares: Mapping[int, bytes], known: dict[tuple[int, ...], list[int]]
) -> bytes:
    """b_p from shares of it, held to p's commitment. `known` remembers Lagrange's weights, which few sets of holders share."""
    if len(shares) < ring.least:
        raise RunError(f"Of the shares of party {p}'s mask {len(shares)} came, and {ring.least} are needed: too many parties vanished "
                       "at the end of the round, and its sum cannot be opened.")  # fmt: skip
    holders = tuple(sorted(shares))[: ring.least]
    if holders not in known:
        known[holders] = shamir.weights([q + 1 for q in holders])
    mask = shamir.combine({q: shares[q] for q in holders}, known[holders])
    if primitives.digest(mask) != uploads.commitment[p].tobytes():
        raise RunError(f"The shares of party {p}'s mask, by parties {', '.join(map(str, holders))}, do not fit together: one of these "
                       f"or party {p} did not say what it should.")  # fmt: skip
    return mask


def differing(ring: Ring, confirmations: Mapping[int, NDArray[np.uint8]]) -> list[tuple[int, int]]:
    """The pairs (p, q) that do not hold the same key: their masks would not cancel."""
    said = {p: dict(zip(ring.neighbours(p), rows, strict=True)) for p, rows in confirmations.items()}
    pairs = ((p, q) for p, rows in said.items() for q in rows if p < q and q in said)
    return [(p, q) for p, q in pairs if not np.array_equal(said[p][q], said[q][p])]
