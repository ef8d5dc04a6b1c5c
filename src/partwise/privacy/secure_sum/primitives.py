"""The one door to `cryptography`: X25519, HKDF, ChaCha20 and ChaCha20-Poly1305, on plain bytes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from partwise.errors import MissingExtraError, RunError

try:
    from cryptography.exceptions import InvalidTag
    from cryptography.hazmat.primitives import hashes
    from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms
    from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
    from cryptography.hazmat.primitives.kdf.hkdf import HKDF
except ImportError:
    raise MissingExtraError("The secure sum", "cryptography", "secure") from None

KEY = 32  # bytes of every key, public or secret
TAG = 16  # bytes that sealing adds


def public_key(secret: bytes) -> bytes:
    """The X25519 public key of a secret."""
    return X25519PrivateKey.from_private_bytes(secret).public_key().public_bytes_raw()


def agree(secret: bytes, public: bytes) -> bytes:
    """What two parties alone can compute; made into keys by `derive` only."""
    try:
        return X25519PrivateKey.from_private_bytes(secret).exchange(X25519PublicKey.from_public_bytes(public))
    except ValueError:
        raise RunError(
            "A public key is no point that keys can be agreed on with; its owner must make new keys."
        ) from None


def derive(key: bytes, *labels: object) -> bytes:
    """A key for one purpose, by HKDF-SHA256; labels are kept apart by their lengths."""
    words = [str(label).encode() for label in labels]
    info = b"".join(len(word).to_bytes(4, "big") + word for word in words)
    return HKDF(hashes.SHA256(), KEY, b"partwise secure sum 1", info).derive(key)


def keystream(key: bytes, size: int) -> NDArray[np.uint8]:
    """`size` bytes of ChaCha20 under a key that is used for nothing else."""
    out = np.zeros(size, np.uint8)
    encryptor: Any = Cipher(algorithms.ChaCha20(key, bytes(16)), mode=None).encryptor()
    encryptor.update_into(np.zeros(size, np.uint8).data, out.data)
    return out


def seal(key: bytes, nonce: bytes, plain: bytes, about: bytes) -> bytes:
    """Encrypted and authenticated, together with what it is about. A (key, nonce) must never come twice."""
    return ChaCha20Poly1305(key).encrypt(nonce, plain, about)


def unseal(key: bytes, nonce: bytes, sealed: bytes, about: bytes) -> bytes | None:
    """What was sealed; None if anything differs."""
    try:
        return ChaCha20Poly1305(key).decrypt(nonce, sealed, about)
    except InvalidTag:
        return None


def digest(secret: bytes) -> bytes:
    """A commitment to a secret of 32 random bytes."""
    hasher = hashes.Hash(hashes.SHA256())
    hasher.update(b"partwise commitment" + secret)
    return hasher.finalize()
