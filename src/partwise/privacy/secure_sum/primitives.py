"""The one door to `cryptography`: X25519, HKDF, ChaCha20 and ChaCha20-Poly1305, on plain bytes."""

from __future__ import annotations

from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partwise.errors import MissingExtraError, RunError

KEY = 32  # bytes of every key, public or secret
TAG = 16  # bytes that sealing adds


@cache
def door() -> SimpleNamespace:
    """What is used of the library, loaded when a sum is to be secure, or the sentence that says what to install."""
    try:
        from cryptography.exceptions import InvalidTag
        from cryptography.hazmat.primitives import hashes
        from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
        from cryptography.hazmat.primitives.ciphers import Cipher, algorithms
        from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
        from cryptography.hazmat.primitives.kdf.hkdf import HKDF
    except ImportError:
        raise MissingExtraError("The secure sum", "cryptography", "secure") from None
    return SimpleNamespace(
        InvalidTag=InvalidTag, SHA256=hashes.SHA256, Hash=hashes.Hash, Secret=X25519PrivateKey, Public=X25519PublicKey,
        Cipher=Cipher, ChaCha20=algorithms.ChaCha20, Box=ChaCha20Poly1305, HKDF=HKDF,
    )  # fmt: skip


def public_key(secret: bytes) -> bytes:
    """The X25519 public key of a secret."""
    return door().Secret.from_private_bytes(secret).public_key().public_bytes_raw()


def agree(secret: bytes, public: bytes) -> bytes:
    """What two parties alone can compute; made into keys by `derive` only."""
    try:
        return door().Secret.from_private_bytes(secret).exchange(door().Public.from_public_bytes(public))
    except ValueError:
        raise RunError(
            "A public key is no point that keys can be agreed on with; its owner must make new keys."
        ) from None


def derive(key: bytes, *labels: object) -> bytes:
    """A key for one purpose, by HKDF-SHA256; labels are kept apart by their lengths."""
    words = [str(label).encode() for label in labels]
    info = b"".join(len(word).to_bytes(4, "big") + word for word in words)
    return door().HKDF(door().SHA256(), KEY, b"partwise secure sum 1", info).derive(key)


def keystream(key: bytes, size: int) -> NDArray[np.uint8]:
    """`size` bytes of ChaCha20 under a key that is used for nothing else."""
    out = np.zeros(size, np.uint8)
    encryptor: Any = door().Cipher(door().ChaCha20(key, bytes(16)), mode=None).encryptor()
    encryptor.update_into(np.zeros(size, np.uint8).data, out.data)
    return out


def seal(key: bytes, nonce: bytes, plain: bytes, about: bytes) -> bytes:
    """Encrypted and authenticated, together with what it is about. A (key, nonce) must never come twice."""
    return door().Box(key).encrypt(nonce, plain, about)


def unseal(key: bytes, nonce: bytes, sealed: bytes, about: bytes) -> bytes | None:
    """What was sealed; None if anything differs."""
    try:
        return door().Box(key).decrypt(nonce, sealed, about)
    except door().InvalidTag:
        return None


def digest(secret: bytes) -> bytes:
    """A commitment to a secret of 32 random bytes."""
    hasher = door().Hash(door().SHA256())
    hasher.update(b"partwise commitment" + secret)
    return hasher.finalize()
