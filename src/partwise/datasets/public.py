"""Data sets that can be had by anybody. The digests are those of TensorFlow Datasets and scikit-learn."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from partwise.datasets import conversions
from partwise.datasets.record import Arrays, Dataset, Origin

_MNIST = ("https://storage.googleapis.com/cvdf-datasets/mnist/", "https://ossci-datasets.s3.amazonaws.com/mnist/")
_FASHION = ("http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/",)
_MOVIELENS = ("https://files.grouplens.org/datasets/movielens/",)
_FIGSHARE = "https://ndownloader.figshare.com/files/"
_GROUPLENS_TERMS = "GroupLens: research only, no redistribution, cite"


def _files(bases: tuple[str, ...], **digests: str) -> tuple[Origin, ...]:
    return tuple(Origin(file, tuple(base + file for base in bases), digest) for file, digest in digests.items())


def _figshare(number: int, file: str, digest: str) -> Origin:
    return Origin(file, (f"{_FIGSHARE}{number}",), digest)


def _digits() -> tuple[Arrays, Path]:
    from sklearn.datasets import load_digits

    bunch: Any = load_digits()
    arrays = {"X": bunch.data.astype(np.uint8), "y": bunch.target, "feature_names": np.array(bunch.feature_names)}
    return arrays, Path(str(files("sklearn.datasets") / "data" / "digits.csv.gz"))


PUBLIC = (
    Dataset(
        name="digits",
        title="Handwritten digits of 8 × 8 pixels (UCI, test part), with scikit-learn",
        shape=(1797, 64),
        nnz=58736,
        terms="CC BY 4.0, cite",
        bundled=_digits,
    ),
    Dataset(
        name="mnist",
        title="MNIST: handwritten digits of 28 × 28 pixels, the first 60,000 for training",
        shape=(70000, 784),
        nnz=10505375,
        terms="CC BY-SA 3.0, as commonly stated; cite LeCun, Cortes and Burges",
        local_sha256="c7b204b9bf8d4cbf1f60997c3d5e4e18647f07fe0114da744000099412c49239",
        origins=_files(
            _MNIST,
            **{
                "train-images-idx3-ubyte.gz": "440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609",
                "train-labels-idx1-ubyte.gz": "3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c",
                "t10k-images-idx3-ubyte.gz": "8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6",
                "t10k-labels-idx1-ubyte.gz": "f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6",
            },
        ),
        convert=conversions.images,
    ),
    Dataset(
        name="fashion_mnist",
        title="Fashion-MNIST: Zalando's articles of 28 × 28 pixels, the first 60,000 for training",
        shape=(70000, 784),
        nnz=27344319,
        terms="MIT",
        local_sha256="7237f188c83559caad37a81b0c5312ec8bdd2ef64398b4f82dda0f783eca9c53",
        origins=_files(
            _FASHION,
            **{
                "train-images-idx3-ubyte.gz": "3aede38d61863908ad78613f6a32ed271626dd12800ba2636569512369268a84",
                "train-labels-idx1-ubyte.gz": "a04f17134ac03560a47e3764e11b92fc97de4d1bfaf8ba1a3aa29af54cc90845",
                "t10k-images-idx3-ubyte.gz": "346e55b948d973a97e58d2351dde16a484bd415d4595297633bb08f03db6a073",
                "t10k-labels-idx1-ubyte.gz": "67da17c76eaffca5446c3361aaab5c3cd6d1c2608764d35dfb1850b086bf8dd5",
            },
        ),
        convert=conversions.images,
    ),
    Dataset(
        name="movielens_100k",
        title="MovieLens 100K: ratings 1 to 5 by user and film",
        shape=(943, 1682),
        nnz=100000,
        terms=_GROUPLENS_TERMS,
        local_sha256="301013c5611fd8cfc04c732043ace6828d3f37d5a6aa1d9cd558e1a335c00003",
        origins=_files(
            _MOVIELENS, **{"ml-100k.zip": "50d2a982c66986937beb9ffb3aa76efe955bf3d5c6b761f4e3a7cd717c6a3229"}
        ),
        convert=conversions.movielens_100k,
    ),
    Dataset(
        name="movielens_1m",
        title="MovieLens 1M: ratings 1 to 5 by user and film",
        shape=(6040, 3952),
        nnz=1000209,
        terms=_GROUPLENS_TERMS,
        local_sha256="a8d143fa45ae1a002bcf3734e339d9cb5dbdd4e244668c5cdea09aed69b071bd",
        origins=_files(_MOVIELENS, **{"ml-1m.zip": "a6898adb50b9ca05aa231689da44c217cb524e7ebd39d264c56e2832f2c54e20"}),
        convert=conversions.movielens_1m,
    ),
    Dataset(
        name="movielens_latest_small_x2",
        title="MovieLens latest-small of September 2018: twice the ratings of half to five stars, by user and film",
        shape=(610, 9724),
        nnz=100836,
        terms=_GROUPLENS_TERMS,
        local_sha256="effa16dd963e9efb22725074edfa09e8c292e018f781867f49f7b7dcf657825e",
        origins=_files(
            _MOVIELENS, **{"ml-latest-small.zip": "696d65a3dfceac7c45750ad32df2c259311949efec81f0f144fdfb91ebc9e436"}
        ),
        convert=conversions.movielens_latest_small,
    ),
    Dataset(
        name="olivetti_64x64",
        title="Olivetti faces of 64 × 64 pixels, column by column, ten of each of 40 people",
        shape=(400, 4096),
        nnz=1638399,
        terms="AT&T Laboratories Cambridge: research only, give credit",
        local_sha256="fe92a96c353f6a8071f3075ca8310cd7a921b1930bcb9b785d19165309d960fa",
        origins=(
            _figshare(5976027, "olivettifaces.mat", "b612fb967f2dc77c9c62d3e1266e0c73d5fca46a4b8906c18e454d41af987794"),
        ),
        convert=conversions.olivetti,
    ),
    Dataset(
        name="20newsgroups",
        title="20 Newsgroups by date: counts of words [a-z]{2,} in three texts or more, without headers",
        shape=None,
        terms="public Usenet posts, no licence stated; research",
        origins=(
            _figshare(
                5975967, "20news-bydate.tar.gz", "8f1b2514ca22a5ade8fbb9cfa5727df95fa587f4c87b786e15c759fa66d95610"
            ),
        ),
        convert=conversions.newsgroups,
    ),
    Dataset(
        name="rcv1",
        title="Reuters RCV1-v2: tf-idf vectors of 804,414 news stories, the first 23,149 for training",
        shape=(804414, 47236),
        terms="Reuters: research, cite Lewis and others 2004",
        origins=tuple(
            _figshare(number, f"lyrl2004_vectors_{part}.dat.gz", digest)
            for number, part, digest in (
                (5976057, "train", "5468f656d0ba7a83afc7ad44841cf9a53048a5c083eedc005dcdb5cc768924ae"),
                (5976069, "test_pt0", "ed40f7e418d10484091b059703eeb95ae3199fe042891dcec4be6696b9968374"),
                (5976066, "test_pt1", "87700668ae45d45d5ca1ef6ae9bd81ab0f5ec88cc95dcef9ae7838f727a13aa6"),
                (5976063, "test_pt2", "48143ac703cbe33299f7ae9f4995db49a258690f60e5debbff8995c34841c7f5"),
                (5976060, "test_pt3", "dfcb0d658311481523c6e6ca0c3f5a3e1d3d12cde5d7a8ce629a9006ec7dbb39"),
            )
        ),
        convert=conversions.rcv1,
    ),
)
