"""From a publisher's files to the matrix: rows are samples, columns features. The same arrays as in our local files."""

from __future__ import annotations

import gzip
import math
import re
import tarfile
from collections.abc import Mapping
from pathlib import Path
from zipfile import ZipFile

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from partwise.datasets.record import Arrays
from partwise.errors import DataError

Files = Mapping[str, Path]


def images(files: Files) -> Arrays:
    """MNIST's four files: X (70000, 784) and y, the training images first."""
    X, y = (
        [_idx(files[f"{part}-{kind}-ubyte.gz"]) for part in ("train", "t10k")]
        for kind in ("images-idx3", "labels-idx1")
    )
    return {
        "X": np.concatenate([part.reshape(len(part), -1) for part in X]),
        "y": np.concatenate(y),
        "n_train": np.array(len(y[0])),
    }


def _idx(path: Path) -> NDArray[np.uint8]:
    """LeCun's idx: two zeros, type 8 (bytes), the number of dimensions, the dimensions, the bytes."""
    with gzip.open(path) as file:
        content = file.read()
    ndim = content[3] if content[:3] == b"\0\0\x08" else 0
    shape = [int(extent) for extent in np.frombuffer(content, ">u4", ndim, 4)] if len(content) >= 4 + 4 * ndim else []
    if not shape or len(content) != 4 + 4 * ndim + math.prod(shape):
        raise DataError(
            f"{path.name} is no idx file of bytes, or is truncated. Expected MNIST's format; fetch it again."
        )
    return np.frombuffer(content, np.uint8, offset=4 + 4 * ndim).reshape(shape)


def movielens_100k(files: Files) -> Arrays:
    """(943, 1682): ratings of u.data by user and film, both numbered from 1."""
    with ZipFile(files["ml-100k.zip"]) as archive, archive.open("ml-100k/u.data") as file:
        user, film, rating, _ = np.loadtxt(file, dtype=np.int64, delimiter="\t", unpack=True)
    return ratings(user - 1, film - 1, rating, (943, 1682))


def movielens_1m(files: Files) -> Arrays:
    """(6040, 3952): ratings.dat by user and film, both numbered from 1; 246 films have no rating."""
    with ZipFile(files["ml-1m.zip"]) as archive:
        lines = archive.read("ml-1m/ratings.dat").replace(b"::", b" ").splitlines()
    user, film, rating, _ = np.loadtxt(lines, dtype=np.int64, unpack=True)
    return ratings(user - 1, film - 1, rating, (6040, 3952))


def movielens_latest_small(files: Files) -> Arrays:
    """(610, 9724): twice ratings.csv, which counts in half stars; columns in the order of the films' numbers."""
    with ZipFile(files["ml-latest-small.zip"]) as archive, archive.open("ml-latest-small/ratings.csv") as file:
        user, film, rating, _ = np.loadtxt(file, delimiter=",", skiprows=1, unpack=True)
    movie_ids, column = np.unique(film.astype(np.int32), return_inverse=True)
    arrays = ratings(user.astype(np.int64) - 1, column, 2 * rating, (610, len(movie_ids)))
    return {**arrays, "movie_ids": movie_ids}


def ratings(row: NDArray, column: NDArray, value: NDArray, shape: tuple[int, int]) -> Arrays:
    """CSR in parts, from whole numbers below 256."""
    X = sparse.csr_array((value.astype(np.uint8), (row, column)), shape=shape)
    X.sort_indices()
    return parts(X)


def parts(X: sparse.csr_array) -> Arrays:
    """A CSR matrix as .npz holds it."""
    return {"data": X.data, "indices": X.indices, "indptr": X.indptr, "shape": np.array(X.shape)}


def olivetti(files: Files) -> Arrays:
    """(400, 4096): S. Roweis's faces as bytes, each image column by column, ten of each person in turn."""
    from scipy.io import loadmat

    X = loadmat(files["olivettifaces.mat"], variable_names=["faces"])["faces"].T
    return {"X": np.ascontiguousarray(X), "y": np.repeat(np.arange(40, dtype=np.uint8), 10)}


def newsgroups(files: Files) -> Arrays:
    """Counts of the words [a-z]{2,} that three texts or more hold, headers cut off; training texts first, by group and number."""
    from sklearn.feature_extraction.text import CountVectorizer

    texts: dict[tuple[str, str, int], str] = {}
    with tarfile.open(files["20news-bydate.tar.gz"]) as archive:
        for member in archive:
            found = re.fullmatch(r"20news-bydate-(train|test)/([^/]+)/(\d+)", member.name)
            content = archive.extractfile(member) if found else None
            if found and content:
                text = content.read().decode("latin-1").replace("\r\n", "\n")
                texts[found[1], found[2], int(found[3])] = text.partition("\n\n")[2]
    order = sorted(texts, key=lambda name: (name[0] != "train", *name[1:]))
    counter = CountVectorizer(token_pattern=r"[a-z]{2,}", min_df=3, dtype=np.int32)  # type: ignore[arg-type]
    X = sparse.csr_array(counter.fit_transform(texts[name] for name in order))
    groups, y = np.unique([name[1] for name in order], return_inverse=True)
    n_train = np.array(sum(name[0] == "train" for name in order))
    vocab = np.array(counter.get_feature_names_out(), dtype=np.str_)
    return {**parts(X), "vocab": vocab, "y": y, "cats": groups, "n_train": n_train}


def rcv1(files: Files) -> Arrays:
    """(804414, 47236): RCV1-v2's tf-idf vectors, training texts first, in the order of scikit-learn's `fetch_rcv1`."""
    from sklearn.datasets import load_svmlight_files

    names = ["lyrl2004_vectors_train.dat.gz", *(f"lyrl2004_vectors_test_pt{i}.dat.gz" for i in range(4))]
    loaded = load_svmlight_files([str(files[name]) for name in names], n_features=47236, dtype=np.float32)  # type: ignore[arg-type]
    X = sparse.csr_array(sparse.vstack(loaded[::2], format="csr"))
    return {
        **parts(X),
        "doc_id": np.concatenate(loaded[1::2]).astype(np.int32),
        "n_train": np.array(loaded[0].shape[0]),
    }
