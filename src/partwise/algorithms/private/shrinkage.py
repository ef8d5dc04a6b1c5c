"""Free denoising: the noise of a release is known exactly, so what it does to eigenvalues and singular values is known too.

Of a low-rank matrix plus white noise only the values above an edge carry signal, and each is too large, and its vectors are
turned away, by known amounts (Benaych-Georges & Nadakuditi 2011; Gavish & Donoho 2017, optimal for the Frobenius norm).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from partwise.currency import Array


class Spectrum(NamedTuple):
    """Σ_i values_i vectors_i vectors_iᵀ."""

    values: Array  # (r,), positive, falling
    vectors: Array  # (r, m), orthonormal rows


def edge(scale: float, m: int) -> float:
    """Half the spectral norm of noise with N(0, scale²) on the diagonal and N(0, scale²/2) off it: signals above it are seen."""
    return scale * float(np.sqrt(m / 2))


def cleaned_symmetric(S: Array, scale: float) -> Spectrum:
    """The positive part of a symmetric S (m, m), its noise being as in `privacy.vectors`; `scale` 0: none."""
    values, vectors = np.linalg.eigh((S + S.T) / 2)
    values, vectors, noise = values[::-1], vectors[:, ::-1].T, edge(scale, len(S))
    seen = values > max(2 * noise, np.finfo(np.float64).eps * len(S) * max(values[0], 0.0))
    values, vectors = values[seen], vectors[seen]
    true = (values + np.sqrt(values**2 - (2 * noise) ** 2)) / 2  # what the eigenvalue was before the noise
    return Spectrum(true * (1 - (noise / true) ** 2), vectors)  # times cos² of the angle by which the vector turned


def cleaned_rectangular(E: Array, scale: float) -> Array:
    """E (k, m) with its singular values shrunk, its noise being N(0, scale²) in every entry."""
    if scale <= 0:
        return E
    short, long = sorted(E.shape)
    ratio = short / long
    U, values, Vt = np.linalg.svd(E, full_matrices=False)
    y = values / (scale * np.sqrt(long))
    inner = np.maximum((y**2 - ratio - 1) ** 2 - 4 * ratio, 0.0)
    kept = np.where(y > 1 + np.sqrt(ratio), np.sqrt(inner) / np.maximum(y, 1.0), 0.0)
    return (U * (kept * scale * np.sqrt(long))) @ Vt


def positive_part(A: Array) -> Array:
    """The nearest positive semidefinite matrix."""
    values, vectors = np.linalg.eigh((A + A.T) / 2)
    return (vectors * np.maximum(values, 0.0)) @ vectors.T
