"""Each format gives back what was written, with names, lazily where it says so."""

import csv
import gzip
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst
from numpy.testing import assert_array_equal
from scipy import io, sparse

from partwise.data.readers import FORMATS, LazyRows, Table, digest, read
from partwise.errors import DataError, OptionError

REAL = (
    npst.boolean_dtypes()
    | npst.integer_dtypes()
    | npst.unsigned_integer_dtypes()
    | npst.floating_dtypes(sizes=(32, 64))
)
MATRICES = npst.arrays(REAL, npst.array_shapes(min_dims=2, max_dims=2, max_side=5))
NUMBERS = npst.arrays(np.float64, npst.array_shapes(min_dims=2, max_dims=2, max_side=5))


def write_npz(path, X):
    np.savez(path, X=X)


def write_hdf5(path, X):
    h5py = pytest.importorskip("h5py")
    with h5py.File(path, "w") as file:
        file["group/counts"] = X
        file["group/label"] = "a scalar and no matrix"


def write_zarr(path, X):
    zarr = pytest.importorskip("zarr")
    zarr.open_group(path, mode="w").create_array("counts", data=X)


def write_zarr_zip(path, X):
    zarr = pytest.importorskip("zarr")
    with zarr.storage.ZipStore(path, mode="w") as store:
        zarr.open_group(store, mode="w").create_array("counts", data=X)


def write_parquet(path, X):
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    parquet.write_table(pa.table({f"c{j}": np.ascontiguousarray(column) for j, column in enumerate(X.T)}), path)


DENSE = {
    "X.npy": np.save,
    "X.npz": write_npz,
    "X.h5": write_hdf5,
    "X.zarr": write_zarr,
    "X.zarr.zip": write_zarr_zip,
    "X.parquet": write_parquet,
}


@pytest.mark.parametrize("name", DENSE)
@settings(max_examples=25, deadline=None)
@given(X=MATRICES)
def test_dense_formats_give_back_what_was_written(name, tmp_path_factory, X):
    path = tmp_path_factory.mktemp("dense") / name
    if name not in ("X.npy", "X.npz", "X.h5"):  # these alone keep the order of bytes
        X = X.astype(X.dtype.newbyteorder("="))
    DENSE[name](path, X)
    table = read(path)
    assert table.shape == X.shape
    assert table.X.dtype == X.dtype
    assert_array_equal(table.X[:], X)


@pytest.mark.parametrize("order", ["C", "F"])
def test_npy_is_a_read_only_memory_map(tmp_path, order):
    X = np.asarray(np.arange(12.0).reshape(3, 4), order=order)
    np.save(tmp_path / "X.npy", X)
    table = read(tmp_path / "X.npy")
    assert isinstance(table.X, np.memmap)
    assert not table.X.flags.writeable
    assert table.X.flags.f_contiguous == (order == "F")
    assert_array_equal(table.X, X)


@pytest.mark.parametrize("name", ["X.h5", "X.zarr", "X.zarr.zip"])
def test_lazy_rows_agree_with_numpy(name, tmp_path):
    X = np.arange(60, dtype=np.int16).reshape(12, 5)
    DENSE[name](tmp_path / name, X)
    rows = read(tmp_path / name).X
    assert isinstance(rows, LazyRows)
    assert len(rows) == 12
    assert "12, 5" in repr(rows)
    mask = np.arange(12) % 3 == 0
    for index in (
        slice(3, 7),
        slice(None),
        slice(10, 99),
        slice(5, 2),
        slice(1, 11, 3),
        slice(None, None, -2),
        slice(-3, None),
    ):
        assert_array_equal(rows[index], X[index])
    for index in (np.array([7, 0, 7, -1]), mask, np.array([], dtype=int)):
        assert_array_equal(rows[index], X[index])
    with pytest.raises(TypeError, match="one dimension"):
        rows[np.zeros((2, 2), int)]


def test_lazy_rows_notice_that_the_file_has_changed(tmp_path):
    write_hdf5(tmp_path / "X.h5", np.ones((4, 3)))
    rows = read(tmp_path / "X.h5").X
    write_hdf5(tmp_path / "X.h5", np.ones((5, 3)))
    with pytest.raises(DataError, match="has changed"):
        rows[:2]


SPARSE = sparse.random_array((7, 5), density=0.4, rng=np.random.default_rng(0), format="csr")
EMPTY = sparse.csr_array((3, 4))


def in_parts(path, X):
    np.savez(path, data=X.data, indices=X.indices.astype(np.int16), indptr=X.indptr, shape=X.shape)


