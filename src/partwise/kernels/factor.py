"""Cholesky's factor of a small matrix, four rows at a time with their sums in vector registers.

The matrix is the upper triangle of a flat array: entry (a, b) at a · width + b, rows and width multiples of 4 and 8. The column
after the last holds the right-hand side, which elimination carries along. Rows that depend on earlier ones, and rows of
zeros that pad, drop out: their `inverses`, 1 / pivot, are 0, and so is their part of the solution.
"""

from __future__ import annotations

import numpy as np

from partwise.kernels.compiling import inline, kernel
from partwise.kernels.panels import add_multiple, load, store, zeros

BLOCK = 8  # numbers that are handled at once
_ROUNDING = (
    4 * np.finfo(np.float64).eps
)  # per row: the size of a pivot (of a unit diagonal) that rounding may have left


@kernel
def eliminate(upper, width, inverses):
    """In place: upper ← L⁻¹ (matrix, right-hand side), but for the diagonal, whose inverses go to `inverses`."""
    rows, blocks = len(inverses), width // BLOCK
    panel = upper.reshape(-1, BLOCK)
    smallest = _ROUNDING * rows
    for top in range(0, rows, 4):
        u01 = u02 = u03 = u12 = u13 = u23 = 0.0
        for block in range(top // BLOCK, blocks):
            first = top * blocks + block
            row0, row1 = load(panel, first, BLOCK), load(panel, first + blocks, BLOCK)
            row2, row3 = load(panel, first + 2 * blocks, BLOCK), load(panel, first + 3 * blocks, BLOCK)
            for a in range(top):
                above, at = load(panel, a * blocks + block, BLOCK), a * width + top
                row0 = add_multiple(row0, -upper[at], above)
                row1 = add_multiple(row1, -upper[at + 1], above)
                row2 = add_multiple(row2, -upper[at + 2], above)
                row3 = add_multiple(row3, -upper[at + 3], above)
            if block == top // BLOCK:
                _store4(panel, first, blocks, row0, row1, row2, row3)
                u01, u02, u03, u12, u13, u23 = _factor4(upper, width, top, inverses, smallest)
            row0 = add_multiple(zeros(upper, BLOCK), inverses[top], row0)
            row1 = add_multiple(row1, -u01, row0)
            row1 = add_multiple(zeros(upper, BLOCK), inverses[top + 1], row1)
            row2 = add_multiple(add_multiple(row2, -u02, row0), -u12, row1)
            row2 = add_multiple(zeros(upper, BLOCK), inverses[top + 2], row2)
            row3 = add_multiple(add_multiple(add_multiple(row3, -u03, row0), -u13, row1), -u23, row2)
            row3 = add_multiple(zeros(upper, BLOCK), inverses[top + 3], row3)
            _store4(panel, first, blocks, row0, row1, row2, row3)


@inline
def _store4(panel, first, blocks, row0, row1, row2, row3):
    store(panel, first, row0)
    store(panel, first + blocks, row1)
    store(panel, first + 2 * blocks, row2)
    store(panel, first + 3 * blocks, row3)


@inline
def _factor4(upper, width, top, inverses, smallest):
    """The factor of the four rows' own square: fills in their inverses, returns what lies above its diagonal."""
    row0 = top * width + top
    row1, row2, row3 = row0 + width, row0 + 2 * width, row0 + 3 * width
    i0 = _inverse_root(upper[row0], smallest)
    u01, u02, u03 = upper[row0 + 1] * i0, upper[row0 + 2] * i0, upper[row0 + 3] * i0
    i1 = _inverse_root(upper[row1 + 1] - u01 * u01, smallest)
    u12, u13 = (upper[row1 + 2] - u01 * u02) * i1, (upper[row1 + 3] - u01 * u03) * i1
    i2 = _inverse_root(upper[row2 + 2] - u02 * u02 - u12 * u12, smallest)
    u23 = (upper[row2 + 3] - u02 * u03 - u12 * u13) * i2
    i3 = _inverse_root(upper[row3 + 3] - u03 * u03 - u13 * u13 - u23 * u23, smallest)
    inverses[top], inverses[top + 1], inverses[top + 2], inverses[top + 3] = i0, i1, i2, i3
    return u01, u02, u03, u12, u13, u23


@inline
def _inverse_root(pivot, smallest):
    return 1.0 / np.sqrt(pivot) if pivot > smallest else 0.0


@kernel
def back_substitute(upper, width, inverses):
    """(rows,): the solution, from what `eliminate` left; the right-hand side there is used up."""
    rows = len(inverses)
    values = np.empty(rows)
    for a in range(rows):
        values[a] = upper[a * width + rows]
    for a in range(rows - 1, -1, -1):
        values[a] *= inverses[a]
        for b in range(a):
            values[b] -= upper[b * width + a] * values[a]
    return values
