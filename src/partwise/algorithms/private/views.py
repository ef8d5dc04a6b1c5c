"""A view of the records: only some of their features, and what is known of them already made short, so that the rest may be clipped
tightly. All of it follows from what is public."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from partwise.algorithms.private.query import Knowledge
from partwise.algorithms.private.records import SAFE, row_scales
from partwise.currency import Array, Arrays
from partwise.data import Entries
from partwise.data.moments import second_moment
from partwise.privacy.clip import clip_scales

MARGIN = 2.5  # by how much what is made short must still stand out of the noise to come
SHORTEST = 0.02


class View(NamedTuple):
    """z = x − basisᵀ (1 − shrink) basis x, x being the record's entries for `features`."""

    features: np.ndarray  # (l,), rising: columns of X
    basis: Array  # (r, l), orthonormal rows; rows of zeros are no directions
    shrink: Array  # (r,), in (0, 1]

    @property
    def width(self) -> int:
        return len(self.features)

    def public(self) -> Arrays:
        """As what anybody may know: float64, like all that goes to parties."""
        return {name: np.asarray(value, np.float64) for name, value in self._asdict().items()}

    @classmethod
    def of(cls, public: Arrays) -> View:
        """What `public` made, back."""
        return cls(public["features"].astype(np.int64), public["basis"], public["shrink"])

    def blocks(self, X: Entries, known: Knowledge) -> Iterator[tuple[Entries, Array]]:
        """(rows with these features only, the factors that bring whole rows to length one), block by block."""
        for _, block in X.blocks():
            seen = block if self.width == X.shape[1] else block.T.rows(self.features).T
            yield seen, row_scales(block, known)

    def lengths(self, seen: Entries, scales: Array) -> Array:
        """(n,): ‖z‖ of each row."""
        along = seen.times(self.basis) * scales
        squares = seen.row_sq_norms() * scales**2 - ((1 - self.shrink**2)[:, None] * along**2).sum(axis=0)
        return (
            np.sqrt(np.maximum(squares, 0.0)) + 1e-7
        )  # a difference of squares near zero: rounding may not shorten it

    def of_moment(self, S: Array) -> Array:
        """Σ z zᵀ from Σ x xᵀ."""
        return _both_sides(S, self.basis, self.shrink)

    def back(self, S: Array) -> Array:
        """Σ x xᵀ from Σ z zᵀ."""
        return _both_sides(S, self.basis, 1 / self.shrink)

    def unshrunk(self, Z: Array) -> Array:
        """Rows x for rows z."""
        return Z + ((Z @ self.basis.T) * (1 / self.shrink - 1)) @ self.basis


def _both_sides(S: Array, basis: Array, factors: Array) -> Array:
    """T S T, T = I + basisᵀ (factors − 1) basis."""
    S = S + (basis.T * (factors - 1)) @ (basis @ S)
    return S + ((S @ basis.T) * (factors - 1)) @ basis


def shrinks(values: Array, rest: float, noise_of_clip: float, least: float) -> Array:
    """How short to make directions along which the records have mean squares `values`, `rest` being all others together.

    Just so that each stands out of the noise to come: the clip will be about the length that is left, or `least`, and the
    noise is `noise_of_clip` times the clip's square.
    """
    shrink = np.ones_like(values)
    for _ in range(20):
        left = max(float((shrink**2 * values).sum()) + rest, least**2)
        shrink = np.minimum(1.0, np.sqrt(MARGIN * noise_of_clip * left / np.maximum(values, 1e-30)))
    return np.maximum(shrink, SHORTEST)  # what all records share is never shortened away


def length_histogram(X: Entries, known: Knowledge, view: View, edges: Array) -> Array:
    """(len(edges),): the share of records with ‖z‖ up to each edge but not the one before; longer ones count with the last."""
    counts = np.zeros(len(edges))
    for seen, scales in view.blocks(X, known):
        place = np.minimum(np.searchsorted(edges, view.lengths(seen, scales)), len(edges) - 1)
        counts += np.bincount(place, minlength=len(edges))
    return counts / known.n


def moment(X: Entries, known: Knowledge, view: View, clip: float) -> Array:
    """(l, l): Σ z zᵀ / n, ‖z‖ ≤ clip."""
    total = np.zeros((view.width, view.width))
    for seen, scales in view.blocks(X, known):
        scales = scales * clip_scales(view.lengths(seen, scales), clip * SAFE)
        total += second_moment(seen, scales**2)
    return view.of_moment(total) / known.n
