"""Publishers' formats, written here from small matrices and from the local files, give back the same matrices."""

import gzip
import io
import struct
import tarfile
import zipfile

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import io as sio
from scipy import sparse
from sklearn.datasets import dump_svmlight_file

from partwise.data.readers import read
from partwise.datasets import conversions
from partwise.errors import DataError

RNG = np.random.default_rng(0)


def idx(array):
    return b"\0\0\x08" + bytes([array.ndim]) + struct.pack(f">{array.ndim}I", *array.shape) + array.tobytes()


def write_images(folder, X, y, n_train, side):
    files = {}
    for part, rows in (("train", slice(0, n_train)), ("t10k", slice(n_train, None))):
        for kind, array in (("images-idx3", X[rows].reshape(-1, side, side)), ("labels-idx1", y[rows])):
            name = f"{part}-{kind}-ubyte.gz"
            files[name] = folder / name
            files[name].write_bytes(gzip.compress(idx(array), compresslevel=1))
    return files


def archive(folder, name, member, text):
    with zipfile.ZipFile(folder / name, "w") as file:
        file.writestr(member, text)
    return {name: folder / name}


def matrix(arrays):
    return sparse.csr_array((arrays["data"], arrays["indices"], arrays["indptr"]), shape=tuple(arrays["shape"]))


def same(found, expected):
    assert found.shape == expected.shape
    assert found.dtype == expected.dtype
    assert (found != expected).nnz == 0


def test_images(tmp_path):
    X, y = RNG.integers(0, 256, (5, 9), dtype=np.uint8), np.arange(5, dtype=np.uint8)
    arrays = conversions.images(write_images(tmp_path, X, y, 3, 3))
    assert_array_equal(arrays["X"], X)
    assert_array_equal(arrays["y"], y)
    assert arrays["n_train"] == 3


@pytest.mark.parametrize(
    "content", [b"", b"\0\0\x0d\1\0\0\0\1\0\0\0\0", idx(np.zeros((2, 2, 2), np.uint8))[:-1], b"\0\0\x08\3\0\0"]
)
def test_wrong_idx_files(tmp_path, content):
    files = write_images(tmp_path, np.zeros((2, 4), np.uint8), np.zeros(2, np.uint8), 1, 2)
    files["train-images-idx3-ubyte.gz"].write_bytes(gzip.compress(content))
    with pytest.raises(DataError, match="no idx file"):
        conversions.images(files)


RATINGS = [(1, 3, 5), (2, 1, 1), (2, 1682, 4)]


def lines(triples, form):
    return "".join(form.format(*triple) for triple in triples)


def test_movielens(tmp_path):
    files = archive(tmp_path, "ml-100k.zip", "ml-100k/u.data", lines(RATINGS, "{}\t{}\t{}\t88\n"))
    X = matrix(conversions.movielens_100k(files))
    assert X.shape == (943, 1682)
    assert (X[0, 2], X[1, 0], X[1, 1681], X.nnz) == (5, 1, 4, 3)
    files = archive(tmp_path, "ml-1m.zip", "ml-1m/ratings.dat", lines(RATINGS, "{}::{}::{}::88\n"))
    X = matrix(conversions.movielens_1m(files))
    assert X.shape == (6040, 3952)
    assert (X[0, 2], X[1, 0], X[1, 1681], X.nnz) == (5, 1, 4, 3)
    halves = [(1, 30, 0.5), (2, 10, 4.5), (610, 30, 5.0)]
    text = "userId,movieId,rating,timestamp\n" + lines(halves, "{},{},{},88\n")
    arrays = conversions.movielens_latest_small(
        archive(tmp_path, "ml-latest-small.zip", "ml-latest-small/ratings.csv", text)
    )
    assert_array_equal(arrays["movie_ids"], [10, 30])
    X = matrix(arrays)
    assert X.shape == (610, 2)
    assert (X[0, 1], X[1, 0], X[609, 1]) == (1, 9, 10)


def test_olivetti(tmp_path):
    X = RNG.integers(0, 243, (400, 12), dtype=np.uint8)
    sio.savemat(tmp_path / "olivettifaces.mat", {"faces": X.T, "p": 1})
    arrays = conversions.olivetti({"olivettifaces.mat": tmp_path / "olivettifaces.mat"})
    assert_array_equal(arrays["X"], X)
    assert_array_equal(np.bincount(arrays["y"]), 10)


