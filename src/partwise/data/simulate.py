"""Problems with known answers: X (n, m) with the W (n, k) and H (k, m) that it was made of.

Random numbers are named by (seed, what for, block of rows); beside X itself no more than a block is held.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import DTypeLike

from partwise.currency import Array
from partwise.errors import OptionError
from partwise.randomness import BLOCK, Purpose, generator

ROWS, PARTS, SAMPLES = 0, 1, 2  # iterations of the counter: W, H, and what is drawn on top of them


class Problem(NamedTuple):
    """X ≈ W H; W is the transpose's view of a component-major array."""

    X: Any  # (n, m): an array, or csr_array
    W: Array  # (n, k)
    H: Array  # (k, m)


def planted(
    n: int, m: int, k: int, *, seed: int, noise: float = 0.0, density: float = 1.0, sparse: bool = False,
    dtype: DTypeLike = np.float64,
) -> Problem:  # fmt: skip
    """X = W H + noise, with independent gamma factors of which a share `density` is not zero.

    `noise` is Gaussian, in units of the root mean square of W H (of its stored entries if `sparse`), and what falls below zero
    becomes zero. With `sparse`, zeros of W H stay zeros.
    """
    W = _stacked(n, seed, ROWS, lambda rng, rows: _gamma(rng, (rows, k), density))
    H = _stacked(m, seed, PARTS, lambda rng, rows: _gamma(rng, (rows, k), density)).T
    X: Any = sp.csr_array(W) @ sp.csr_array(H) if sparse else W.astype(dtype) @ H.astype(dtype)
    _disturbed(X.data[:, None] if sparse else X, seed, noise)
    if sparse:
        X.eliminate_zeros()
        X.sort_indices()
    return _problem(X, W, H, dtype)


def spectra(
    n: int, m: int, k: int, *, seed: int, noise: float = 0.05, width: float = 0.06, dtype: DTypeLike = np.float64
) -> Problem:
    """Mixtures of smooth parts that overlap much: each part is three bumps of about `width` of the axis.

    `noise` is multiplicative (the relative standard deviation of a gamma factor), as of a detector that counts.
    """
    W = _stacked(n, seed, ROWS, lambda rng, rows: rng.gamma(0.4, 1, (rows, k)))
    H = _bumps(m, k, width, generator(seed, Purpose.SIMULATE, PARTS))
    X = W.astype(dtype) @ H.astype(dtype)
    if noise > 0:
        shape = noise**-2
        for rows, rng in _blocks(n, seed, SAMPLES):
            X[rows] *= rng.gamma(shape, 1 / shape, X[rows].shape)
    return _problem(X, W, H, dtype)


def topics(n: int, m: int, k: int, *, seed: int, length: float = 60.0, dtype: DTypeLike = np.float64) -> Problem:
    """Counts of m words in n documents of about `length` words, as csr_array: few topics a document, Zipf's law of words.

    The mean of X, given W and H, is W H: rows of H sum to 1, rows of W to the documents' mean lengths.
    """
    H = _zipfian(m, k, generator(seed, Purpose.SIMULATE, PARTS))
    W = _stacked(n, seed, ROWS, lambda rng, rows: _mixtures(rng, rows, k) * rng.gamma(2, length / 2, (rows, 1)))
    reach = H.cumsum(axis=1)
    drawn = [_words(rng, W[rows], reach) for rows, rng in _blocks(n, seed, SAMPLES)]
    return _problem(sp.vstack(drawn, format="csr"), W, H, dtype)


def ratings(
    n: int, m: int, k: int, *, seed: int, density: float = 0.1, noise: float = 0.1, sparse: bool = False,
    dtype: DTypeLike = np.float64,
) -> Problem:  # fmt: skip
    """What n users thought of m items, where they said so: about `density` of W H + noise; popular items more often.

    What is missing is NaN, or with `sparse` not stored. Every row and column has one observation at least.
    """
    if not 0 < density <= 1:
        raise OptionError(f"density={density} is not a share; expected more than 0 and at most 1.")
    W = _stacked(n, seed, ROWS, lambda rng, rows: rng.gamma(2, 0.5, (rows, k)))
    H = _stacked(m, seed, PARTS, lambda rng, rows: rng.gamma(2, 0.5, (rows, k))).T
    popularity = 1 / np.arange(1, m + 1) ** 0.5
    silent = (1 - density) ** (popularity / popularity.mean())
    drawn = []
    for rows, rng in _blocks(n, seed, SAMPLES):
        row, column = np.arange(rows.start, rows.stop)[:, None], np.arange(m)
        said = (rng.random((len(row), m)) >= silent) | (row % m == column % n) | (column % n == row)
        values = W[rows] @ H
        values += noise * k * 0.5 * rng.standard_normal(values.shape)  # k / 2 is about the spread of W H
        np.maximum(values, 0.01, out=values)
        drawn.append(sp.csr_array(np.where(said, values, 0), dtype=dtype) if sparse else np.where(said, values, np.nan))
    return _problem(sp.vstack(drawn, format="csr") if sparse else np.concatenate(drawn), W, H, dtype)


