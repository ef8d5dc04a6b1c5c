"""X that is read from disk by blocks of rows, each time it is needed: memory-mapped integers, HDF5, zarr, anything with [rows].

Memory: one block, converted to the working precision, beside what is asked for.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any, Protocol, final

import numpy as np
from numpy.typing import NDArray

from partwise.currency import Array, NormalEq, RatioEq
from partwise.data.dense import Dense, row_slices
from partwise.data.entries import Entries
from partwise.data.masked import MaskedDense
from partwise.protocols import Sketch

RUN_BYTES = 1 << 16  # that a disk gives in about the time of one number


class RowSource(Protocol):
    """Something that gives blocks of rows."""

    @property
    def shape(self) -> tuple[int, ...]: ...

    def __getitem__(self, rows: Any) -> Any: ...


@final
@dataclass(frozen=True, eq=False)
class Streamed(Entries):
    """Rows of `source` on demand; when flipped, X is the transpose of that."""

    source: RowSource
    working: np.dtype[Any]  # the dtype of the blocks handed out
    missing: bool = False  # NaN is a missing entry
    flipped: bool = False

    @property
    def shape(self) -> tuple[int, int]:
        n, m = self.source.shape
        return (m, n) if self.flipped else (n, m)

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.working

    @property
    def nnz(self) -> int:
        return self.shape[0] * self.shape[1]

    @property
    def T(self) -> Streamed:
        return replace(self, flipped=not self.flipped)

    @property
    def traceable(self) -> bool:
        return not self.missing

    @property
    def run(self) -> int:
        return 1 if self.flipped else max(1, RUN_BYTES // (self.shape[1] * self.dtype.itemsize))

    def blocks(self) -> Iterator[tuple[slice, Entries]]:
        if self.flipped:  # rows of X are columns of the source: not cut, so that the source is read in its own order
            yield slice(0, self.shape[0]), self
        else:
            yield from self._read()

    def _read(self) -> Iterator[tuple[slice, Entries]]:
        """The source by blocks of its rows."""
        n, m = self.source.shape
        for part in row_slices(n, m * self.dtype.itemsize):
            yield part, self._hold(self.source[part])

    def _hold(self, rows: Any) -> Entries:
        array = np.ascontiguousarray(rows, dtype=self.dtype)
        return MaskedDense(array) if self.missing else Dense(array)

    def times(self, F: Array) -> Array:
        if self.flipped:
            return _sum(block.T.times(F[:, part]) for part, block in self._read())
        return np.concatenate([block.times(F) for _, block in self._read()], axis=1)

    def normal_eq(self, other: Array, F: Array, weights: Array | None = None, gram: Array | None = None) -> NormalEq:
        if self.flipped:
            pairs = (block.T.normal_eq(other[:, p], F, _part(weights, p)) for p, block in self._read())
            whole = reduce(NormalEq.plus, pairs)
            return whole if gram is None else NormalEq(gram, whole.cross)
        across = [block.normal_eq(other, F[:, p], weights, gram) for p, block in self._read()]
        return NormalEq(across[0].gram, np.concatenate([pair.cross for pair in across], axis=1))

    def ratio_eq(self, other: Array, F: Array, beta: float, weights: Array | None = None) -> RatioEq:
        if self.flipped:
            pairs = (block.T.ratio_eq(other[:, p], F, beta, _part(weights, p)) for p, block in self._read())
            return reduce(RatioEq.plus, pairs)
        across = [block.ratio_eq(other, F[:, p], beta, weights) for p, block in self._read()]
        return RatioEq(*(np.concatenate(side, axis=1) for side in zip(*across, strict=True)))

    def row_sq_norms(self) -> Array:
        if self.flipped:
            return _sum(block.T.row_sq_norms() for _, block in self._read())
        return np.concatenate([block.row_sq_norms() for _, block in self._read()])

    def row_divergences(self, Wt: Array, H: Array, beta: float) -> Array:
        if self.flipped:
            return _sum(block.T.row_divergences(Wt, H[:, p], beta) for p, block in self._read())
        return np.concatenate([block.row_divergences(Wt[:, p], H, beta) for p, block in self._read()])

    def rows(self, index: Any) -> Entries:
        if self.flipped:
            n, m = self.source.shape
            parts = row_slices(n, m * self.dtype.itemsize)
            return self._hold(np.concatenate([np.asarray(self.source[part])[:, index] for part in parts]).T)
        if isinstance(index, slice) or not len(index):
            return self._hold(self.source[index])
        return self._hold(np.concatenate([self.source[part] for part in _runs(np.asarray(index))]))

    def sketched(self, sketch: Sketch, start: int = 0) -> Array:
        if self.flipped:
            return _sum(block.T.sketched(sketch, start + part.start) for part, block in self._read())
        return np.concatenate([block.sketched(sketch, start) for _, block in self._read()])

    def has_zeros(self) -> bool:
        return any(block.has_zeros() for _, block in self._read())

    def total(self) -> tuple[float, int]:
        sums = [block.total() for _, block in self._read()]
        return sum(total for total, _ in sums), sum(count for _, count in sums)


def _runs(index: NDArray[np.integer]) -> Iterator[slice]:
    """Indices as slices of neighbours, in their order."""
    ends = np.flatnonzero(np.diff(index) != 1) + 1
    for run in np.split(index, ends):
        yield slice(int(run[0]), int(run[-1]) + 1)


def _sum(arrays: Iterator[Array]) -> Array:
    """The sum of equally shaped arrays, in order, in place of the first."""
    whole = next(arrays)
    for array in arrays:
        whole += array
    return whole


def _part(weights: Array | None, part: slice) -> Array | None:
    return None if weights is None else weights[part]
