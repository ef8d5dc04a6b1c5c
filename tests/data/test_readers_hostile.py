"""Whatever a file holds, reading it gives a checked matrix or a sentence: never another library's error, never running code."""

import gzip
import io
import os
import pickle
import zipfile

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from partwise.data.readers import read
from partwise.errors import DataError, MissingExtraError

X = np.arange(1, 13, dtype=np.float64).reshape(4, 3)


def npy_bytes(array, **options):
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, array, **options)
    return buffer.getvalue()


def npz_bytes(**arrays):
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **arrays)
    return buffer.getvalue()


def hdf5_bytes(fill):
    h5py = pytest.importorskip("h5py")
    buffer = io.BytesIO()
    with h5py.File(buffer, "w") as file:
        fill(file)
    return buffer.getvalue()


def fill_annotated(file):
    file.attrs["encoding-type"] = "anndata"
    file["X"] = X
    for frame, letter, count in (("obs", "c", 4), ("var", "g", 3)):
        file[f"{frame}/_index"] = [f"{letter}{i}" for i in range(count)]


def parquet_bytes():
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    buffer = io.BytesIO()
    parquet.write_table(pa.table({"a": [1.0, 2.0], "b": [3.0, 4.0]}), buffer)
    return buffer.getvalue()


def zarr_zip_bytes():
    zarr = pytest.importorskip("zarr")
    path = zarr_zip_bytes.folder / "whole.zarr.zip"
    with zarr.storage.ZipStore(path, mode="w") as store:
        zarr.open_group(store, mode="w").create_array("counts", data=X)
    return path.read_bytes()


MTX = b"%%MatrixMarket matrix coordinate real general\n4 3 2\n1 1 1.5\n4 3 2.5\n"
WHOLE = {
    "X.npy": lambda: npy_bytes(X),
    "X.npz": lambda: npz_bytes(X=X),
    "S.npz": lambda: npz_bytes(
        **{name: getattr(sparse.csr_array(X), name) for name in ("data", "indices", "indptr", "shape")}
    ),
    "X.mtx": lambda: MTX,
    "X.mtx.gz": lambda: gzip.compress(MTX),
    "X.csv": lambda: b"a,b\n1,2\n3,4\n",
    "X.csv.gz": lambda: gzip.compress(b"a,b\n1,2\n3,4\n"),
    "X.tsv": lambda: b"a\tb\n1\t2\n",
    "X.parquet": parquet_bytes,
    "X.h5ad": lambda: hdf5_bytes(fill_annotated),
    "X.h5": lambda: hdf5_bytes(lambda file: file.create_dataset("X", data=X, chunks=True, fletcher32=True)),
    "X.zarr.zip": zarr_zip_bytes,
}


@pytest.fixture(scope="module", autouse=True)
def _scratch(tmp_path_factory):
    zarr_zip_bytes.folder = tmp_path_factory.mktemp("whole")


def everything(path):
    """All that a caller would read of a table; only a DataError may come out of it."""
    table = read(path)
    rows = table.X[:] if not sparse.issparse(table.X) else table.X.toarray()
    assert rows.ndim == 2
    assert min(rows.shape) > 0
    assert rows.dtype.kind in "buif"


@pytest.mark.parametrize("name", WHOLE)
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_damaged_files_end_in_a_sentence(name, tmp_path_factory, data):
    path = tmp_path_factory.mktemp("damaged") / name
    whole = bytearray(WHOLE[name]())
    if name == "X.h5ad" or data.draw(
        st.booleans(), "cut"
    ):  # HDF5's own library may run for ever on a damaged heap of text
        del whole[data.draw(st.integers(0, len(whole) - 1), "kept") :]
    else:
        for _ in range(data.draw(st.integers(1, 5), "changes")):
            whole[data.draw(st.integers(0, len(whole) - 1))] = data.draw(st.integers(0, 255))
    path.write_bytes(whole)
    try:
        everything(path)
    except DataError as error:
        seen, *rest = str(error).split(". ")
        sentence = str(path) in seen and rest  # what was seen, and what was expected
    else:
        sentence = "the damage did no harm"
    assert sentence


