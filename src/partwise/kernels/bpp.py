"""Exact nonnegative least squares by block principal pivoting (Kim & Park 2011), each column on its own.

Pivoting needs few exchanges from a passive set that is nearly right, and coordinate descent finds one at the price of a few
matrix products: so sweeps come first, then pivots until the solution is exact. All of it happens in float64, on the problem
scaled to a unit diagonal and to largest right-hand sides of 1, so that tolerances mean the same at every scale of the data.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from partwise.currency import Array
from partwise.kernels.compiling import inline, kernel, sealed
from partwise.kernels.factor import back_substitute, eliminate
from partwise.kernels.hals import hals_sweeps
from partwise.kernels.panels import add_multiple, load, store, zeros
from partwise.kernels.threads import spread

_SWEEPS = 15  # of coordinate descent before pivoting
_TOLERANCE = 1e-12  # a sign is wrong beyond this, in the scaled problem, times the size of the solution
_COLUMNS = 16  # solved between two transpositions
_PATIENCE = 3  # full exchanges that may bring nothing before single ones begin
_PIVOTS = 5  # per component: then coordinate descent ends the search, for signs that rounding alone keeps changing
_LAST_SWEEPS = 1000  # at most, of that coordinate descent
_WIDE = 32  # numbers in a row of the scaled gram that are worked on at once


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
    """(k · blocks, _WIDE): the gram as a panel, its rows padded to whole blocks."""
    k = len(gram)
    blocks = -(-k // _WIDE)
    padded = np.zeros((k, blocks * _WIDE))
    padded[:, :k] = gram
    return padded.reshape(k * blocks, _WIDE)


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
            _solve(gram, wide, slopes[c], x[c])
        for j in range(k):
            for c in range(columns):
                solution[j, first + c] = x[c, j]


@kernel
def _solve(gram, wide, slopes, x):
    """x ← argmin ½ xᵀ gram x − xᵀ slopes over x ≥ 0, starting from the passive set x > 0."""
    k = len(x)
    passive = x > 0
    chosen, signed = np.empty(k, np.int64), np.empty(k)
    fewest, patience = k + 1, _PATIENCE
    for _ in range(_PIVOTS * k + 10):
        count = 0
        for j in range(k):
            if passive[j]:
                chosen[count] = j
                count += 1
        values = _solve_passive(gram, slopes, chosen[:count])
        tolerance = _signs(wide, slopes, chosen[:count], values, signed, x)
        wrong, last = 0, 0
        for j in range(k):
            if signed[j] < -tolerance:
                wrong, last = wrong + 1, j
        if wrong == 0:
            for j in range(k):
                x[j] = max(0.0, x[j])
            return
        if wrong < fewest:
            fewest, patience = wrong, _PATIENCE
        else:
            patience -= 1
        if patience >= 0:
            for j in range(k):
                if signed[j] < -tolerance:
                    passive[j] = not passive[j]
        else:
            passive[last] = not passive[last]
    _descend(gram, slopes, x)


@inline
def _solve_passive(gram, slopes, chosen):
    """(count,): the unconstrained solution on the chosen components."""
    count = len(chosen)
    rows = -(-count // 4) * 4
    width = (rows + 8) // 8 * 8  # one column at least is left for the right-hand side
    upper = np.zeros(rows * width)
    for a in range(count):
        row = gram[chosen[a]]
        for b in range(a, count):
            upper[a * width + b] = row[chosen[b]]
        upper[a * width + rows] = slopes[chosen[a]]
    inverses = np.zeros(rows)
    eliminate(upper, width, inverses)
    return back_substitute(upper, width, inverses)


@inline
def _signs(wide, slopes, chosen, values, signed, x):
    """Fill x with the values, 0 elsewhere, and signed with what must not be negative: values, and slopes of the others uphill.

    Returns how far below 0 rounding alone may take it.
    """
    k = len(x)
    blocks = -(-k // _WIDE)
    uphill = np.empty((blocks, _WIDE))
    for block in range(blocks):
        sums = zeros(uphill, _WIDE)
        for a in range(len(chosen)):
            sums = add_multiple(sums, values[a], load(wide, chosen[a] * blocks + block, _WIDE))
        store(uphill, block, sums)
    flat = uphill.reshape(-1)
    for j in range(k):
        signed[j] = flat[j] - slopes[j]
        x[j] = 0.0
    size = 1.0
    for a in range(len(chosen)):
        size += abs(values[a])
        signed[chosen[a]] = x[chosen[a]] = values[a]
    return _TOLERANCE * size


@inline
def _descend(gram, slopes, x):
    """Coordinate descent from the nonnegative part of x, until nothing moves."""
    k = len(x)
    downhill = slopes.copy()
    for j in range(k):
        x[j] = max(0.0, x[j])
        downhill -= x[j] * gram[j]
    for _ in range(_LAST_SWEEPS):
        moved = size = 0.0
        for j in range(k):
            if gram[j, j] > 0:
                step = max(-x[j], downhill[j])
                x[j] += step
                downhill -= step * gram[j]
                moved, size = max(moved, abs(step)), max(size, x[j])
        if moved <= _TOLERANCE * size:
            return
