"""Exact nonnegative least squares by block principal pivoting (Kim & Park 2011), each column on its own.

Pivoting needs few exchanges from a passive set that is nearly right, and coordinate descent finds one at the price of a few
matrix products: so sweeps come first, then pivots until the solution is exact. Where components are nearly dependent pivots may go in
circles: as soon as they bring nothing, the components are taken in one by one (Lawson & Hanson 1974), which cannot. All of it
happens in float64, on the problem scaled to a unit diagonal and to largest right-hand sides of 1, so that tolerances mean the
same at every scale of the data.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from partwise.currency import Array
from partwise.kernels.compiling import kernel, sealed
from partwise.kernels.hals import hals_sweeps
from partwise.kernels.passive_sets import WIDE, solve
from partwise.kernels.threads import spread

_SWEEPS = 15  # of coordinate descent before pivoting
_COLUMNS = 16  # solved between two transpositions


class _Scaled(NamedTuple):
    """The problem in units of its own: F = solution · steepest · largest / root."""

    gram: Array  # (k, k), unit diagonal; 0 for dead components
    cross: Array  # (k, r), largest entry of a column 1
    root: Array  # (k, 1), of the gram's diagonal; infinite for dead components
    largest: Array  # (r,), of cross
    steepest: Array  # (r,), of cross / largest / root


def bpp(F: Array, gram: Array, cross: Array) -> Array:
    """(k, r): argmin ½⟨F, gram F⟩ − ⟨F, cross⟩ over F ≥ 0, for gram (k, k) and cross (k, r).

    The search starts from the given F. What gram leaves open is 0: components with gram[j, j] = 0, and those that repeat others
    to within rounding.
    """
    problem = _scaled(gram.astype(np.float64, copy=False), cross.astype(np.float64, copy=False))
    solution = _start(F, problem)
    hals_sweeps(solution, problem.gram, problem.cross, _SWEEPS)
    arguments = sealed(problem.gram), sealed(_widened(problem.gram)), sealed(problem.cross), solution
    spread(lambda start, stop: _pivot_columns(*arguments, start, stop), F.shape[1], _COLUMNS)
    return _unscaled(solution, problem, F.dtype)


def _scaled(gram: Array, cross: Array) -> _Scaled:
    root = np.sqrt(np.maximum(np.diagonal(gram), 0.0))[:, None]
    root[root == 0] = np.inf
    unit = gram / root / root.T
    np.fill_diagonal(unit, np.isfinite(root[:, 0]))
    cross, largest = _normed(cross)
    cross /= root
    cross, steepest = _normed(cross)
    return _Scaled(unit, cross, root, largest, steepest)


def _normed(cross: Array) -> tuple[Array, Array]:
    """Each column divided by its largest absolute entry, and these."""
    largest = np.abs(cross).max(axis=0, initial=0.0)
    largest[largest == 0] = 1.0
    return cross / largest, largest


def _start(F: Array, problem: _Scaled) -> Array:
    """(k, r): F in the problem's units. Where these lie out of range the search starts from 0."""
    with np.errstate(all="ignore"):
        start = F * problem.root
        start /= problem.steepest
        start /= problem.largest
    start[~np.isfinite(start)] = 0.0
    return np.ascontiguousarray(start)


def _unscaled(solution: Array, problem: _Scaled, dtype: np.dtype[Any]) -> Array:
    """(k, r): the solution in the caller's units; what would overflow is the largest number there is."""
    with np.errstate(over="ignore", under="ignore"):
        solution *= problem.steepest
        solution *= problem.largest
        solution /= problem.root
        np.minimum(solution, np.finfo(dtype).max, out=solution)
    return solution.astype(dtype, copy=False)


def _widened(gram: Array) -> Array:
    """(k · blocks, WIDE): the gram as a panel, its rows padded to whole blocks."""
    k = len(gram)
    blocks = -(-k // WIDE)
    padded = np.zeros((k, blocks * WIDE))
    padded[:, :k] = gram
    return padded.reshape(k * blocks, WIDE)


@kernel
def _pivot_columns(gram, wide, cross, solution, start, stop):
    """Solve columns start:stop, solution being where the search starts and where it ends."""
    k = len(gram)
    x, slopes = np.empty((_COLUMNS, k)), np.empty((_COLUMNS, k))
    for first in range(start, stop, _COLUMNS):
        columns = min(_COLUMNS, stop - first)
        for j in range(k):
            for c in range(columns):
                x[c, j] = solution[j, first + c]
                slopes[c, j] = cross[j, first + c]
        for c in range(columns):
            solve(gram, wide, slopes[c], x[c])
        for j in range(k):
            for c in range(columns):
                solution[j, first + c] = x[c, j]