@pytest.mark.parametrize("name", WHOLE)
def test_the_whole_files_can_be_read(name, tmp_path):
    (tmp_path / name).write_bytes(WHOLE[name]())
    everything(tmp_path / name)


@pytest.mark.parametrize("name", [name for name in WHOLE if name not in ("X.csv", "X.tsv")])
@pytest.mark.parametrize("part", [0.3, 0.9])
def test_truncated_files_are_refused(name, part, tmp_path):
    whole = WHOLE[name]()
    (tmp_path / name).write_bytes(whole[: int(part * len(whole))])
    with pytest.raises(DataError, match=name):
        everything(tmp_path / name)


@pytest.mark.parametrize("name", WHOLE)
def test_foreign_and_empty_files_are_refused(name, tmp_path):
    path = tmp_path / name
    path.write_bytes(b"")
    with pytest.raises(DataError, match=r"is empty \(0 bytes\)"):
        read(path)
    for foreign in (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", b"<!DOCTYPE html>\n<html>404</html>\n", pickle.dumps([1, 2])):
        path.write_bytes(foreign)
        with pytest.raises(DataError, match=name):
            read(path)


class Bomb:
    """Unpickling this would make a directory."""

    def __init__(self, folder):
        self.folder = str(folder)

    def __reduce__(self):
        return os.mkdir, (self.folder,)


@pytest.mark.parametrize("name", ["X.npy", "X.npz", "keyed.npz", "parts.npz", "scipy.npz", "names.npz"])
def test_no_pickle_is_ever_loaded_from_numpy_files(name, tmp_path):
    boom = np.array([[Bomb(tmp_path / "boom")]], dtype=object)
    path = tmp_path / name
    parts = {"data": [1.0], "indices": [0], "indptr": [0, 1], "shape": [1, 1]}
    content = {
        "X.npz": {"X": boom},
        "keyed.npz": {"other": boom},
        "parts.npz": parts | {"data": boom.ravel()},
        "scipy.npz": parts | {"format": boom[0, 0]},
        "names.npz": {"X": X, "feature_names": boom.ravel()},
    }
    if name == "X.npy":
        np.save(path, boom, allow_pickle=True)
    else:
        np.savez(path, **content[name])
    if name == "names.npz":
        assert read(path).feature_names is None
    else:
        with pytest.raises(DataError, match="Python objects"):
            read(path, **({"key": "other"} if name == "keyed.npz" else {}))
    assert not (tmp_path / "boom").exists()


@pytest.mark.parametrize("codecs", ['"filters": [%s], "compressor": null', '"filters": null, "compressor": %s'])
def test_no_pickle_is_ever_loaded_from_zarr(codecs, tmp_path, monkeypatch):
    """Format 2 lets an array name pickle as its codec; the bomb is real, as numcodecs shows when it is allowed to."""
    pytest.importorskip("zarr")
    numcodecs = pytest.importorskip("numcodecs")
    monkeypatch.setattr("numcodecs.pickles.ALLOW_UNSAFE_PICKLE_DECODE", True, raising=False)
    store = tmp_path / "X.zarr"
    (store / "X").mkdir(parents=True)
    (store / ".zgroup").write_text('{"zarr_format": 2}')
    (store / "X" / ".zarray").write_text(
        '{"zarr_format": 2, "shape": [1, 1], "chunks": [1, 1], "dtype": "<f8", "fill_value": 0, "order": "C", '
        + codecs % '{"id": "pickle", "protocol": 5}'
        + "}"
    )
    payload = pickle.dumps(Bomb(tmp_path / "boom"))
    (store / "X" / "0.0").write_bytes(payload)
    with pytest.raises(DataError, match="pickle"):
        everything(store)
    assert not (tmp_path / "boom").exists()
    numcodecs.get_codec({"id": "pickle"}).decode(payload)
    assert (tmp_path / "boom").exists()


@pytest.mark.parametrize(
    ("array", "seen"),
    [
        (X[0], "1 dimension"),
        (X[None], "3 dimensions"),
        (np.float64(3), "0 dimensions"),
        (X[:0], "0 rows"),
        (X[:, :0], "0 columns"),
        (X + 1j, "complex numbers"),
        (np.array([["a"]]), "holds text"),
        (np.array([[b"a"]]), "holds text"),
        (np.array([["2020-01-01"]], "M8[D]"), "dates"),
        (np.array([[3]], "m8[s]"), "durations"),
        (np.zeros((2, 2), [("a", float)]), "records"),
    ],
)
def test_what_is_no_matrix_of_numbers_is_refused(array, seen, tmp_path):
    np.save(tmp_path / "X.npy", array)
    np.savez(tmp_path / "X.npz", X=array)
    for name in ("X.npy", "X.npz"):
        with pytest.raises(DataError, match=seen):
            read(tmp_path / name)


@pytest.mark.parametrize("array", [X[0], X[None], X[:0], X + 1j, np.array([[b"a"]])])
def test_the_same_in_hdf5_and_zarr(array, tmp_path):
    zarr = pytest.importorskip("zarr")
    (tmp_path / "X.h5").write_bytes(hdf5_bytes(lambda file: file.create_dataset("X", data=array)))
    names = ["X.h5"]
    if array.dtype.kind != "S":  # zarr warns that text is not in its standard yet
        zarr.open_group(tmp_path / "X.zarr", mode="w").create_array(
            "X", shape=array.shape, dtype=array.dtype, chunks=(1,) * array.ndim
        )
        names.append("X.zarr")
    for name in names:
        with pytest.raises(DataError, match=r"holds"):
            read(tmp_path / name, key="X")


def headed(shape, dtype="<f8", version=(1, 0), body=b""):
    buffer = io.BytesIO()
    header = {"descr": dtype, "fortran_order": False, "shape": shape}
    (np.lib.format.write_array_header_1_0 if version == (1, 0) else np.lib.format.write_array_header_2_0)(
        buffer, header
    )
    return buffer.getvalue() + body


@pytest.mark.parametrize(
    ("content", "seen"),
    [
        (headed((10**9, 10**9)), "truncated"),  # refused before any memory is set aside
        (headed((10**30, 10**30)), "truncated"),
        (headed((-1, 3), body=bytes(24)), "-1 rows"),
        (headed((2, 2), body=bytes(40)), "followed by something else"),
        (headed((2, 2), dtype="|O", body=bytes(32)), "Python objects"),
    ],
)
def test_lying_headers(content, seen, tmp_path):
    (tmp_path / "X.npy").write_bytes(content)
    with zipfile.ZipFile(tmp_path / "X.npz", "w") as archive:
        archive.writestr("X.npy", content)
    for name in ("X.npy", "X.npz"):
        with pytest.raises(DataError, match=seen):
            read(tmp_path / name)


PARTS = {"data": [1.0, 2.0, 3.0], "indices": [0, 2, 1], "indptr": [0, 2, 3], "shape": [2, 3]}
INCONSISTENT = [
    ({"indptr": [0, 3, 2, 3], "shape": [3, 3]}, "falls after entry 1"),
    ({"indptr": [1, 2, 3]}, "runs from 1 to 3"),
    ({"indptr": [0, 2, 4]}, "runs from 0 to 4"),
    ({"indptr": [0, 3]}, "indptr has 2 entries. Expected 3"),
    ({"indptr": [0.0, 2.0, 3.0]}, "dtype float64. Expected one dimension of integers"),
    ({"indices": [0, 3, 1]}, "run from 0 to 3. Expected 0 to 2"),
    ({"indices": [0, -1, 1]}, "run from -1 to 1"),
    ({"indices": np.array([0, 2**64 - 1, 1], np.uint64)}, "run from 0 to 18446744073709551615"),
    ({"indices": [[0, 2, 1]]}, r"indices has shape \(1, 3\)"),
    ({"data": [1.0, 2.0]}, r"data has shape \(2,\)"),
    ({"data": ["a", "b", "c"]}, "text"),
    ({"shape": [2, 3, 1]}, "3 entries"),
    ({"shape": [-2, 3]}, "-2 rows"),
    ({"shape": [2, 0]}, "0 columns"),
    ({"shape": [2**40, 3]}, "indptr has 3 entries"),
]


@pytest.mark.parametrize(("change", "seen"), INCONSISTENT)
def test_inconsistent_sparse_parts(change, seen, tmp_path):
    parts = {name: np.asarray(part) for name, part in (PARTS | change).items()}
    np.savez(tmp_path / "X.npz", **parts)
    with pytest.raises(DataError, match=seen):
        read(tmp_path / "X.npz")
    if "text" in seen:
        return

    def fill(file):
        group = file.create_group("S")
        group.attrs["encoding-type"], group.attrs["shape"] = "csr_matrix", parts["shape"]
        for name in ("data", "indices", "indptr"):
            group[name] = parts[name]

    (tmp_path / "X.h5").write_bytes(hdf5_bytes(fill))
    with pytest.raises(DataError, match=seen):
        read(tmp_path / "X.h5", key="S")


@pytest.mark.parametrize(
    ("change", "seen"),
    [
        ({"row": [0, 2]}, "runs from 0 to 2"),
        ({"row": [-1, 0]}, "runs from -1"),
        ({"col": [0, 3]}, "run from 0 to 3"),
        ({"row": [0]}, "row "),
        ({"data": [1.0]}, "data has shape"),
        ({"shape": [2]}, "not a consistent"),
        ({"shape": [0, 3]}, "0 rows"),
    ],
)
def test_inconsistent_coordinates(change, seen, tmp_path):
    parts = {"row": [0, 1], "col": [0, 2], "data": [1.0, 2.0], "shape": [2, 3]} | change
    np.savez(tmp_path / "X.npz", format=b"coo", **parts)
    with pytest.raises(DataError, match=seen):
        read(tmp_path / "X.npz")


def test_other_sparse_kinds_are_named(tmp_path):
    np.savez(tmp_path / "X.npz", format=b"bsr", **PARTS)
    with pytest.raises(DataError, match="saved as 'bsr'"):
        read(tmp_path / "X.npz")


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        (
            "%%MatrixMarket matrix coordinate real general\n2 2 1000000000000\n1 1 1\n",
            "announces 1000000000000 entries",
        ),
        ("%%MatrixMarket matrix array real general\n1000000 1000000\n1\n", "announces 1000000000000 entries"),
        ("%%MatrixMarket matrix coordinate complex general\n2 2 1\n1 1 1 1\n", "complex"),
        ("%%MatrixMarket matrix coordinate real general\n0 2 0\n", "0 rows"),
        ("%%MatrixMarket matrix coordinate real general\n2 2 1\n3 1 1\n", "cannot be read"),
        ("%%MatrixMarket matrix coordinate real general\n2 2 1\n0 1 1\n", "cannot be read"),
        ("%%MatrixMarket matrix coordinate real general\n2 2 1\n1 1 a\n", "cannot be read"),
        ("%%MatrixMarket matrix coordinate real general\n2 2 1\n1 1 1.\0\n", "zero bytes"),
        ("%%MatrixMarket vector coordinate real general\n2 1\n1 1\n", "X.mtx"),
    ],
)
def test_wrong_matrix_market_files(text, seen, tmp_path):
    (tmp_path / "X.mtx").write_text(text)
    with pytest.raises(DataError, match=seen):
        read(tmp_path / "X.mtx")


