"""Arrays that nobody should pass, and some that look as if nobody should."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from hypothesis import strategies as st

USUAL = st.floats(0.0, 10.0, width=32)
EXTREME = st.sampled_from([0.0, 1e-310, 5e-324, 1e-160, 1e-38, 1e12, 1e38, 1e99, 1e160, 1e300, 1.7e308])
WRONG = st.sampled_from([np.nan, np.inf, -np.inf, -1.0, -1e-310, 1e160])
SHAPES = st.tuples(st.integers(1, 7), st.integers(1, 7))
HOLDINGS = (
    "C",
    "Fortran",
    "strided",
    "read-only",
    "reversed",
    "CSR",
    "CSC",
    "COO",
    "unsorted",
    "duplicates",
    "wide indices",
)


@st.composite
def numbers(draw, kinds=("zeros", "usual", "extreme", "mixed", "wrong")):
    """(n, m) of float64, all of one kind."""
    shape = draw(SHAPES)
    kind = draw(st.sampled_from(kinds))
    element = {"zeros": st.just(0.0), "usual": USUAL, "extreme": EXTREME, "wrong": USUAL}.get(kind, USUAL | EXTREME)
    values = draw(st.lists(element, min_size=shape[0] * shape[1], max_size=shape[0] * shape[1]))
    if kind == "wrong":
        values[draw(st.integers(0, len(values) - 1))] = draw(WRONG)
    return np.array(values).reshape(shape)


def held(array, how):
    """The same numbers, held in some awkward way."""
    makers = {
        "C": np.array, "Fortran": np.asfortranarray, "strided": lambda A: np.repeat(np.repeat(A, 2, 0), 3, 1)[::2, ::3],
        "read-only": sealed, "reversed": lambda A: A[::-1, ::-1].copy()[::-1, ::-1], "CSR": sp.csr_array, "CSC": sp.csc_array,
        "COO": sp.coo_array, "unsorted": unsorted, "duplicates": duplicated, "wide indices": wide,
    }  # fmt: skip
    return makers[how](array)


def sealed(array):
    array = array.copy()
    array.flags.writeable = False
    return array


def unsorted(array):
    """CSR with explicit zeros, each row's columns from the last to the first."""
    n, m = array.shape
    columns = np.tile(np.arange(m - 1, -1, -1), n)
    return sp.csr_array((array[:, ::-1].ravel(), columns, np.arange(0, n * m + 1, m)), shape=array.shape)


def duplicated(array):
    """CSC in which every entry is stored twice, as halves."""
    n, m = array.shape
    rows = np.tile(np.repeat(np.arange(n), 2), m)
    halves = np.repeat(array.T.ravel() / 2, 2)
    return sp.csc_array((halves, rows, np.arange(0, 2 * n * m + 1, 2 * n)), shape=array.shape)


def wide(array):
    """CSR with indices of 64 bits."""
    X = sp.csr_array(array)
    X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    return X
