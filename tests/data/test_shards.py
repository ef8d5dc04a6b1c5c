"""Shards: what is written is X; a part is that part of X, and no more than it is read; what is damaged is named."""

from __future__ import annotations

import json
import sys
import tracemalloc
from pathlib import Path

import h5py
import numpy as np
import pytest
import scipy.sparse as sp
import zarr

from partwise.data.opening import open_parts
from partwise.data.readers import read
from partwise.data.shards import read_manifest, write_shards
from partwise.errors import DataError

SHAPE = (103, 57)
SOURCES = ("X.npy", "fortran.npy", "X.h5", "X.zarr", "X.npz", "csr.npz", "csc.npz", "duplicates.npz")
RANGES = ((range(103), range(57)), (range(20, 61), range(57)), (range(103), range(40, 57)), (range(9, 30), range(33, 50)),
          (range(102, 103), range(56, 57)), (range(5, 5), range(57)))  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The same X in many files; of the sparse ones, one names entries twice and out of order."""
    folder = tmp_path_factory.mktemp("sources")
    rng = np.random.default_rng(0)
    X = rng.random(SHAPE).astype(np.float32) * (rng.random(SHAPE) < 0.3)
    np.save(folder / "X.npy", X)
    np.save(folder / "fortran.npy", np.asfortranarray(X))
    np.savez(folder / "X.npz", X=X, feature_names=[f"f{j}" for j in range(57)], row_names=[f"s{i}" for i in range(103)])
    with h5py.File(folder / "X.h5", "w") as file:
        file.create_dataset("X", data=X, chunks=(10, 10))
    zarr.create_array(str(folder / "X.zarr"), data=X, chunks=(10, 10))
    csr = sp.csr_array(X)
    sp.save_npz(folder / "csr.npz", csr)
    sp.save_npz(folder / "csc.npz", sp.csc_array(X))
    halves = (np.repeat(csr.data / 2, 2), np.repeat(csr.indices, 2), 2 * csr.indptr)
    for i in range(SHAPE[0]):
        row = slice(halves[2][i], halves[2][i + 1])
        halves[0][row], halves[1][row] = halves[0][row][::-1].copy(), halves[1][row][::-1].copy()
    np.savez(folder / "duplicates.npz", data=halves[0], indices=halves[1], indptr=halves[2], shape=SHAPE)
    return folder


@pytest.fixture(scope="module")
def X(folder):
    return np.load(folder / "X.npy")


def made(target: Path, *sources: Path, memory: int = 1 << 20, dtype=None) -> Path:
    """Shards of some files."""
    target.mkdir()
    write_shards(target, [read(source) for source in sources], memory=memory, dtype=dtype)
    return target


def array(part):
    """A part as an array."""
    if not hasattr(part, "stored"):
        return np.asarray(part.array)
    held = part.stored.toarray()
    return held.T if part.flipped else held


def whole(folder: Path):
    """What the readers make of the directory."""
    held = read(folder).X
    return held.toarray() if sp.issparse(held) else np.asarray(held)


@pytest.mark.parametrize("memory", [2000, 1 << 20])
@pytest.mark.parametrize("source", SOURCES)
def test_shards_hold_x_by_rows_and_by_columns_whatever_the_budget(folder, X, source, memory, tmp_path):
    shards = made(tmp_path / "shards", folder / source, memory=memory)
    assert np.array_equal(whole(shards), X)
    parts = open_parts(shards).parts
    assert parts.alone
    for rows, columns in RANGES:
        inside = X[rows.start : rows.stop, columns.start : columns.stop]
        assert np.array_equal(array(parts.part(rows, columns)), inside)
    read_manifest(shards).verify()


@pytest.mark.parametrize("source", SOURCES)
def test_parts_of_any_other_file(folder, X, source):
    parts = open_parts(folder / source).parts
    assert parts.alone == (not source.endswith(".npz"))
    for rows, columns in RANGES:
        inside = X[rows.start : rows.stop, columns.start : columns.stop]
        assert np.array_equal(array(parts.part(rows, columns)), inside)


def bytes_read() -> int:
    """By this process, through the system, in all its life."""
    return int(Path("/proc/self/io").read_text().split()[1])


@pytest.mark.skipif(not Path("/proc/self/io").exists(), reason="the system does not count")
@pytest.mark.parametrize("kind", ["X.npy", "csr.npz"])
@pytest.mark.parametrize("ranks", [2, 3, 7])
def test_a_rank_reads_its_part_and_no_more(tmp_path, kind, ranks):
    rng = np.random.default_rng(1)
    n, m = 700, 400
    X = (rng.random((n, m)) * (rng.random((n, m)) < 0.5)).astype(np.float32)
    np.save(tmp_path / "X.npy", X)
    sp.save_npz(tmp_path / "csr.npz", sp.csr_array(X))
    parts = open_parts(made(tmp_path / "shards", tmp_path / kind)).parts
    before = bytes_read()
    idle = bytes_read() - before  # what asking costs
    for rank in range(ranks):
        rows = range(n * rank // ranks, n * (rank + 1) // ranks)
        columns = range(m * rank // ranks, m * (rank + 1) // ranks)
        for own in ((rows, range(m)), (range(n), columns)):
            inside = X[own[0].start : own[0].stop, own[1].start : own[1].stop]
            entry, line = (4, 0) if kind == "X.npy" else (8, 8)
            lines = 1 + (len(own[0]) if len(own[1]) == m else len(own[1]))
            needed = entry * (inside.size if kind == "X.npy" else np.count_nonzero(inside)) + line * lines
            before = bytes_read()
            parts.part(*own)
            assert 0 <= bytes_read() - before - idle - needed < 16  # the count itself may gain a digit


@pytest.mark.skipif(not Path("/proc/self/io").exists(), reason="the system does not count")
def test_a_block_of_a_grid_reads_the_block_if_dense(tmp_path, folder, X):
    for source in (made(tmp_path / "shards", folder / "X.npy"), folder / "X.npy"):
        parts = open_parts(source).parts
        before = bytes_read()
        idle = bytes_read() - before
        before = bytes_read()
        parts.part(range(10, 30), range(5, 45))
        assert 0 <= bytes_read() - before - idle - 20 * 40 * 4 < 16


@pytest.mark.parametrize("kind", ["X.npy", "csr.npz"])
def test_memory_is_a_budget(tmp_path, kind):
    rng = np.random.default_rng(2)
    X = sp.random_array((1500, 300), density=0.2, rng=rng, format="csr")
    np.save(tmp_path / "X.npy", X.toarray())
    sp.save_npz(tmp_path / "csr.npz", X)
    table, memory = read(tmp_path / kind), 1 << 18
    (tmp_path / "shards").mkdir()
    tracemalloc.start()
    write_shards(tmp_path / "shards", [table], memory=memory)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    beside = 8 * (1500 + 300) * 4 + (1 << 18)  # pointers, and what Python takes
    assert peak < memory + beside, f"{peak} bytes; X has {X.size * 12 if 'csr' in kind else X.shape[0] * 2400}"


def test_files_are_stacked_with_their_names(folder, X, tmp_path):
    shards = made(tmp_path / "shards", folder / "X.npz", folder / "X.npz")
    table = read(shards)
    assert np.array_equal(whole(shards), np.vstack([X, X]))
    assert table.feature_names == tuple(f"f{j}" for j in range(57))
    assert table.row_names == tuple(f"s{i}" for i in range(103)) * 2
    assert np.array_equal(whole(made(tmp_path / "sparse", folder / "csr.npz", folder / "csc.npz")), np.vstack([X, X]))


def test_files_that_do_not_fit_cannot_be_stacked(folder, tmp_path):
    np.save(tmp_path / "narrow.npy", np.ones((4, 56)))
    with pytest.raises(DataError, match=r"narrow\.npy has 56 columns and .*X\.npy has 57"):
        made(tmp_path / "a", folder / "X.npy", tmp_path / "narrow.npy")
    with pytest.raises(DataError, match="one is sparse and the other dense"):
        made(tmp_path / "b", folder / "X.npy", folder / "csr.npz")
    with pytest.raises(DataError, match="name their columns differently"):
        made(tmp_path / "c", folder / "X.npy", folder / "X.npz")


def test_numbers_stay_narrow_on_disk_and_become_what_was_asked(tmp_path):
    X = np.arange(60, dtype=np.uint8).reshape(12, 5)
    np.save(tmp_path / "X.npy", X)
    shards = made(tmp_path / "shards", tmp_path / "X.npy")
    assert np.load(shards / "XT.npy").dtype == np.uint8
    assert open_parts(shards).parts.dtype == np.float64
    held = open_parts(shards, dtype="float32").parts.part(range(3, 7), range(5))
    assert held.dtype == np.float32
    assert np.array_equal(array(held), X[3:7])
    assert np.load(made(tmp_path / "wide", tmp_path / "X.npy", dtype="float32") / "X.npy").dtype == np.float32


@pytest.mark.parametrize(("bad", "word"), [(np.nan, "NaN"), (np.inf, "infinite"), (-3.0, "negative"), (1e200, "huge")])
@pytest.mark.parametrize("kind", ["dense", "sparse", "npy", "npz"])
def test_a_bad_entry_is_named_by_its_place_in_x_by_whoever_reads_it(tmp_path, bad, word, kind):
    X = np.ones((40, 30))
    X[25, 17] = bad
    np.save(tmp_path / "X.npy", X)
    sp.save_npz(tmp_path / "X.npz", sp.csr_array(X))
    source = tmp_path / ("X.npy" if kind in ("dense", "npy") else "X.npz")
    parts = open_parts(made(tmp_path / "shards", source) if kind in ("dense", "sparse") else source).parts
    assert parts.part(range(20), range(30)).shape == (20, 30)
    for rows, columns in ((range(20, 40), range(30)), (range(40), range(15, 20)), (range(24, 30), range(11, 19))):
        with pytest.raises(DataError, match=rf"{word}.*row 25, column 17"):
            parts.part(rows, columns)


@pytest.mark.parametrize("kind", ["X.npy", "csr.npz", "X.npz"])
def test_negative_entries_may_be_clipped(tmp_path, folder, X, kind):
    np.save(tmp_path / "X.npy", X - 0.5)
    np.savez(tmp_path / "X.npz", X=X - 0.5)
    sp.save_npz(tmp_path / "csr.npz", sp.csr_array(X - 0.5))
    for source in (tmp_path / kind, made(tmp_path / "shards", tmp_path / kind)):
        parts = open_parts(source, negative="clip").parts
        for rows, columns in RANGES[:4]:
            inside = np.maximum(X - 0.5, 0)[rows.start : rows.stop, columns.start : columns.stop]
            assert np.array_equal(array(parts.part(rows, columns)), inside.astype(np.float32))


def cut(path: Path):
    path.write_bytes(path.read_bytes()[:-8])


def other_shape(path: Path):
    """A file of the same size in bytes, of another matrix."""
    X = np.load(path)
    size = path.stat().st_size
    np.save(path, X.reshape(-1).reshape(X.shape[::-1] if X.ndim == 2 else (-1, 1)))
    assert path.stat().st_size == size


@pytest.mark.parametrize("name", ["X.npy", "XT.npy", "csr.data.npy", "csc.indices.npy", "csr.indptr.npy"])
@pytest.mark.parametrize(
    ("damage", "words"), [(cut, "truncated"), (Path.unlink, "missing"), (other_shape, "the manifest beside it says")]
)
def test_a_damaged_file_is_named(tmp_path, folder, name, damage, words):
    shards = made(tmp_path / "shards", folder / ("X.npy" if "X" in name else "csr.npz"))
    damage(shards / name)
    with pytest.raises(DataError, match=rf"{name}.* {words}"):
        open_parts(shards)


@pytest.mark.parametrize("name", ["csr.indices.npy", "csr.indptr.npy"])
def test_numbers_that_lead_out_of_the_matrix_are_refused(tmp_path, folder, name):
    shards = made(tmp_path / "shards", folder / "csr.npz")
    opened = open_parts(shards)
    damaged = np.load(shards / name)
    damaged[3] = 10_000
    np.save(shards / name, damaged)
    with pytest.raises(DataError, match=f"{name} is damaged"):
        opened.parts.part(range(10), range(57))
    with pytest.raises(DataError, match=f"{name} is damaged: its digest"):
        read_manifest(shards).verify()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"schema": 99}, "schema 99"),
        ({"shape": [0, 5]}, "0 rows"),
        ({"shape": "wide"}, "damaged"),
        ({"layout": "odd"}, "layout is 'odd'"),
        ({"dtype": "object"}, "Python objects"),
        ({"files": None}, "damaged"),
    ],
)
def test_a_manifest_that_says_what_cannot_be(tmp_path, folder, change, words):
    shards = made(tmp_path / "shards", folder / "X.npy")
    content = json.loads((shards / "manifest.json").read_text())
    (shards / "manifest.json").write_text(json.dumps(content | change))
    with pytest.raises(DataError, match=words):
        read(shards)


def test_a_foreign_manifest_and_half_a_directory(tmp_path, folder):
    shards = made(tmp_path / "shards", folder / "X.npy")
    (shards / "manifest.json").write_text('{"kind": "something else"}')
    with pytest.raises(DataError, match="not of a directory of shards"):
        read_manifest(shards)
    (shards / "manifest.json").unlink()
    with pytest.raises(DataError, match=r"holds no manifest\.json"):
        read_manifest(shards)
    with pytest.raises(DataError):
        read(shards)


@pytest.mark.skipif(sys.platform == "win32", reason="files in use cannot be cut there")
def test_a_file_that_is_cut_while_it_is_read(tmp_path, folder):
    shards = made(tmp_path / "shards", folder / "X.npy")
    parts = open_parts(shards).parts
    cut(shards / "X.npy")
    with pytest.raises(DataError, match=r"X\.npy ends too early"):
        parts.part(range(103), range(57))