def test_newsgroups(tmp_path):
    texts = {
        "20news-bydate-test/sci.med/5": "From: someone\nSubject: cat\n\nThe dog, a DOG and 1 fox2",
        "20news-bydate-train/sci.med/10": "From: dog\n\nthe dog\n\nfox",
        "20news-bydate-train/sci.med/9": "From: dog\n\nthe dog é fox",
        "20news-bydate-train/readme": "From: dog\n\nfox",
    }
    with tarfile.open(tmp_path / "20news-bydate.tar.gz", "w:gz") as file:
        for name, text in texts.items():
            member = tarfile.TarInfo(name)
            member.size = len(text.encode("latin-1"))
            file.addfile(member, io.BytesIO(text.encode("latin-1")))
    arrays = conversions.newsgroups({"20news-bydate.tar.gz": tmp_path / "20news-bydate.tar.gz"})
    assert arrays["vocab"].tolist() == ["dog", "fox", "the"]
    assert_array_equal(matrix(arrays).toarray(), [[1, 1, 1], [1, 1, 1], [2, 1, 1]])
    assert arrays["n_train"] == 2
    assert arrays["cats"].tolist() == ["sci.med"]
    np.savez(tmp_path / "X.npz", **arrays)
    assert read(tmp_path / "X.npz").feature_names == ("dog", "fox", "the")


def test_rcv1(tmp_path):
    X = sparse.random_array((10, 47236), density=1e-3, rng=RNG, format="csr", dtype=np.float32)
    names = ["lyrl2004_vectors_train.dat.gz", *(f"lyrl2004_vectors_test_pt{i}.dat.gz" for i in range(4))]
    files = {name: tmp_path / name for name in names}
    for i, path in enumerate(files.values()):
        with gzip.open(path, "wb") as file:
            dump_svmlight_file(X[2 * i : 2 * i + 2], [100 + 2 * i, 101 + 2 * i], file, zero_based=False)
    arrays = conversions.rcv1(files)
    same(matrix(arrays), X)
    assert_array_equal(arrays["doc_id"], np.arange(100, 110))
    assert arrays["n_train"] == 2


@pytest.mark.data
@pytest.mark.parametrize("name", ["mnist", "fashion_mnist"])
def test_local_images_survive_their_publishers_format(name, tmp_path, local_data):
    local = np.load(local_data / f"{name}.npz")
    arrays = conversions.images(write_images(tmp_path, local["X"], local["y"], int(local["n_train"]), 28))
    for part in ("X", "y", "n_train"):
        assert_array_equal(arrays[part], local[part])


@pytest.mark.data
def test_local_olivetti_survives_its_publishers_format(tmp_path, local_data):
    local = np.load(local_data / "olivetti_64x64.npz")
    sio.savemat(tmp_path / "olivettifaces.mat", {"faces": local["X"].T})
    arrays = conversions.olivetti({"olivettifaces.mat": tmp_path / "olivettifaces.mat"})
    assert_array_equal(arrays["X"], local["X"])
    assert_array_equal(arrays["y"], local["y"])


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "convert", "zipped", "member", "form"),
    [
        ("movielens_100k", conversions.movielens_100k, "ml-100k.zip", "ml-100k/u.data", "{}\t{}\t{}\t1\n"),
        ("movielens_1m", conversions.movielens_1m, "ml-1m.zip", "ml-1m/ratings.dat", "{}::{}::{}::1\n"),
        (
            "movielens_latest_small_x2",
            conversions.movielens_latest_small,
            "ml-latest-small.zip",
            "ml-latest-small/ratings.csv",
            "{},{},{},1\n",
        ),
    ],
)
def test_local_ratings_survive_their_publishers_format(name, convert, zipped, member, form, tmp_path, local_data):
    local = read(local_data / f"{name}.npz").X
    row, column, value = local.tocoo().row, local.tocoo().col, local.tocoo().data
    film, header = column + 1, ""
    if name == "movielens_latest_small_x2":
        film, value = np.load(local_data / f"{name}.npz")["movie_ids"][column], value / 2
        header = "userId,movieId,rating,timestamp\n"
    order = RNG.permutation(local.nnz)
    triples = zip((row + 1)[order], film[order], value[order], strict=True)
    same(matrix(convert(archive(tmp_path, zipped, member, header + lines(triples, form)))), local)
