"""Shamir's sharing of a secret over GF(2²⁵⁵ − 19): any `threshold` shares give it back, fewer say nothing about it.

The share of holder x ∈ {1, 2, …} is f(x) for a random polynomial f of degree threshold − 1 with f(0) the secret.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

PRIME = 2**255 - 19
BYTES = 32

Entropy = Callable[[int], bytes]


def random_element(entropy: Entropy) -> bytes:
    """Uniform in the field: drawn again in the rare case that it falls outside."""
    while True:
        drawn = int.from_bytes(entropy(BYTES), "little") & (2**255 - 1)
        if drawn < PRIME:
            return drawn.to_bytes(BYTES, "little")


def split(secret: bytes, holders: Sequence[int], threshold: int, entropy: Entropy) -> dict[int, bytes]:
    """{holder: share}; holders are numbers ≥ 1."""
    rest = [int.from_bytes(random_element(entropy), "little") for _ in range(threshold - 1)]
    coefficients = [*reversed(rest), int.from_bytes(secret, "little")]
    shares = {}
    for x in holders:
        value = 0
        for coefficient in coefficients:
            value = (value * x + coefficient) % PRIME
        shares[x] = value.to_bytes(BYTES, "little")
    return shares


def weights(holders: Sequence[int]) -> list[int]:
    """Lagrange's weights at 0 of these holders' shares; the same for all secrets that they share."""
    out = []
    for x in holders:
        above = below = 1
        for other in holders:
            if other != x:
                above = above * other % PRIME
                below = below * (other - x) % PRIME
        out.append(above * pow(below, -1, PRIME) % PRIME)
    return out


def combine(shares: Mapping[int, bytes], known: Sequence[int] | None = None) -> bytes:
    """The secret that the shares are of, if they are enough; `known`, their weights where these are known already."""
    by = weights(list(shares)) if known is None else known
    value = sum(w * int.from_bytes(share, "little") for w, share in zip(by, shares.values(), strict=True)) % PRIME
    return value.to_bytes(BYTES, "little")
