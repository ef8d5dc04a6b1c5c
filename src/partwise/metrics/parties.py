"""How well one H serves several parties, and how far theirs have come apart (Dalleiger & Gionis, sections 3 and 4).

The H_p of parties come as a list of (k, m); an alignment by its name, as `FederatedNMF` takes it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from partwise.consensus import ALIGNMENTS, metrics
from partwise.consensus.plans import checked_parts
from partwise.currency import Array
from partwise.data import as_matrix
from partwise.errors import DataError, OptionError


def rmsd_sum(Xs: Sequence[Any], Ws: Sequence[Any], H: Any) -> float:
    """Σ_p √(‖X_p − W_p H‖² / (n_p m)), for the X_p (n_p, m) and the W_p (n_p, k) of the parties."""
    lost, shapes = _lost(Xs, Ws, H)
    return metrics.rmsd_sum(lost, shapes)


def total_distance(Xs: Sequence[Any], Ws: Sequence[Any], H: Any) -> float:
    """Σ_p ‖X_p − W_p H‖."""
    return metrics.total_distance(_lost(Xs, Ws, H)[0])


def drift(Hs: Sequence[Any], H: Any, alignment: str | None = None) -> float:
    """Σ_p ‖H_p − H‖², component by component as they stand; with an alignment, after it."""
    parts, shared = _parts(Hs, H)
    return (
        metrics.drift(parts, shared) if alignment is None else metrics.aligned_drift(parts, shared, _known(alignment))
    )


def orthogonality_gap(Hs: Sequence[Any], H: Any, alignment: str = "lap") -> float:
    """1/P Σ_p ‖P_pᵀ P_p − I‖ for the plans P_p by which an alignment makes H from the H_p: zero for permutations."""
    parts, shared = _parts(Hs, H)
    align = _known(alignment)
    return metrics.orthogonality_gap([align(shared, part) for part in parts])


def component_similarity(H: Any, other: Any) -> Array:
    """Cosines of the components of H (k, m) with their partners among those of the other (l, m), matched best, falling."""
    H, other = np.asarray(H), np.asarray(other)
    if H.ndim != 2 or other.ndim != 2 or H.shape[1] != other.shape[1]:
        raise DataError(
            f"The components have shapes {H.shape} and {other.shape}; expected the same number of features."
        )
    return metrics.component_similarity(H, other)


def _lost(Xs: Sequence[Any], Ws: Sequence[Any], H: Any) -> tuple[list[float], list[tuple[int, int]]]:
    """(‖X_p − W_p H‖², the shape of X_p) of each party."""
    if len(Xs) != len(Ws):
        raise DataError(f"There are {len(Xs)} X_p and {len(Ws)} W_p; expected one of each for every party.")
    lost, shapes = [], []
    for p, (X, W) in enumerate(zip(Xs, Ws, strict=True)):
        entries = as_matrix(X)
        Wt, shared = np.ascontiguousarray(np.asarray(W).T, entries.dtype), np.ascontiguousarray(H, entries.dtype)
        if Wt.shape != (len(shared), entries.shape[0]) or shared.shape[1] != entries.shape[1]:
            raise DataError(f"Party {p} has X of shape {entries.shape} and W of shape {Wt.T.shape}, and H is {shared.shape}; expected "
                            "(n, m), (n, k) and (k, m).")  # fmt: skip
        lost.append(entries.sq_error(Wt, shared))
        shapes.append(entries.shape)
    return lost, shapes


def _parts(Hs: Sequence[Any], H: Any) -> tuple[list[Array], Array]:
    parts, _ = checked_parts([*Hs, H], None)
    return parts[:-1], parts[-1]


def _known(alignment: str) -> Any:
    if alignment not in ALIGNMENTS:
        raise OptionError(f"alignment={alignment!r} is not known; expected one of: {', '.join(ALIGNMENTS)}.")
    return ALIGNMENTS[alignment]()
