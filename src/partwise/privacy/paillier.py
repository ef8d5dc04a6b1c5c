"""Paillier's additive encryption (1999): who holds the public key alone may add what it cannot read. The one door to `phe`.

A ciphertext is a number below n², kept as 2 · bits / 8 bytes; a plaintext a number of size below n / 2. The product of ciphertexts
modulo n² is a ciphertext of the sum of their plaintexts.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from partwise.errors import MissingExtraError, RunError

Bytes = NDArray[np.uint8]


def phe() -> Any:
    """The library, or the sentence that says what to install."""
    try:
        from phe import paillier
    except ImportError:
        raise MissingExtraError("Paillier's encryption", "phe", "paillier") from None
    return paillier


def new_keys(bits: int) -> tuple[Bytes, Bytes]:
    """(secret: the primes p and q, public: n), from the system's entropy."""
    public, private = phe().generate_paillier_keypair(n_length=bits)
    width = bits // 8
    return _bytes(private.p, width, private.q), _bytes(public.n, width)


@final
class Sealer:
    """Who holds the public key: encrypts, and adds."""

    def __init__(self, public: Bytes) -> None:
        n = int.from_bytes(public.tobytes(), "little")
        self.bits, self.width = n.bit_length(), 2 * len(public)  # of the key; of a ciphertext in bytes
        self._key = phe().PaillierPublicKey(n)

    def encrypt(self, plain: Sequence[int]) -> Bytes:
        """(c, width): each number under randomness of its own, from the system's entropy."""
        sealed = [_bytes(self._key.raw_encrypt(number % self._key.n), self.width) for number in plain]
        return np.array(sealed, np.uint8).reshape(len(sealed), self.width)

    def add(self, sealed: Iterable[Bytes]) -> Bytes:
        """(c, width): of the sums, place by place."""
        columns = zip(*(self._numbers(one) for one in sealed), strict=True)
        sums = [reduce(lambda a, b: a * b % self._key.nsquare, column) for column in columns]
        return np.array([_bytes(number, self.width) for number in sums], np.uint8).reshape(len(sums), self.width)

    def fits(self, sealed: Bytes) -> bool:
        """Whether these may be ciphertexts under this key."""
        return all(0 < number < self._key.nsquare for number in self._numbers(sealed))

    def _numbers(self, sealed: Bytes) -> list[int]:
        return [int.from_bytes(row.tobytes(), "little") for row in sealed]


def decrypt(secret: Bytes, sealed: Bytes) -> list[int]:
    """The numbers, with their signs."""
    half = len(secret) // 2
    p, q = (int.from_bytes(part.tobytes(), "little") for part in (secret[:half], secret[half:]))
    public = phe().PaillierPublicKey(p * q)
    key = phe().PaillierPrivateKey(public, p, q)
    try:
        found = [int(key.raw_decrypt(int.from_bytes(row.tobytes(), "little"))) for row in sealed]
    except (ValueError, ZeroDivisionError) as error:
        raise RunError(f"What came to be decrypted is no ciphertext under this key ({error}).") from None
    return [number - public.n if number > public.n // 2 else number for number in found]


def _bytes(number: int, width: int, *more: int) -> Bytes:
    """Numbers of `width` bytes each, one after the other."""
    return np.frombuffer(b"".join(int(one).to_bytes(width, "little") for one in (number, *more)), np.uint8)
