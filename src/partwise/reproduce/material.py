"""The data of the experiments: real where they can be had, cut down for --quick, invented for --tiny."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import scipy.sparse as sp

from partwise import datasets
from partwise.currency import Array
from partwise.data.simulate import planted, topics
from partwise.randomness import Purpose, generator
from partwise.reproduce.experiment import Size


def pictures(name: str, size: Size, *, quick: int, full: int | None = None) -> Array:
    """Rows of pictures (or spectra) from 0 to 1, spread evenly over the data set."""
    if size is Size.TINY:
        return planted(60, 40, 6, seed=1, noise=0.1).X
    return np.ascontiguousarray(spread(_pictures(name), quick if size is Size.QUICK else full))


def texts(name: str, size: Size, *, quick: int | None = None, weighting: str = "tf-idf") -> Any:
    """Texts by words: `weighting` is tf-idf with texts of length one, or counts. Words that no text has are left out."""
    if size is Size.TINY:
        return topics(80, 60, 6, seed=1, length=30).X
    X = spread(_sparse(name, weighting), quick if size is Size.QUICK else None)
    return X[:, np.unique(X.indices)]


def spread(X: Any, rows: int | None) -> Any:
    """So many rows, evenly spread; all of them if None."""
    if rows is None or rows >= X.shape[0]:
        return X
    return X[np.linspace(0, X.shape[0] - 1, rows).astype(int)]


@cache
def _pictures(name: str) -> Array:
    X = np.asarray(datasets.load(name).X, np.float64)
    return X / X.max()


@cache
def _sparse(name: str, weighting: str) -> Any:
    X = sp.csr_array(datasets.load(name).X, dtype=np.float64)
    if weighting == "tf-idf":
        X = tf_idf(X)
    return X


def tf_idf(X: Any) -> Any:
    """Counts weighted by rarity, each text of length one; empty texts left out."""
    frequency = np.bincount(X.indices, minlength=X.shape[1])
    X = X.copy()
    X.data = X.data * (np.log((1 + X.shape[0]) / (1 + frequency)) + 1)[X.indices]
    length = np.sqrt(X.multiply(X).sum(axis=1))
    X.data /= np.repeat(length, np.diff(X.indptr))
    return X[np.flatnonzero(length)]


def labels(name: str) -> np.ndarray:
    """The class of each row, where the data set has one."""
    with np.load(datasets.fetch(name), allow_pickle=False) as arrays:
        return arrays["y"]


def gisette(size: Size, *, quick: int) -> sp.csr_array:
    """In place of GISETTE: the digits 4 and 9 of MNIST, padded with products of random pairs of pixels to 5,000 features."""
    if size is Size.TINY:
        return texts("mnist", size)
    digits = _pictures("mnist")[np.isin(labels("mnist"), (4, 9))]
    digits = spread(digits[:13_500], quick if size is Size.QUICK else None)
    left, right = generator(0, Purpose.SIMULATE, 5).integers(digits.shape[1], size=(2, 5_000 - digits.shape[1]))
    return sp.csr_array(np.hstack([digits, digits[:, left] * digits[:, right]]))


def graph(size: Size) -> Any:
    """In place of DBLP: who wrote with whom in condensed matter physics; for --quick among the first 4,000."""
    if size is Size.TINY:
        return texts("snap_ca_condmat_lcc", size)
    X = _sparse("snap_ca_condmat_lcc", "counts")
    return X[:4_000][:, :4_000] if size is Size.QUICK else X


DSANLS: dict[str, Callable[[Size], Any]] = {
    "BOATS": lambda size: pictures("indian_pines", size, quick=2_000),
    "FACE": lambda size: pictures("cbcl_faces", size, quick=1_200),
    "MNIST": lambda size: pictures("mnist", size, quick=1_500),
    "GISETTE": lambda size: gisette(size, quick=600),
    "RCV1": lambda size: texts("tdt2_top30", size, quick=1_200),
    "DBLP": lambda size: graph(size),
}
DSANLS_NAMES = (
    "BOATS: Indian Pines, a hyperspectral picture, in its place", "FACE: CBCL faces", "MNIST",
    "GISETTE: digits 4 and 9 of MNIST with products of random pixels, in its place", "RCV1: TDT2 by tf-idf, in its place",
    "DBLP: co-authors in condensed matter (SNAP), in its place",
)  # fmt: skip