@pytest.mark.parametrize("X", [SPARSE, EMPTY])
@pytest.mark.parametrize(
    ("write", "kind"), [(in_parts, "csr"), *((sparse.save_npz, kind) for kind in ("csr", "csc", "coo"))]
)
def test_sparse_npz(tmp_path, X, write, kind):
    write(tmp_path / "X.npz", X.asformat(kind))
    found = read(tmp_path / "X.npz").X
    assert isinstance(found, sparse.csc_array if kind == "csc" else sparse.csr_array)
    assert found.dtype == X.dtype
    assert_array_equal(found.toarray(), X.toarray())


def test_sparse_npz_without_data_is_a_graph_of_ones(tmp_path):
    np.savez(tmp_path / "X.npz", indices=SPARSE.indices, indptr=SPARSE.indptr, shape=SPARSE.shape)
    assert_array_equal(read(tmp_path / "X.npz").X.toarray(), SPARSE.toarray() != 0)


def test_npz_names_and_keys(tmp_path):
    X, Y = np.ones((2, 3)), np.zeros((2, 2))
    np.savez(tmp_path / "X.npz", X=X, Y=Y, vocab=["a", "b", "c"], row_names=["r", "s"], y=[1, 2])
    table = read(tmp_path / "X.npz")
    assert (table.feature_names, table.row_names, table.key, table.format) == (("a", "b", "c"), ("r", "s"), "X", "npz")
    other = read(tmp_path / "X.npz", key="Y")
    assert_array_equal(other.X, Y)
    assert other.feature_names is None  # three names do not fit two columns
    with pytest.raises(DataError, match=r"has no array 'Z'\. It holds: X"):
        read(tmp_path / "X.npz", key="Z")
    np.savez(tmp_path / "two.npz", A=X, B=Y)
    with pytest.raises(DataError, match=r"2 matrices: A \(2 × 3 float64\), B .* key='A'"):
        read(tmp_path / "two.npz")
    np.savez(tmp_path / "one.npz", only=X, y=[1])
    assert read(tmp_path / "one.npz").key == "only"
    np.savez(tmp_path / "bad.npz", X=X, feature_names=["a"])
    with pytest.raises(DataError, match="1 column names for 3 columns"):
        read(tmp_path / "bad.npz")


@pytest.mark.parametrize("name", ["X.mtx", "X.mtx.gz"])
@pytest.mark.parametrize("field", ["real", "integer", "pattern"])
def test_matrix_market_coordinates(tmp_path, name, field):
    X = (SPARSE * 10).astype(int) + (SPARSE > 0).astype(int)
    write_matrix_market(tmp_path / name, sparse.coo_array(X), field=field)
    found = read(tmp_path / name).X
    assert isinstance(found, sparse.csr_array)
    assert_array_equal(found.toarray(), X.toarray() > 0 if field == "pattern" else X.toarray())


@pytest.mark.parametrize("layout", [np.asarray, sparse.coo_array])
def test_matrix_market_arrays_and_symmetry(tmp_path, layout):
    X = np.array([[1.5, 2.0, 0.0], [2.0, 0.0, 3.0], [0.0, 3.0, 4.0]])
    io.mmwrite(tmp_path / "X.mtx", layout(X), symmetry="symmetric")
    found = read(tmp_path / "X.mtx").X
    assert_array_equal(found.toarray() if sparse.issparse(found) else found, X)


def write_matrix_market(path, X, **options):
    plain = path.with_name("plain.mtx")
    io.mmwrite(plain, X, **options)
    path.write_bytes(gzip.compress(plain.read_bytes()) if path.suffix == ".gz" else plain.read_bytes())


@pytest.mark.parametrize("name", ["X.csv", "X.tsv", "X.csv.gz", "X.tsv.gz"])
@pytest.mark.parametrize("header", [True, False])
@pytest.mark.parametrize("named", [True, False])
@settings(max_examples=15, deadline=None)
@given(X=NUMBERS, quoting=st.sampled_from([csv.QUOTE_ALL, csv.QUOTE_MINIMAL]))
def test_text_tables_are_found_out(name, header, named, tmp_path_factory, X, quoting):
    path = tmp_path_factory.mktemp("text") / name
    features, rows = [f"f {j}" for j in range(X.shape[1])], [f"r_{i}" for i in range(len(X))]
    lines = [[rows[i], *row] if named else row for i, row in enumerate(X.tolist())]
    lines = [["id", *features] if named else features, *lines] if header else lines
    with (gzip.open if ".gz" in name else open)(path, "wt", newline="", encoding="utf-8") as file:
        csv.writer(file, delimiter="\t" if "tsv" in name else ",", quoting=quoting).writerows(lines)
    table = read(path)
    assert_array_equal(table.X, X)
    assert table.feature_names == (tuple(features) if header else None)
    assert table.row_names == (tuple(rows) if named else None)


