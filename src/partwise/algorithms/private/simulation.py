"""Rows that have a given second moment, simulated, and their parts: free, as nothing of the data is seen but what was released."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from partwise.algorithms.private.query import Knowledge, random_components
from partwise.algorithms.private.shrinkage import positive_part
from partwise.algorithms.single.methods import Problem, method
from partwise.currency import Array
from partwise.data import as_matrix
from partwise.randomness import Purpose, generator

STEPS = 100  # of HALS


def parts_of_simulated(root: Array, direction: Array, known: Knowledge) -> Array:
    """(k, l): NMF, by the steps of plain HALS, of rows with second moment rootᵀ root; the seed is public."""
    k, count = known.k, max(1000, 40 * known.k)
    X = as_matrix(simulated(root, direction, count, known.seed))
    hals = method("hals", Problem(X.shape, X.nnz, k, seed=known.seed), {})
    state = hals.init(X, np.full((k, count), 1.0 / k), random_components(replace(known, m=len(direction))))
    for t in range(1, STEPS + 1):
        state = hals.step(X, state, t)
    return state.H


def simulated(root: Array, direction: Array, count: int, seed: int) -> Array:
    """(count, l): nonnegative rows with the second moment rootᵀ root, about a mean along its strongest direction."""
    S = root.T @ root
    if not len(root):
        return np.tile(direction, (count, 1))
    along = np.linalg.eigh(S)[1][:, -1]
    along = along * (1.0 if along @ direction >= 0 else -1.0)
    centre = S @ along / np.sqrt(along @ S @ along)  # E[x a]/√E[a²], a = x·along, which varies little
    values, vectors = np.linalg.eigh(positive_part(S - np.outer(centre, centre)))
    some = values > 1e-12 * max(values[-1], 0.0)
    spread = vectors[:, some] * np.sqrt(values[some])
    draws = generator(seed, Purpose.SIMULATE).standard_normal((count, spread.shape[1]))
    return np.maximum(centre + draws @ spread.T, 0.0)
