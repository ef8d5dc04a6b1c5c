"""The search for the components that are not 0 in one least-squares problem with x ≥ 0: by pivots, and where they go in circles one by one.

The problem is scaled as `bpp` does it: gram has a unit diagonal, or zeros where a component is dead, and the largest slope at 0 is 1.
"""

from __future__ import annotations

import numpy as np

from partwise.kernels.compiling import inline, kernel
from partwise.kernels.factor import back_substitute, eliminate
from partwise.kernels.panels import add_multiple, load, store, zeros

_TOLERANCE = 1e-12  # a sign is wrong beyond this, in the scaled problem, times the size of the solution
_PATIENCE = 3  # exchanges that may bring nothing before the components are taken in one by one
_ENTRIES = 3  # of each component, on average: then what still enters and leaves does so by rounding
WIDE = 32  # numbers in a row of the scaled gram that are worked on at once


@kernel
def solve(gram, wide, slopes, x):
    """x ← argmin ½ xᵀ gram x − xᵀ slopes over x ≥ 0, starting from the passive set x > 0."""
    k = len(x)
    passive = x > 0
    chosen, signed = np.empty(k, np.int64), np.empty(k)
    fewest, patience = k + 1, _PATIENCE
    while patience >= 0:
        count = _listed(passive, chosen)
        values = _solve_passive(gram, slopes, chosen[:count])
        tolerance = _signs(wide, slopes, chosen[:count], values, signed, x)
        wrong = 0
        for j in range(k):
            if signed[j] < -tolerance:
                wrong += 1
                passive[j] = not passive[j]
        if wrong == 0:
            for j in range(k):
                x[j] = max(0.0, x[j])
            return
        if wrong < fewest:
            fewest, patience = wrong, _PATIENCE
        else:
            patience -= 1
    enter_one_by_one(gram, wide, slopes, x)


@kernel
def enter_one_by_one(gram, wide, slopes, x):
    """x ← the same from nothing: the objective falls with every entry, so no passive set comes twice.

    The steepest component enters; the others move to the solution on the passive set, or as far as they stay positive, and who is 0
    leaves. One that would not grow was steep by rounding alone: it is refused until another one has entered.
    """
    k = len(x)
    x[:] = 0.0
    passive, refused = np.zeros(k, np.bool_), np.zeros(k, np.bool_)
    chosen, signed, target = np.empty(k, np.int64), np.empty(k), np.empty(k)
    uphill, tolerance = -slopes, _TOLERANCE
    for _ in range(_ENTRIES * k):
        entering = -1
        for j in range(k):
            free = not (passive[j] or refused[j]) and uphill[j] < -tolerance
            if free and (entering < 0 or uphill[j] < uphill[entering]):
                entering = j
        if entering < 0:
            return
        passive[entering] = True
        while True:
            count = _listed(passive, chosen)
            values = _solve_passive(gram, slopes, chosen[:count])
            tolerance = _signs(wide, slopes, chosen[:count], values, signed, target)
            if x[entering] == 0 and not target[entering] > 0:
                passive[entering] = False
                refused[entering] = True
                break
            if _move(x, target, chosen[:count], passive):
                uphill[:] = signed
                refused[:] = False
                break


@inline
def _listed(passive, chosen):
    """Fill chosen with the passive components; how many there are."""
    count = 0
    for j in range(len(passive)):
        if passive[j]:
            chosen[count] = j
            count += 1
    return count


@inline
def _move(x, target, chosen, passive):
    """Move x ≥ 0 to the target, or as far as it stays so: whether it arrived. Components that come to 0 are passive no more."""
    share, first = 1.0, -1
    for a in range(len(chosen)):
        j = chosen[a]
        if target[j] <= 0 and x[j] / (x[j] - target[j]) <= share:
            share, first = x[j] / (x[j] - target[j]), j
    for a in range(len(chosen)):
        j = chosen[a]
        x[j] = target[j] if first < 0 else max(0.0, x[j] + share * (target[j] - x[j]))
        if j == first or x[j] == 0:
            x[j] = 0.0
            passive[j] = False
    return first < 0


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
    blocks = -(-k // WIDE)
    uphill = np.empty((blocks, WIDE))
    for block in range(blocks):
        sums = zeros(uphill, WIDE)
        for a in range(len(chosen)):
            sums = add_multiple(sums, values[a], load(wide, chosen[a] * blocks + block, WIDE))
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