def read_text(tmp_path, text, **options) -> Table:
    (tmp_path / "X.csv").write_text(text, encoding="utf-8")
    return read(tmp_path / "X.csv", **options)


@pytest.mark.parametrize(
    ("text", "X", "features", "rows"),
    [
        ("a,b\n1,\n NA ,4\n", [[1, np.nan], [np.nan, 4]], ("a", "b"), None),
        (",0,1\n0,5,6\n1,7,8\n", [[5, 6], [7, 8]], ("0", "1"), ("0", "1")),  # as pandas writes a frame without names
        (",a,b\n10,5,6\n", [[5, 6]], ("a", "b"), ("10",)),
        ("a,b\nr,5,6\ns,7,8\n", [[5, 6], [7, 8]], ("a", "b"), ("r", "s")),  # as R writes a frame
        ("id,1,2\n7,5,6\n", [[7, 5, 6]], ("id", "1", "2"), None),
        ("r,1,2\ns,5,6\n", [[1, 2], [5, 6]], None, ("r", "s")),
        ("a\n1\n\n2\n", [[1], [2]], ("a",), None),
        ("1\n2\n", [[1], [2]], None, None),
        ("\ufeffa,b\r\n1,2\r\n", [[1, 2]], ("a", "b"), None),
        ("1_0,2\n3_0,4\n", [[2], [4]], None, ("1_0", "3_0")),
        ("1e3,-inf\n", [[1000, -np.inf]], None, None),
    ],
)
def test_text_layouts(tmp_path, text, X, features, rows):
    table = read_text(tmp_path, text)
    assert_array_equal(table.X, X)
    assert (table.feature_names, table.row_names) == (features, rows)


def test_text_options(tmp_path):
    assert_array_equal(read_text(tmp_path, "1,2\n3,4\n", header=True).X, [[3, 4]])
    assert_array_equal(read_text(tmp_path, "1;2\n3;4\n", delimiter=";").X, [[1, 2], [3, 4]])
    table = read_text(tmp_path, "id,note,a,b\nr,hi,1,2\n", columns=["b", "a"])
    assert_array_equal(table.X, [[2, 1]])
    assert (table.feature_names, table.row_names) == (("b", "a"), ("r",))
    with pytest.raises(OptionError, match=r"no column 'c'\. Its columns are: a, b"):
        read_text(tmp_path, "a,b\n1,2\n", columns=["c"])
    with pytest.raises(OptionError, match="no header"):
        read_text(tmp_path, "1,2\n", columns=["c"])


def test_a_long_text_table_is_read_by_blocks(tmp_path):
    X = np.arange(10_000.0).reshape(-1, 2)
    np.savetxt(tmp_path / "X.csv", X, delimiter=",")
    assert_array_equal(read(tmp_path / "X.csv").X, X)


def test_parquet_names_gaps_and_columns(tmp_path):
    pa = pytest.importorskip("pyarrow")
    pd = pytest.importorskip("pandas")
    from pyarrow import parquet

    columns = {
        "id": ["r", None],
        "a": [1, None],
        "b": [True, None],
        "c": [0.5, 1.0],
        "day": pa.array([1, 2], pa.date32()),
    }
    parquet.write_table(pa.table(columns), tmp_path / "X.parquet")
    with pytest.raises(DataError, match=r"not numbers: day \(date32"):
        read(tmp_path / "X.parquet")
    table = read(tmp_path / "X.parquet", columns=["c", "a", "b"])
    assert_array_equal(table.X, [[0.5, 1, 1], [1, np.nan, np.nan]])
    assert (table.feature_names, table.row_names) == (("c", "a", "b"), ("r", ""))
    with pytest.raises(OptionError, match="no column 'z'"):
        read(tmp_path / "X.parquet", columns=["z"])
    frame = pd.DataFrame({"a": [1, 2], "b": [3, 4]}, index=pd.Index([10, 20], name="sample"))
    frame.to_parquet(tmp_path / "frame.parquet")
    table = read(tmp_path / "frame.parquet")
    assert_array_equal(table.X, frame)
    assert (table.feature_names, table.row_names) == (("a", "b"), ("10", "20"))
    parquet.write_table(pa.table({"s": ["x"], "t": ["y"], "a": [1]}), tmp_path / "texts.parquet")
    with pytest.raises(DataError, match=r"s \(string\), t \(string\)"):
        read(tmp_path / "texts.parquet")