def test_a_last_line_without_an_end_does_not_crash(tmp_path):
    """SciPy 1.17 ends the process here."""
    for tail in (b"", b"\x1f", b"a"):
        (tmp_path / "X.mtx").write_bytes(MTX[:-1] + tail)
        assert read(tmp_path / "X.mtx").X.sum() == 4.0


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("a,b\n1,2\n3,x\n", "line 3, column 'b' holds 'x'"),
        ("1,2\n3,1_000\n", "line 2, column 2 holds '1_000'"),
        ("r,1,2\ns,3,x\n", "line 2, column 3 holds 'x'"),
        ("a,b\n1,2\n3\n", "line 3 has 1 cells. Expected 2"),
        ("a,b\n1,2\n3,4,5\n", "line 3 has 3 cells. Expected 2"),
        ("id,a,b,c\nr,1,2\n", "line 2 has 3 cells. Expected 4"),
        ("a,b\n", "a header and no rows"),
        ("\n\n", "no rows"),
        ("a;b\n1;2\n", "delimiter="),
        ('a,b\n"1,2\n', "cannot be read"),
        ("a,b\n1,\0\n", "X.csv"),
    ],
)
def test_wrong_text_tables(text, seen, tmp_path):
    (tmp_path / "X.csv").write_text(text)
    with pytest.raises(DataError, match=seen):
        read(tmp_path / "X.csv")


