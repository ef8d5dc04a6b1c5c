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
from partwise.data.simulate import ratings as invented_ratings
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


def scaled(name: str, size: Size, *, quick: int | None = None, full: int | None = None) -> Any:
    """Sparse rows as they are, the largest entry being 1; columns that no row has are left out."""
    X = (
        texts(name, size, quick=quick, weighting="counts")
        if full is None or size is not Size.FULL
        else spread(_sparse(name, "counts"), full)
    )
    return X / X.data.max()


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


def digits(size: Size, *, quick: int, full: int) -> tuple[Array, np.ndarray]:
    """MNIST's pictures and what they show; tiny: rows of a few parts, each of a class."""
    if size is Size.TINY:
        made = planted(60, 40, 3, seed=1, noise=0.1)
        return made.X, made.W.argmax(axis=1)
    rows = size.pick(0, quick, full)
    return np.ascontiguousarray(spread(_pictures("mnist"), rows)), spread(labels("mnist"), rows)


FEWEST = 5  # ratings that a film has


def held_out(size: Size, *, seed: int) -> tuple[sp.csr_array, sp.coo_array]:
    """(train, test): users by films in stars, a fifth of the ratings being held out, but no user's and no film's last one."""
    if size is Size.TINY:
        X: Any = invented_ratings(12, 20, 3, seed=1, density=0.5, sparse=True).X
    else:
        X = spread(_sparse("movielens_latest_small_x2", "counts"), size.pick(0, 150, None)) / 2
        X = X[:, np.bincount(X.indices, minlength=X.shape[1]) >= FEWEST]
    entries = X.tocoo()
    users, films = entries.coords
    chance = generator(seed, Purpose.SIMULATE, 8).random(entries.nnz)
    chance[[np.unique(users, return_index=True)[1]]] = 1
    chance[[np.unique(films, return_index=True)[1]]] = 1
    train, test = (sp.coo_array((entries.data[which], (users[which], films[which])), X.shape)
                   for which in (chance >= 0.2, chance < 0.2))  # fmt: skip
    return train.tocsr(), test


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
DSANLS_SETS = {
    "BOATS": "indian_pines", "FACE": "cbcl_faces", "MNIST": "mnist", "GISETTE": "mnist", "RCV1": "tdt2_top30",
    "DBLP": "snap_ca_condmat_lcc",
}  # fmt: skip

TABLE1: dict[str, Callable[[Size], Any]] = {
    "ArXiv": lambda size: texts("octis_dblp_titles", size, quick=3_000),
    "CIFAR-10": lambda size: pictures("yaleb_32x32", size, quick=1_000),
    "Fashion-MNIST": lambda size: pictures("fashion_mnist", size, quick=2_000, full=20_000),
    "Goodreads": lambda size: scaled("movielens_100k", size),
    "HPA Brain": lambda size: scaled("pbmc68k_reduced_lognorm", size),
    "MovieLens": lambda size: scaled("movielens_1m", size, quick=1_500),
    "MNIST": lambda size: pictures("mnist", size, quick=2_000, full=20_000),
    "Netflix": lambda size: scaled("gowalla_checkins", size, quick=2_000),
    "TCGA": lambda size: pictures("all_aml_expression", size, quick=2_500),
}
TABLE1_NAMES = (
    "ArXiv: titles of DBLP by tf-idf, in its place", "CIFAR-10: faces of Extended Yale B, in its place", "Fashion-MNIST",
    "Goodreads: MovieLens 100K, in its place", "HPA Brain: blood cells (10x PBMC), in its place",
    "MovieLens 1M, in place of 25M", "MNIST", "Netflix: check-ins of Gowalla, in its place",
    "TCGA: leukaemia expression, genes by samples, in its place",
)  # fmt: skip
TABLE1_SETS = {
    "ArXiv": "octis_dblp_titles", "CIFAR-10": "yaleb_32x32", "Fashion-MNIST": "fashion_mnist",
    "Goodreads": "movielens_100k", "HPA Brain": "pbmc68k_reduced_lognorm", "MovieLens": "movielens_1m", "MNIST": "mnist",
    "Netflix": "gowalla_checkins", "TCGA": "all_aml_expression",
}  # fmt: skip
