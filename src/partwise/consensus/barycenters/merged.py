"""What every barycenter gives, and the one step that all share: the weighted mean of aligned parts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np

from partwise.consensus.align.lap import LAP
from partwise.consensus.plans import Alignment, aligned, mismatch, transport
from partwise.currency import Array


class Merged(NamedTuple):
    """A shared H and how each party's components are part of it."""

    H: Array  # (k, m)
    plans: tuple[Array, ...]  # P_p (k, k): H ≈ P_p H_p
    objective: float  # ½ Σ_p weight_p ‖H − P_p H_p‖²; what P_p leaves out counts as paired with zero


class Barycenter(Protocol):
    """One H for many: argmin_H Σ_p weight_p D(H, H_p), or near it (the problem is NP-hard: FNMF, Theorem 1)."""

    def __call__(
        self, parts: Sequence[Array], weights: Sequence[float] | Array | None = None, first: Array | None = None
    ) -> Merged:
        """`weights` (P,) ≥ 0, equal if None; `first` (k, m) is where the shared H stood, if it stood anywhere."""
        ...


def mean_of(plans: Sequence[Array], parts: Sequence[Array], weights: Array, kept: Array) -> Array:
    """(k, m): Σ_p weight_p P_p H_p, each component over the parties that it is aligned with; from `kept` where there is none."""
    total = np.zeros_like(parts[0])
    mass = np.zeros(len(kept))
    for plan, part, weight in zip(plans, parts, weights, strict=True):
        if weight:
            total += part.dtype.type(weight) * transport(plan, part)
            mass += weight * aligned(plan)
    reached = mass > 0
    total /= np.where(reached, mass, 1)[:, None].astype(total.dtype)
    return total if reached.all() else np.where(reached[:, None], total, kept)


def measured(H: Array, parts: Sequence[Array], weights: Array, plans: Sequence[Array]) -> Merged:
    """H with the objective of these plans."""
    lost = sum(w * mismatch(H, plan, part) for w, plan, part in zip(weights, plans, parts, strict=True) if w)
    return Merged(H, tuple(plans), 0.5 * float(lost))


def aligned_with(H: Array, parts: Sequence[Array], weights: Array, align: Alignment) -> Merged:
    """H with the plans of the alignment, and their objective."""
    return measured(H, parts, weights, [align(H, part) for part in parts])


def placed(merged: Merged, first: Array | None) -> Merged:
    """The same with components in the order of `first`, so that a component keeps its place from round to round."""
    if first is None:
        return merged
    order = LAP(first, merged.H).argmax(axis=1)
    return Merged(merged.H[order], tuple(plan[order] for plan in merged.plans), merged.objective)
