"""How well parties are served and how far they have come apart (FNMF, sections 3 and 4)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from scipy.optimize import linear_sum_assignment

from partwise.consensus.plans import Alignment, aligned, transport
from partwise.currency import Array


def rmsd_sum(sq_errors: Iterable[float], shapes: Iterable[tuple[int, int]]) -> float:
    """Σ_p RMSD(X_p, W_p H) = Σ_p √(‖X_p − W_p H‖² / (n_p m)), given the squared errors."""
    return float(sum((error / (n * m)) ** 0.5 for error, (n, m) in zip(sq_errors, shapes, strict=True)))


def total_distance(sq_errors: Iterable[float]) -> float:
    """Σ_p ‖X_p − W_p H‖."""
    return float(sum(error**0.5 for error in sq_errors))


def orthogonality_gap(plans: Sequence[Array]) -> float:
    """1/c Σ_p ‖P_pᵀ P_p − I‖: zero if every plan is a permutation."""
    return float(np.mean([np.linalg.norm(plan.T @ plan - np.eye(plan.shape[1])) for plan in plans]))


def drift(parts: Sequence[Array], H: Array) -> float:
    """Σ_p ‖H_p − H‖², components compared place by place (Definition 1)."""
    return float(sum(np.square(part - H, dtype=np.float64).sum() for part in parts))


def aligned_drift(parts: Sequence[Array], H: Array, align: Alignment) -> float:
    """Σ_p ‖H_p − P_p H‖² over the components of H_p that the alignment reaches (Definition 2, twice)."""
    total = 0.0
    for part in parts:
        plan = align(part, H)
        total += float(np.square((part - transport(plan, H))[aligned(plan)], dtype=np.float64).sum())
    return total


def component_similarity(H: Array, other: Array) -> Array:
    """(min(k, l),): cosines of the components of H (k, m) with their partners among the other's (l, m), matched best, falling."""
    lengths = np.linalg.norm(H, axis=1)[:, None] * np.linalg.norm(other, axis=1)
    cosines = np.divide(H @ other.T, lengths, out=np.zeros_like(lengths), where=lengths > 0)
    rows, columns = linear_sum_assignment(-cosines)
    return np.sort(cosines[rows, columns])[::-1]