def test_text_in_another_encoding(tmp_path):
    (tmp_path / "X.csv").write_bytes("größe,b\n1,2\n".encode("latin-1"))
    with pytest.raises(DataError, match="UTF-8"):
        read(tmp_path / "X.csv")


def test_wrong_annotated_files(tmp_path):
    def misfit(file):
        fill_annotated(file)
        del file["var/_index"]
        file["var/_index"] = ["only"]

    for fill, seen in (
        (lambda file: file.create_group("X"), "no obs and var"),
        (misfit, "1 column names for 3 columns"),
    ):
        (tmp_path / "X.h5ad").write_bytes(hdf5_bytes(fill))
        with pytest.raises(DataError, match=seen):
            read(tmp_path / "X.h5ad")


def test_paths_that_cannot_be_read(tmp_path, monkeypatch):
    with pytest.raises(DataError, match=r"There is no file .*absent\.npy"):
        read(tmp_path / "absent.npy")
    (tmp_path / "folder.npy").mkdir()
    with pytest.raises(DataError, match="is a directory"):
        read(tmp_path / "folder.npy")
    for name in ("X.txt", "X", "X.gz"):
        with pytest.raises(DataError, match=r"Known are: \.npy, \.npz, \.mtx, \.mtx\.gz"):
            read(tmp_path / name)
    os.mkfifo(tmp_path / "pipe.npy")
    with pytest.raises(DataError, match="no ordinary file"):
        read(tmp_path / "pipe.npy")
    np.save(tmp_path / "X.npy", X)

    def refuse(*_args, **_kwargs):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("pathlib.Path.open", refuse)
    with pytest.raises(DataError, match="cannot be opened: Permission denied"):
        read(tmp_path / "X.npy")


def test_zarr_directories_that_are_none(tmp_path):
    pytest.importorskip("zarr")
    (tmp_path / "X.zarr").mkdir()
    with pytest.raises(DataError, match="a zarr store"):
        read(tmp_path / "X.zarr")
    (tmp_path / "X.zarr" / "zarr.json").write_text("{")
    with pytest.raises(DataError, match="a zarr store"):
        read(tmp_path / "X.zarr")


@pytest.mark.parametrize(("name", "library"), [("X.h5", "h5py"), ("X.zarr.zip", "zarr"), ("X.parquet", "pyarrow")])
def test_missing_libraries_are_named(name, library, tmp_path, monkeypatch):
    (tmp_path / name).write_bytes(b"x")
    monkeypatch.setitem(__import__("sys").modules, library, None)
    with pytest.raises(MissingExtraError, match=rf"{library}.*partwise\[io\]"):
        read(tmp_path / name)