@pytest.mark.parametrize("suffix", [".h5ad", ".zarr"])
@pytest.mark.parametrize("kind", ["dense", "csr", "csc"])
@pytest.mark.filterwarnings("ignore")  # anndata's own
def test_anndata_with_names_layers_and_raw(tmp_path, suffix, kind):
    anndata = pytest.importorskip("anndata")
    pd = pytest.importorskip("pandas")
    X = SPARSE.toarray() if kind == "dense" else SPARSE.asformat(kind)
    obs, var = (pd.DataFrame(index=[f"{letter}{i}" for i in range(n)]) for letter, n in (("c", 7), ("g", 5)))
    data = anndata.AnnData(X, obs=obs, var=var, layers={"counts": X * 2})
    data.raw = data.copy()
    data = data[:, :4].copy()
    path = tmp_path / f"X{suffix}"
    data.write_h5ad(path) if suffix == ".h5ad" else data.write_zarr(path)
    for key, expected, genes in (
        (None, 1, 4),
        ("counts", 2, 4),
        ("layers/counts", 2, 4),
        ("raw", 1, 5),
        ("raw/X", 1, 5),
    ):
        table = read(path, key=key)
        found = table.X.toarray() if kind != "dense" else table.X[:]
        assert isinstance(table.X, LazyRows) == (kind == "dense")
        assert_array_equal(found, expected * SPARSE.toarray()[:, :genes])
        assert table.feature_names == tuple(f"g{j}" for j in range(genes))
        assert table.row_names == tuple(f"c{i}" for i in range(7))
    with pytest.raises(DataError, match=r"has no 'nothing'. It holds: X \(.*layers/counts .*raw/X"):
        read(path, key="nothing")


@pytest.mark.parametrize("transposed", [False, True])
def test_hdf5_sparse_groups(tmp_path, transposed):
    """Also in 10x Genomics' form: shape beside the parts, CSC known by its number of pointers alone."""
    h5py = pytest.importorskip("h5py")
    X = SPARSE.tocsc() if transposed else SPARSE
    with h5py.File(tmp_path / "X.h5", "w") as file:
        for name in ("data", "indices", "indptr", "shape"):
            file[f"matrix/{name}"] = getattr(X, name)
    table = read(tmp_path / "X.h5")
    assert table.key == "matrix"
    assert_array_equal(table.X.toarray(), SPARSE.toarray())


def test_hdf5_keys(tmp_path):
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "X.h5", "w") as file:
        file["a"], file["deep/b"], file["labels"] = np.ones((2, 3)), np.zeros((4, 1)), np.arange(3)
        file["gone"] = h5py.ExternalLink("elsewhere.h5", "/x")
    with pytest.raises(DataError, match=r"2 matrices: a \(2 × 3 float64\), deep/b"):
        read(tmp_path / "X.h5")
    assert read(tmp_path / "X.h5", key="/deep/b").shape == (4, 1)
    with pytest.raises(DataError, match="1 dimension"):
        read(tmp_path / "X.h5", key="labels")
    with pytest.raises(DataError, match="is a group and no matrix"):
        read(tmp_path / "X.h5", key="deep")


def test_options_are_not_ignored(tmp_path):
    np.save(tmp_path / "X.npy", np.ones((2, 2)))
    with pytest.raises(OptionError, match=r"key= means nothing for .*\.npz, \.h5ad"):
        read(tmp_path / "X.npy", key="X")
    with pytest.raises(OptionError, match=r"delimiter= means nothing .* \.csv"):
        read(tmp_path / "X.npy", delimiter=",")


def test_digest(tmp_path, monkeypatch):
    (tmp_path / "abc.npy").write_bytes(b"abc")
    assert digest(tmp_path / "abc.npy") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    for name in ("one", "two"):  # equal directories, written in a different order
        for file in ("b/c", "a") if name == "one" else ("a", "b/c"):
            (tmp_path / name / file).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name / file).write_text(file)
    assert digest(tmp_path / "one") == digest(tmp_path / "two")
    listed = list((tmp_path / "one").rglob("*"))
    with monkeypatch.context() as patch:  # whatever the order in which the file system lists them
        patch.setattr(Path, "rglob", lambda *_: reversed(listed))
        backwards = digest(tmp_path / "one")
    assert backwards == digest(tmp_path / "one")
    (tmp_path / "two" / "a").rename(tmp_path / "two" / "z")
    assert digest(tmp_path / "one") != digest(tmp_path / "two")
    with pytest.raises(DataError, match="cannot be read"):
        digest(tmp_path / "absent")


def test_a_table_knows_its_source(tmp_path):
    np.save(tmp_path / "X.npy", np.ones((2, 2)))
    table = read(str(tmp_path / "X.npy"))
    assert (table.path, table.format, table.key) == (tmp_path / "X.npy", "npy", None)
    assert table.digest() == digest(tmp_path / "X.npy")


def test_suffixes_are_told_apart():
    suffixes = [suffix for form in FORMATS for suffix in form.suffixes]
    assert len(set(suffixes)) == len(suffixes)
    assert Path("X.MTX.GZ").name.lower().endswith(".mtx.gz")