def _problem(X: Any, W: Array, H: Array, dtype: DTypeLike) -> Problem:
    return Problem(X.astype(dtype, copy=False), np.ascontiguousarray(W.T, dtype).T, np.ascontiguousarray(H, dtype))


def _blocks(n: int, seed: int, what: int) -> Iterator[tuple[slice, np.random.Generator]]:
    """Blocks of rows, each with its generator."""
    for block in range(-(-n // BLOCK)):
        yield slice(block * BLOCK, min(n, (block + 1) * BLOCK)), generator(seed, Purpose.SIMULATE, what, block)


def _stacked(n: int, seed: int, what: int, draw: Callable[[np.random.Generator, int], Array]) -> Array:
    """(n, …): draw(rng, rows) of every block."""
    return np.concatenate([draw(rng, rows.stop - rows.start) for rows, rng in _blocks(n, seed, what)])


def _gamma(rng: np.random.Generator, shape: tuple[int, int], density: float) -> Array:
    """(r, k): gamma numbers, a share of them zero, but at least one of each row not."""
    kept = rng.random(shape) < density
    kept[np.arange(shape[0]), rng.integers(shape[1], size=shape[0])] = True
    return np.where(kept, rng.gamma(1.0, 1.0, shape), 0)


def _disturbed(X: Array, seed: int, noise: float) -> None:
    """Add noise to X (n, m) in place, and clip at zero."""
    if noise == 0:
        return
    level = noise * np.linalg.norm(X) / X.size**0.5
    for rows, rng in _blocks(len(X), seed, SAMPLES):
        X[rows] += (level * rng.standard_normal(X[rows].shape)).astype(X.dtype, copy=False)
        np.maximum(X[rows], 0, out=X[rows])


def _bumps(m: int, k: int, width: float, rng: np.random.Generator) -> Array:
    """(k, m): sums of three Gaussian bumps."""
    axis = np.linspace(0, 1, m)
    H = np.zeros((k, m))
    for _ in range(3):
        centre, height = rng.random((k, 1)), rng.uniform(0.3, 1, (k, 1))
        spread = width * rng.uniform(0.6, 1.6, (k, 1))
        H += height * np.exp(-(((axis - centre) / spread) ** 2) / 2)
    return H


def _zipfian(m: int, k: int, rng: np.random.Generator) -> Array:
    """(k, m): distributions over words, each Zipf's law bent its own way."""
    H = rng.gamma(0.15, 1.0, (k, m)) + 1e-9
    H /= np.arange(1, m + 1) ** 0.9
    return H / H.sum(axis=1, keepdims=True)


def _mixtures(rng: np.random.Generator, rows: int, k: int) -> Array:
    """(r, k): shares of the topics in each document, few of them large."""
    share = rng.gamma(0.1, 1.0, (rows, k)) + 1e-9
    return share / share.sum(axis=1, keepdims=True)


def _words(rng: np.random.Generator, W: Array, reach: Array) -> sp.csr_array:
    """(r, m): Poisson numbers of words from each topic, their places by the topics' cumulative distributions (k, m)."""
    counts = rng.poisson(W)
    row = [np.repeat(np.arange(len(W)), column) for column in counts.T]
    word = [
        np.searchsorted(topic, topic[-1] * rng.random(len(r)), side="right")
        for topic, r in zip(reach, row, strict=True)
    ]
    places = (np.concatenate(row), np.concatenate(word))
    return sp.coo_array((np.ones(len(places[0])), places), shape=(len(W), reach.shape[1])).tocsr()
