"""The data of the experiments: real where they can be had, cut down for --quick, invented for --tiny."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

from partwise import datasets
from partwise.currency import Array
from partwise.data.simulate import planted, topics
from partwise.data.simulate import ratings as invented_ratings
from partwise.randomness import Purpose, generator
from partwise.reproduce.experiment import Size


def pictures(name: str, size: Size, *, quick: int, full: int | None = None) -> Array:
    """Rows of pictures (or spectra) from 0 to 1, spread evenly over the data set."""
    if size is Size.TINY:
        return planted(60, 36, 6, seed=1, noise=0.1).X
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


def words(name: str, size: Size, *, quick: int | None = None, most: int | None = None, tenth: bool = False) -> Any:
    """tf-idf of texts, of their (`most` frequent) words, or of a tenth of all, drawn at random; texts without any are left out."""
    if size is Size.TINY:
        return topics(80, 60, 6, seed=1, length=30).X
    X = spread(_sparse(name, "tf-idf"), quick if size is Size.QUICK else None)[:, chosen_words(name, most, tenth)]
    return X[np.flatnonzero(np.diff(X.indptr))]


@cache
def chosen_words(name: str, most: int | None, tenth: bool) -> np.ndarray:
    """Which columns, by the whole data set: a tenth of all at random, or words of three texts and more that are not mere grammar."""
    X = _sparse(name, "counts")
    if tenth:
        return np.sort(generator(0, Purpose.SIMULATE, 10).permutation(X.shape[1])[: X.shape[1] // 10])
    texts = np.bincount(X.indices, minlength=X.shape[1])
    told = np.flatnonzero((texts >= 3) & ~np.isin(spelling(name), sorted(ENGLISH_STOP_WORDS)))
    return told if most is None else np.sort(told[np.argsort(-texts[told], kind="stable")[:most]])


def spelling(name: str) -> np.ndarray:
    """(m,): the words that columns count."""
    with np.load(datasets.fetch(name), allow_pickle=False) as arrays:
        return arrays["vocab"]


def vocabulary(label: str, size: Size) -> np.ndarray:
    """What the columns of a data set of TOPICS mean."""
    if size is Size.TINY:
        return np.array([f"word{place}" for place in range(60)])
    name = TOPICS_SETS[label]
    return spelling(name)[chosen_words(name, 93 if label == "UCI-news" else None, False)]


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


def held_out(size: Size, *, seed: int, name: str = "movielens_latest_small_x2", quick: int = 150) -> tuple[Any, Any]:
    """(train, test): users by films in stars, a fifth of the ratings being held out, but no user's and no film's last one."""
    if size is Size.TINY:
        X: Any = invented_ratings(12, 20, 3, seed=1, density=0.5, sparse=True).X
    else:
        X = spread(_sparse(name, "counts"), size.pick(0, quick, None)) / (2 if name.endswith("_x2") else 1)
        X = X[:, np.bincount(X.indices, minlength=X.shape[1]) >= FEWEST]
    entries = X.tocoo()
    users, films = entries.coords
    chance = generator(seed, Purpose.SIMULATE, 8).random(entries.nnz)
    chance[[np.unique(users, return_index=True)[1]]] = 1
    chance[[np.unique(films, return_index=True)[1]]] = 1
    train, test = (sp.coo_array((entries.data[which], (users[which], films[which])), X.shape)
                   for which in (chance >= 0.2, chance < 0.2))  # fmt: skip
    return train.tocsr(), test


def gisette(size: Size, *, quick: int, full: int | None = None) -> sp.csr_array:
    """In place of GISETTE: the digits 4 and 9 of MNIST, padded with products of random pairs of pixels to 5,000 features."""
    if size is Size.TINY:
        return texts("mnist", size)
    digits = _pictures("mnist")[np.isin(labels("mnist"), (4, 9))]
    digits = spread(digits[:13_500], quick if size is Size.QUICK else full)
    left, right = generator(0, Purpose.SIMULATE, 5).integers(digits.shape[1], size=(2, 5_000 - digits.shape[1]))
    return sp.csr_array(np.hstack([digits, digits[:, left] * digits[:, right]]))


def graph(size: Size) -> Any:
    """In place of DBLP: who wrote with whom in condensed matter physics; for --quick among the first 4,000."""
    if size is Size.TINY:
        return texts("snap_ca_condmat_lcc", size)
    X = _sparse("snap_ca_condmat_lcc", "counts")
    return X[:4_000][:, :4_000] if size is Size.QUICK else X


SECURE: dict[str, Callable[[Size], Any]] = {
    "BOATS": lambda size: pictures("indian_pines", size, quick=1_500),
    "FACE": lambda size: pictures("cbcl_faces", size, quick=1_200),
    "MNIST": lambda size: pictures("mnist", size, quick=1_000, full=10_000),
    "GISETTE": lambda size: gisette(size, quick=300, full=3_000),
}
CLUSTER: dict[str, Callable[[Size], Any]] = {
    "BOATS": lambda size: pictures("indian_pines", size, quick=3_000),
    "FACE": lambda size: pictures("cbcl_faces", size, quick=1_500),
    "MNIST": lambda size: pictures("mnist", size, quick=2_000),
    "GISETTE": lambda size: gisette(size, quick=500),
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
    "Fashion-MNIST": lambda size: pictures("fashion_mnist", size, quick=2_000, full=10_000),
    "Goodreads": lambda size: scaled("movielens_100k", size),
    "HPA Brain": lambda size: scaled("pbmc68k_reduced_lognorm", size),
    "MovieLens": lambda size: scaled("movielens_1m", size, quick=1_500),
    "MNIST": lambda size: pictures("mnist", size, quick=2_000, full=10_000),
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

Data = dict[str, Callable[[Size], tuple[Any, int]]]  # name → (X, k)
TOPICS: Data = {
    "Guardian": lambda size: (words("bbc_news_counts", size, quick=500), size.pick(3, 8, 8)),
    "UCI-news": lambda size: (words("uci_news_partial_counts", size, quick=1_000, most=93), size.pick(3, 7, 7)),
    "RCV1": lambda size: (words("rcv1_small_tfidf", size, tenth=True), size.pick(3, 4, 4)),
    "TDT2": lambda size: (words("tdt2_top30", size, quick=500, tenth=True), size.pick(3, 30, 30)),
}
TOPICS_NAMES = (
    "Guardian: BBC news without English stop words, in its place",
    "UCI-news: the first 6,366 of its titles, the 93 most frequent words that are not stop words",
    "RCV1: a sample of 1,500 stories, a tenth of the features", "TDT2, a tenth of the features",
)  # fmt: skip
TOPICS_SETS = {
    "Guardian": "bbc_news_counts", "UCI-news": "uci_news_partial_counts", "RCV1": "rcv1_small_tfidf", "TDT2": "tdt2_top30",
}  # fmt: skip
FACES: Data = {
    "YaleB": lambda size: (pictures("yaleb_32x32", size, quick=500), size.pick(3, 38, 38)),
    "CBCL": lambda size: (pictures("cbcl_faces", size, quick=500), size.pick(3, 50, 50)),
}
FACES_NAMES = ("YaleB: Extended Yale B, 32 × 32", "CBCL faces, 19 × 19")
FACES_SETS = {"YaleB": "yaleb_32x32", "CBCL": "cbcl_faces"}
