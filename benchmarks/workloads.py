"""What is factorized: synthetic problems of each kind, and real data where they are on this machine."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

import numpy as np
import scipy.sparse as sp

from partwise.currency import Array
from partwise.data import as_matrix
from partwise.data.simulate import planted, spectra, topics
from partwise.datasets import load, whereabouts
from partwise.randomness import Purpose, generator
from partwise.start import start

SIDE = 19  # of a face


@final
@dataclass(frozen=True)
class Workload:
    """A matrix by seed, and the numbers of components that are asked of it."""

    name: str
    make: Callable[[int], Any]  # seed → X in float64
    ks: tuple[int, ...]
    dataset: str = ""  # that must be on this machine; its seed is of the start alone

    @property
    def here(self) -> bool:
        """Whether it can be had without a download."""
        return not self.dataset or whereabouts(self.dataset) in ("local", "cached", "bundled")


def faces(n: int, parts: int, *, seed: int, side: int = SIDE) -> Array:
    """(n, side²): pictures put together of few of the round spots that there are, with a tenth of multiplicative noise."""
    rng = generator(seed, Purpose.SIMULATE, 7)
    axis = np.linspace(0, 1, side)
    (x, y), size = rng.random((2, parts, 1, 1)), rng.uniform(0.04, 0.2, (parts, 1, 1))
    H = np.exp(-((axis[:, None] - x) ** 2 + (axis - y) ** 2) / (2 * size**2)).reshape(parts, -1)
    W = rng.gamma(0.5, 1.0, (n, parts)) * (rng.random((n, parts)) < 0.3)
    X = W @ H
    X *= rng.gamma(100.0, 0.01, X.shape)
    return X


def counts(name: str) -> sp.csr_array:
    """Words by documents, by tf-idf, every document of length 1, as one factorizes texts; empty documents left out."""
    X = sp.csr_array(load(name).X, dtype=np.float64)
    frequency = np.bincount(X.indices, minlength=X.shape[1])
    X.data *= (np.log((1 + X.shape[0]) / (1 + frequency)) + 1)[X.indices]
    length = np.sqrt(X.multiply(X).sum(axis=1))
    X.data /= np.repeat(length, np.diff(X.indptr))
    return X[np.flatnonzero(length)]


def pictures(name: str, rows: int | None = None) -> Array:
    """Pixels by pictures, from 0 to 1."""
    X = np.asarray(load(name).X[:rows], np.float64)
    return X / X.max()


def rows(n: int, m: int, noise: float = 0.05) -> Callable[[int], Array]:
    """Spectra, of 100 parts."""
    return lambda seed: spectra(n, m, 100, seed=seed, noise=noise).X


WORKLOADS = (
    Workload("correlated", rows(10_000, 2_000), (20, 50, 100)),
    Workload("planted", lambda seed: planted(10_000, 2_000, 50, seed=seed, noise=0.2, density=0.3).X, (20, 50, 100)),
    Workload("tall", lambda seed: faces(100_000, 100, seed=seed), (20, 50)),
    Workload("wide", lambda seed: spectra(20_000, 1_000, 100, seed=seed, width=0.02).X.T, (20, 50)),
    Workload("topics", lambda seed: topics(50_000, 20_000, 100, seed=seed, length=44).X, (20, 100)),
    Workload("mnist", lambda seed: pictures("mnist"), (20, 100), "mnist"),
    Workload("fashion", lambda seed: pictures("fashion_mnist", 20_000), (50,), "fashion_mnist"),
    Workload("cbcl", lambda seed: pictures("cbcl_faces"), (50, 100), "cbcl_faces"),
    Workload("yaleb", lambda seed: pictures("yaleb_32x32"), (50, 100), "yaleb_32x32"),
    Workload("tdt2", lambda seed: counts("tdt2_top30"), (20, 100), "tdt2_top30"),
    Workload("20news", lambda seed: counts("20news_bydate_counts"), (20, 100), "20news_bydate_counts"),
    Workload("gowalla", lambda seed: sp.csr_array(load("gowalla_checkins").X, dtype=np.float64), (20, 100), "gowalla_checkins"),
    Workload("indian pines", lambda seed: pictures("indian_pines"), (20,), "indian_pines"),
)  # fmt: skip
QUICK = (
    Workload("correlated", rows(2_000, 500), (20,)),
    Workload("planted", lambda seed: planted(2_000, 500, 20, seed=seed, noise=0.2, density=0.3).X, (20,)),
    Workload("tall", lambda seed: faces(10_000, 60, seed=seed), (20,)),
    Workload("topics", lambda seed: topics(5_000, 4_000, 50, seed=seed, length=40).X, (20,)),
    Workload("digits", lambda seed: pictures("digits"), (16,), "digits"),
)
TOY = Workload("toy", lambda seed: planted(80, 30, 3, seed=seed, noise=0.1).X, (3,))


def given(X: Any, k: int, seed: int, dtype: str) -> tuple[Any, Array, Array]:
    """X, W (n, k) and H (k, m) in this dtype: the same random start for everybody, and the same up to rounding for every dtype."""
    Wt, H = start(as_matrix(X), k, "random", seed)
    return X.astype(dtype), np.ascontiguousarray(Wt.T, dtype), H.astype(dtype)
