"""X with missing entries: only what is observed counts, by imputation with the current model, which is never formed whole.

With Ω the observed places, the pair for F is that of the completed data P_Ω(X) + P_Ω̄(WH), but written on the residual:
    cross = other P_Ω(X − WH)ᵀ + gram F
so that the cost is that of the observed (sparse) or of one block at a time (dense).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, final

import numpy as np
import scipy.sparse as sp

from partwise.currency import Array, NormalEq, RatioEq
from partwise.data.betas import divergences, floor, weights_of_ratio
from partwise.data.dense import row_slices
from partwise.data.entries import Entries
from partwise.data.sparse import Sparse
from partwise.protocols import Sketch


class Masked(Entries):
    """What both forms share: the trace trick does not hold, so errors are always measured on the residual."""

    def normal_eq(self, other: Array, F: Array, weights: Array | None = None, gram: Array | None = None) -> NormalEq:
        scaled = other if weights is None else other * weights
        gram = scaled @ other.T if gram is None else gram
        return NormalEq(gram, self._residual_times(scaled, F, other) + gram @ F)

    @abstractmethod
    def _residual_times(self, scaled: Array, F: Array, other: Array) -> Array:
        """(k, n): scaled P_Ω(X − Fᵀ other)ᵀ."""

    @property
    def traceable(self) -> bool:
        return False

    @abstractmethod
    def row_pairs(self, H: Array) -> Iterator[NormalEq]:
        """For each row i, over what was observed of it: gram (k, k) = H_Ω H_Ωᵀ and cross (k, 1) = H_Ω x_Ω."""


@final
@dataclass(frozen=True, eq=False)
class MaskedDense(Masked):
    """An array in which NaN is missing, and, where `observed` is given, every place where that is False."""

    array: Array  # (n, m)
    observed: np.ndarray | None = None  # (n, m) of bool

    @property
    def shape(self) -> tuple[int, int]:
        return self.array.shape  # type: ignore[return-value]

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.array.dtype

    @property
    def nnz(self) -> int:
        return self.array.size

    @property
    def T(self) -> MaskedDense:
        return MaskedDense(self.array.T, None if self.observed is None else self.observed.T)

    def _known(self, part: slice) -> tuple[Array, np.ndarray]:
        """A block of rows with zeros where nothing is known, and where something is."""
        known = ~np.isnan(self.array[part])
        if self.observed is not None:
            known &= self.observed[part]
        return np.where(known, self.array[part], self.dtype.type(0)), known

    def _residual_times(self, scaled: Array, F: Array, other: Array) -> Array:
        out = np.empty_like(F)
        for part in self._slices():
            values, known = self._known(part)
            values -= F[:, part].T @ other
            values *= known
            out[:, part] = scaled @ values.T
        return out

    def row_pairs(self, H: Array) -> Iterator[NormalEq]:
        for part in self._slices():
            for x, known in zip(*self._known(part), strict=True):
                seen = H[:, known]
                yield NormalEq(seen @ seen.T, seen @ x[known][:, None])

    def times(self, F: Array) -> Array:
        return np.concatenate([F @ self._known(part)[0].T for part in self._slices()], axis=1)

    def ratio_eq(self, other: Array, F: Array, beta: float, weights: Array | None = None) -> RatioEq:
        scaled = other if weights is None else other * weights
        numerator, denominator = np.empty_like(F), np.empty_like(F)
        for part in self._slices():
            values, known = self._known(part)
            above, below = weights_of_ratio(values, floor(F[:, part].T @ other), beta)
            numerator[:, part] = scaled @ above.T
            denominator[:, part] = scaled @ (known.astype(self.dtype) if below is None else below * known).T
        return RatioEq(numerator, denominator)

    def row_sq_norms(self) -> Array:
        rows = np.empty(self.shape[0])
        for part in self._slices():
            rows[part] = np.square(self._known(part)[0], dtype=np.float64).sum(axis=1)
        return rows

    def row_divergences(self, Wt: Array, H: Array, beta: float) -> Array:
        rows = np.empty(self.shape[0])
        for part in self._slices():
            values, known = self._known(part)
            model = Wt[:, part].T @ H
            model = model if beta == 2 else floor(model)
            # where nothing is known, compare the model with itself: no term
            rows[part] = divergences(np.where(known, values, model), model, beta).sum(axis=1)
        return rows

    def blocks(self) -> Iterator[tuple[slice, MaskedDense]]:
        for part in self._slices():
            yield part, self.rows(part)

    def rows(self, index: Any) -> MaskedDense:
        return MaskedDense(self.array[index], None if self.observed is None else self.observed[index])

    def sketched(self, sketch: Sketch, start: int = 0) -> Array:
        return np.concatenate([sketch.apply(self._known(part)[0], start) for part in self._slices()])

    def has_zeros(self) -> bool:
        blocks = (self._known(part) for part in self._slices())
        return any(bool((values[known] == 0).any()) for values, known in blocks)

    def total(self) -> tuple[float, int]:
        sums = [(float(v.sum(dtype=np.float64)), int(known.sum())) for v, known in map(self._known, self._slices())]
        return sum(total for total, _ in sums), sum(count for _, count in sums)

    def _slices(self) -> Iterator[slice]:
        return row_slices(self.shape[0], self.shape[1] * self.dtype.itemsize)


@final
@dataclass(frozen=True, eq=False)
class MaskedSparse(Masked):
    """A sparse array of which only the stored places were observed (ratings, counts of what was looked at)."""

    entries: Sparse

    @property
    def shape(self) -> tuple[int, int]:
        return self.entries.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.entries.dtype

    @property
    def nnz(self) -> int:
        return self.entries.nnz

    @property
    def T(self) -> MaskedSparse:
        return MaskedSparse(self.entries.T)

    def _residual_times(self, scaled: Array, F: Array, other: Array) -> Array:
        residual = self.entries.stored.data - self.entries.model_at_stored(F, other)
        return self.entries.times_values(residual, scaled)

    def row_pairs(self, H: Array) -> Iterator[NormalEq]:
        A = self.entries.stored
        rows = sp.csr_array(A.T) if self.entries.flipped else A
        for first, last in pairwise(rows.indptr):
            seen = H[:, rows.indices[first:last]]
            yield NormalEq(seen @ seen.T, seen @ rows.data[first:last, None])

    def times(self, F: Array) -> Array:
        return self.entries.times(F)

    def ratio_eq(self, other: Array, F: Array, beta: float, weights: Array | None = None) -> RatioEq:
        scaled = other if weights is None else other * weights
        model = floor(self.entries.model_at_stored(F, other))
        above, below = weights_of_ratio(self.entries.stored.data, model, beta)
        below = np.ones_like(above) if below is None else below
        return RatioEq(self.entries.times_values(above, scaled), self.entries.times_values(below, scaled))

    def row_sq_norms(self) -> Array:
        return self.entries.row_sq_norms()

    def row_divergences(self, Wt: Array, H: Array, beta: float) -> Array:
        model = self.entries.model_at_stored(Wt, H)
        model = model if beta == 2 else floor(model)
        return self.entries.row_sums(divergences(self.entries.stored.data, model, beta))

    def blocks(self) -> Iterator[tuple[slice, MaskedSparse]]:
        yield slice(0, self.shape[0]), self

    def rows(self, index: Any) -> MaskedSparse:
        return MaskedSparse(self.entries.rows(index))

    def sketched(self, sketch: Sketch, start: int = 0) -> Array:
        return self.entries.sketched(sketch, start)

    def has_zeros(self) -> bool:
        return bool((self.entries.stored.data == 0).any())

    def total(self) -> tuple[float, int]:
        return self.entries.total()[0], self.nnz
