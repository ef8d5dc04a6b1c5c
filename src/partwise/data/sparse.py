"""X as compressed rows or columns: what is not stored is zero. Nothing dense of X's shape is ever formed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np
import scipy.sparse as sp

from partwise.currency import Array, RatioEq
from partwise.data.betas import divergences, floor, x_log_ratio
from partwise.data.dense import row_slices
from partwise.data.entries import Entries
from partwise.kernels.sparse import gather, sampled_product, scatter
from partwise.protocols import Sketch

PANELS = 16  # blocks of BLOCK_BYTES that a sketched panel may take: cutting rows out of X has its price


@final
@dataclass(frozen=True, eq=False)
class Sparse(Entries):
    """X is `stored` (CSR) or, when flipped, its transpose; so CSC input is taken as it is."""

    stored: Any  # csr_array; SciPy does not say the types of its parts
    flipped: bool = False

    @property
    def shape(self) -> tuple[int, int]:
        n, m = self.stored.shape
        return (m, n) if self.flipped else (n, m)

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.stored.dtype

    @property
    def nnz(self) -> int:
        return self.stored.nnz

    @property
    def T(self) -> Sparse:
        return replace(self, flipped=not self.flipped)

    def times(self, F: Array) -> Array:
        return self.times_values(self.stored.data, F)

    def times_values(self, data: Array, F: Array) -> Array:
        """F Xᵀ with other values at the stored places."""
        A = self.stored
        if self.flipped:
            return scatter(A.indptr, A.indices, data, F, A.shape[1])
        return gather(A.indptr, A.indices, data, F)

    def model_at_stored(self, Wt: Array, H: Array) -> Array:
        """(nnz,): WH at the stored places, O(nnz k)."""
        left, right = (H, Wt) if self.flipped else (Wt, H)
        return sampled_product(self.stored.indptr, self.stored.indices, left, right)

    def ratio_eq(self, other: Array, F: Array, beta: float, weights: Array | None = None) -> RatioEq:
        """O(nnz k) for β = 1 and 2. For other β the denominator needs every entry of WH: O(n m k) time, still O(block) memory."""
        if beta == 2:
            return self.normal_eq(other, F, weights).ratio(F)
        scaled = other if weights is None else other * weights
        model = floor(self.model_at_stored(F, other))
        if beta == 1:
            denominator = np.broadcast_to(scaled.sum(axis=1, keepdims=True), F.shape)
            return RatioEq(self.times_values(self.stored.data / model, scaled), denominator)
        numerator = self.times_values(self.stored.data * model ** (beta - 2), scaled)
        denominator = np.empty_like(F)
        for part in self._slices():
            denominator[:, part] = scaled @ (floor(F[:, part].T @ other) ** (beta - 1)).T
        return RatioEq(numerator, denominator)

    def row_sq_norms(self) -> Array:
        return self.row_sums(np.square(self.stored.data, dtype=np.float64))

    def row_sums(self, values: Array) -> Array:
        """(n,): sums over the rows of X of values at the stored places."""
        A, (n, _) = self.stored, self.shape
        if self.flipped:
            return np.bincount(A.indices, values, n).astype(np.float64)
        return np.bincount(np.repeat(np.arange(n), np.diff(A.indptr)), values, n).astype(np.float64)

    def row_divergences(self, Wt: Array, H: Array, beta: float) -> Array:
        x = self.stored.data.astype(np.float64)
        model = self.model_at_stored(Wt, H).astype(np.float64)
        if beta == 2:  # ½ Σ_all y² + Σ_stored (½ x² − x y)
            whole = np.einsum("kn,kl,ln->n", Wt, H @ H.T, Wt, dtype=np.float64, optimize=True)
            return self.row_sums(0.5 * x**2 - x * model) + 0.5 * whole
        floor(model)
        if beta == 1:
            return self.row_sums(x_log_ratio(x, model) - x) + Wt.T.astype(np.float64) @ H.sum(axis=1, dtype=np.float64)
        if beta <= 0:  # finite only if every entry is stored
            return self.row_sums(divergences(x, model, beta))
        rows = self.row_sums(divergences(x, model, beta) - divergences(np.zeros_like(x), model, beta))
        for part in self._slices():
            everywhere = floor(Wt[:, part].T @ H)
            rows[part] += divergences(np.zeros_like(everywhere), everywhere, beta).sum(axis=1)
        return rows

    def blocks(self) -> Iterator[tuple[slice, Sparse]]:
        yield slice(0, self.shape[0]), self

    def rows(self, index: Any) -> Sparse:
        picked = self.stored[:, index].T if self.flipped else self.stored[index]
        return Sparse(sp.csr_array(picked))

    def sketched(self, sketch: Sketch, start: int = 0) -> Array:
        return sketch.apply(self.stored.T if self.flipped else self.stored, start)

    def has_zeros(self) -> bool:
        return self.nnz < self.shape[0] * self.shape[1] or bool((self.stored.data == 0).any())

    def times_sketched(self, F: Array, sketch: Sketch, start: int = 0) -> Array:
        """F Sᵀ Xᵀ from the right where S is sparse itself: X S, which is dense, is never formed; O(nnz k), or of the chosen columns."""
        lifted = sketch.lift(F, start, self.shape[1], self.shape[0])
        if lifted is None:
            return self._times_panels(F, sketch, start)
        index, G = lifted
        return (self if index is None else self.columns(index)).times(np.ascontiguousarray(G))

    def _times_panels(self, F: Array, sketch: Sketch, start: int) -> Array:
        """A sketched block of rows at a time, as all of them would be dense and larger than X itself."""
        out = np.empty((len(F), self.shape[0]), F.dtype)
        for part in row_slices(self.shape[0], F.shape[1] * F.itemsize // PANELS):
            out[:, part] = F @ self.rows(part).sketched(sketch, start).T
        return out

    def columns(self, index: Any) -> Sparse:
        """Some columns, ascending; held as X is."""
        return replace(self, stored=self.stored[index] if self.flipped else self.stored[:, index])

    def total(self) -> tuple[float, int]:
        n, m = self.shape
        return float(self.stored.data.sum(dtype=np.float64)), n * m

    def _slices(self) -> Iterator[slice]:
        """Blocks of rows of the (dense) model."""
        return row_slices(self.shape[0], self.shape[1] * self.dtype.itemsize)
