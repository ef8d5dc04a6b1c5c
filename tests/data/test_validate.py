"""The door: what is copied, what is refused, what becomes of it."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp

from partwise.data import Dense, MaskedDense, MaskedSparse, Sparse, Streamed, Weighted, as_matrix
from partwise.errors import DataError, DataTypeError, OptionError

X = np.random.default_rng(0).random((6, 4))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("order", ["C", "F"])
def test_floats_are_not_copied(dtype, order):
    array = np.array(X, dtype, order=order)
    assert as_matrix(array).array is array
    assert np.shares_memory(as_matrix(array[::2, 1:]).array, array)
    assert np.shares_memory(as_matrix(array, negative="clip").array, array)
    assert np.shares_memory(as_matrix(array, missing="nan").array, array)
    assert np.shares_memory(as_matrix(array, mask=np.ones(X.shape, bool)).array, array)


@pytest.mark.parametrize("held", [sp.csr_array, sp.csc_array])
def test_compressed_rows_and_columns_are_not_copied(held):
    stored = held(X)
    entries = as_matrix(stored)
    assert isinstance(entries, Sparse)
    assert np.shares_memory(entries.stored.data, stored.data)
    assert np.shares_memory(entries.stored.indices, stored.indices)


def temporaries(call):
    """The most that was held beside what was there before."""
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("missing", ["error", "nan"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_the_check_needs_a_block_of_memory_not_another_x(missing, order):
    array = np.full((4000, 2000), 0.5, order=order)  # 64 MB
    assert temporaries(lambda: as_matrix(array, missing=missing)) < 9e6
    array[-1, -1] = -1
    with pytest.raises(DataError, match="first at row 3999, column 1999"):
        as_matrix(array)


def test_a_mask_is_applied_by_blocks():
    array, mask = np.full((4000, 2000), 0.5), np.ones((4000, 2000), bool)
    assert temporaries(lambda: as_matrix(array, mask=mask)) < 20e6


def test_the_form_follows_from_what_is_asked(tmp_path):
    holed = np.where(X > 0.3, X, np.nan)
    assert isinstance(as_matrix(X), Dense)
    assert isinstance(as_matrix(X, missing="nan"), Dense)  # nothing is missing
    assert isinstance(as_matrix(holed, missing="nan"), MaskedDense)
    assert isinstance(as_matrix(X, missing="zero"), MaskedDense)
    assert isinstance(as_matrix(sp.csr_array(X), missing="zero"), MaskedSparse)
    assert isinstance(as_matrix(sp.csr_array(X), mask=X > 0.5), MaskedSparse)
    assert isinstance(as_matrix(X, sample_weight=np.ones(6)), Weighted)
    np.save(tmp_path / "f.npy", X)
    np.save(tmp_path / "i.npy", (9 * X).astype(np.int16))
    assert isinstance(as_matrix(np.load(tmp_path / "f.npy", mmap_mode="r")), Dense)
    assert isinstance(as_matrix(np.load(tmp_path / "i.npy", mmap_mode="r")), Streamed)


def test_asked_precision():
    assert as_matrix(X, dtype="float32").dtype == np.float32
    assert as_matrix(X.astype(np.float32), dtype=np.float64).dtype == np.float64
    assert as_matrix(sp.csr_array(X), dtype="float32").dtype == np.float32
    assert as_matrix((9 * X).astype(int), dtype="float32").dtype == np.float32
    with pytest.raises(OptionError, match="expected 'float32' or 'float64'"):
        as_matrix(X, dtype="float16")


@pytest.mark.parametrize("held", [np.array, sp.csr_array, sp.csc_array])
@pytest.mark.parametrize("size", [2e12, 1e30])
def test_numbers_whose_products_overflow_are_refused(held, size):
    array = X.copy()
    array[2, 3] = size
    with pytest.raises(DataError, match=r"first at row 2, column 3: .*above 1e\+12 overflow float32; divide X by"):
        as_matrix(held(array.astype(np.float32)))
    as_matrix(held(array))
    array[2, 3] = 1e101
    with pytest.raises(DataError, match=r"huge .*overflow float64; divide X"):
        as_matrix(held(array))
    with pytest.raises(DataError, match="infinite"):  # in the precision that was asked for
        as_matrix(held(array), dtype="float32")


@pytest.mark.parametrize("held", [np.array, sp.csr_array, sp.csc_array])
def test_negative_numbers_are_refused_or_clipped(held):
    array = X.copy()
    array[1, 2] = array[4, 0] = -0.5
    with pytest.raises(DataError, match=r"2 .*first at row"):
        as_matrix(held(array))
    clipped = as_matrix(held(array), negative="clip")
    np.testing.assert_allclose(clipped.times(np.eye(4)), np.maximum(array, 0).T)
    assert array[1, 2] == -0.5


def test_what_was_not_observed_is_not_looked_at():
    array, mask = X.copy(), np.ones(X.shape, bool)
    array[0], mask[0] = [np.nan, np.inf, -1, 1e300], False
    assert as_matrix(array, mask=mask).sq_norm() == pytest.approx(np.sum(X[1:] ** 2))
    assert as_matrix(np.where(mask, X, np.nan), missing="nan").sq_norm() == pytest.approx(np.sum(X[1:] ** 2))
    with pytest.raises(DataError, match="infinite"):
        as_matrix(np.where(mask, np.inf, np.nan), missing="nan")


@pytest.mark.parametrize(
    ("mask", "words"),
    [
        (np.ones((4, 6), bool), "mask has shape"),
        (np.ones((6, 4)), "mask has dtype float64"),
        (np.zeros((6, 4), bool), "False everywhere"),
    ],
)
def test_masks_that_cannot_be(mask, words):
    for held in (X, sp.csr_array(X)):
        with pytest.raises(DataError, match=words):
            as_matrix(held, mask=mask)


@pytest.mark.parametrize(
    "weights", [np.ones(5), np.ones((6, 1)), -np.ones(6), np.zeros(6), np.full(6, np.nan), [np.inf] * 6]
)
def test_weights_that_cannot_be(weights):
    with pytest.raises(DataError, match="sample_weight"):
        as_matrix(X, sample_weight=weights)


@pytest.mark.parametrize("wish", [{"missing": "no"}, {"negative": "abs"}, {"missing": None}])
def test_unknown_wishes(wish):
    with pytest.raises(OptionError, match=r"is not known; expected .*\.$"):
        as_matrix(X, **wish)


def test_things_that_cannot_be_numbers_are_type_errors_too():
    with pytest.raises(TypeError, match="Python objects"):
        as_matrix(np.array([[{}, 1]], dtype=object))
    with pytest.raises(DataTypeError):
        as_matrix([[None, {}]])
    with pytest.raises(DataError, match="too large"):
        as_matrix([[10**400, 1]])


class Source:
    """Blocks of rows and nothing else."""

    def __init__(self, array):
        self.array, self.shape, self.dtype = array, array.shape, array.dtype

    def __getitem__(self, rows):
        return self.array[rows]


@pytest.mark.parametrize("wish", [{"mask": X > 0}, {"missing": "zero"}, {"negative": "clip"}])
def test_what_a_stream_cannot_do_it_says(wish):
    with pytest.raises(OptionError, match="load it first"):
        as_matrix(Source(X), **wish)


@pytest.mark.parametrize(("bad", "words"), [(np.nan, "NaN"), (np.inf, "infinite"), (-1, "negative"), (1e200, "huge")])
def test_a_stream_is_checked_too(bad, words, monkeypatch):
    monkeypatch.setattr("partwise.data.dense.GRAIN", 2)
    monkeypatch.setattr("partwise.data.dense.BLOCK_BYTES", 1)
    array = X.copy()
    array[5, 1] = bad
    with pytest.raises(DataError, match=rf"{words}.*first at row 5, column 1"):
        as_matrix(Source(array))
