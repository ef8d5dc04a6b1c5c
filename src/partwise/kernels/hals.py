"""Sweeps of coordinate descent (HALS) over dense pairs, as fast as a matrix product.

A strip of columns (see `lanes`) is copied to where it stays in cache for all sweeps. Its components go by tiles of five: the slopes of
a tile, cross − gram F, are gathered in registers from all components of the strip; then the five take their steps one after
another, each telling the later ones. Columns meet nowhere, so results depend neither on threads nor on how columns are cut.
"""

from __future__ import annotations

import numpy as np

from partwise.currency import Array
from partwise.kernels.compiling import inline, kernel, sealed
from partwise.kernels.lanes import BYTES, add_multiples, load, positive, prefetch, scratch, store, subtract, width
from partwise.kernels.sums import add_products
from partwise.kernels.threads import spread

TILE = 5  # components whose slopes are gathered together
PANEL = 16  # the same where whole rows are needed, and BLAS gathers
SHARE = 1 << 21  # multiplications below which another thread costs more than it brings


def hals_sweeps(F: Array, gram: Array, cross: Array, sweeps: int = 1) -> None:
    """In place, `sweeps` times, for each component j in order: F[j] = max(0, F[j] + (cross[j] − gram[j] F) / gram[j, j]).

    F (k, r) and cross (k, r) are C-contiguous, gram (k, k), all of one dtype. A component whose gram[j, j] is not a positive
    normal number (its reciprocal could overflow) is left alone.
    """
    k, r = F.shape
    lanes = width(F.dtype)
    whole = r - r % lanes
    gram, cross = sealed(gram), sealed(cross)
    least = SHARE // max(1, k * k * sweeps)
    spread(lambda start, stop: _sweep_strips(F, gram, cross, sweeps, start, stop), whole, lanes, least)
    if whole < r:
        last, last_cross = np.zeros((2, k, lanes), F.dtype)
        last[:, : r - whole], last_cross[:, : r - whole] = F[:, whole:], cross[:, whole:]
        _sweep_strips(last, gram, sealed(last_cross), sweeps, 0, lanes)
        F[:, whole:] = last[:, : r - whole]


def hals_ball_sweep(F: Array, gram: Array, cross: Array) -> None:
    """In place, for each component j in order: F[j] = the best nonnegative row with ‖F[j]‖₂ ≤ 1, all others held.

    That is the row of `hals_sweeps`, divided by its norm where that exceeds 1: the objective is a multiple of the distance to the
    unconstrained row, and projecting on the orthant, then on the ball, projects on what they share. Arguments as there.
    """
    for top in range(0, len(F), PANEL):
        panel = slice(top, top + PANEL)
        slopes = cross[panel] - gram[panel] @ F
        _settle_rows(F[panel], sealed(np.ascontiguousarray(gram[panel, panel])), slopes)


@kernel
def _sweep_strips(F, gram, cross, sweeps, start, stop):
    """hals_sweeps on the whole strips of [start, stop)."""
    k, r = F.shape
    lanes = BYTES // F.itemsize
    numbers, inverses = _pack(gram)
    strip = scratch(len(inverses) * lanes, F.dtype)
    F, cross = F.reshape(-1), cross.reshape(-1)
    for column in range(start, stop, lanes):
        for j in range(k):
            store(strip, j * lanes, load(F, j * r + column))
            prefetch(F, j * r + column + lanes)  # the next strip's: rows too far apart for the processor to guess
            prefetch(cross, j * r + column + lanes)
        for _ in range(sweeps):
            for j in range(0, k, TILE):
                _sweep_tile(strip, numbers, inverses, cross, column, j, k, r, lanes)
        for j in range(k):
            store(F, j * r + column, load(strip, j * lanes))


@inline
def _pack(gram):
    """−gram by tiles, in the order of use: numbers[(j·k + l) + p] = −gram[j + p, l] for the tile that starts at j; and 1 / gram[j, j].

    Padded to whole tiles; 0 for the reciprocal of padding and of components that are left alone.
    """
    k = len(gram)
    padded = -(-k // TILE) * TILE
    numbers, inverses = np.zeros(padded * k, gram.dtype), np.zeros(padded, gram.dtype)
    for tile in range(0, k, TILE):
        for p in range(min(TILE, k - tile)):
            j = tile + p
            for component in range(k):
                numbers[tile * k + component * TILE + p] = -gram[j, component]
            if gram[j, j] >= np.finfo(gram.dtype).tiny:
                inverses[j] = 1 / gram[j, j]
    return numbers, inverses


@inline
def _sweep_tile(strip, numbers, inverses, cross, column, j, k, r, lanes):
    """Components j … j + 4 of a strip. Past the end the padding reads the last row of cross, and never moves."""
    slopes = (
        load(cross, j * r + column),
        load(cross, min(j + 1, k - 1) * r + column),
        load(cross, min(j + 2, k - 1) * r + column),
        load(cross, min(j + 3, k - 1) * r + column),
        load(cross, min(j + 4, k - 1) * r + column),
    )
    tile = j * k
    for component in range(k):
        slopes = add_multiples(slopes, numbers, tile + component * TILE, load(strip, component * lanes))
    own = tile + j * TILE
    later = _settle(strip, numbers, inverses, j, own + 1, slopes, lanes)
    later1 = _settle(strip, numbers, inverses, j + 1, own + TILE + 2, later, lanes)
    later2 = _settle(strip, numbers, inverses, j + 2, own + 2 * TILE + 3, later1, lanes)
    later3 = _settle(strip, numbers, inverses, j + 3, own + 3 * TILE + 4, later2, lanes)
    _settle(strip, numbers, inverses, j + 4, own + 4 * TILE + 5, later3, lanes)


@inline
def _settle(strip, numbers, inverses, j, at, slopes, lanes):
    """Component j takes its step, slopes[0] / gram[j, j]; the slopes of the later ones of its tile follow."""
    old = load(strip, j * lanes)
    moved = add_multiples((old,), inverses, j, slopes[0])
    new = positive(moved[0])
    store(strip, j * lanes, new)
    return add_multiples(slopes[1:], numbers, at, subtract(new, old))


@kernel
def _settle_rows(rows, gram, slopes):
    """hals_ball_sweep on some rows of F, given their part of gram and their slopes, which are used up."""
    for j in range(len(rows)):
        if not gram[j, j] >= np.finfo(gram.dtype).tiny:
            continue
        row, slope = rows[j], slopes[j]
        for i in range(len(row)):
            slope[i] = max(gram.dtype.type(0), row[i] + slope[i] / gram[j, j])
        norm = gram.dtype.type(max(1.0, np.sqrt(add_products(slope, slope))))
        for i in range(len(row)):
            new = slope[i] / norm
            slope[i] = new - row[i]  # from here on: by how much the row moved
            row[i] = new
        for later in range(j + 1, len(rows)):
            for i in range(len(row)):
                slopes[later, i] -= gram[later, j] * slope[i]
