"""Whatever comes in: a sentence, or factors that one can use. Nothing in between, and no warning."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hostile.arrays import HOLDINGS, USUAL, held, numbers
from partwise.algorithms.single.methods import SOLVERS
from partwise.data import as_matrix
from partwise.errors import DataError, PartwiseError
from partwise.estimators.factorize import factorize

few = settings(deadline=None, derandomize=True, database=None, suppress_health_check=[HealthCheck.too_slow])
BETAS = (2, 2, 2, 1, 0, 0.5, 1.5, 3, -0.5)


def is_a_sentence(error):
    """Says something at length, ends as a sentence does, and carries nobody's traceback."""
    text = str(error)
    return len(text) > 25 and text.endswith(".") and "Traceback" not in text and "\n" not in text


def attempt(X, k, **wishes):
    """The factorization, or None where it was refused with a sentence."""
    try:
        return factorize(X, k, **wishes)
    except PartwiseError as error:
        refusal = error
    assert is_a_sentence(refusal), str(refusal)
    return None


def check(found, shape, k):
    assert found.W.shape == (shape[0], k)
    assert found.H.shape == (k, shape[1])
    for F in (found.W, found.H):
        assert np.isfinite(F).all()
        assert (F >= 0).all()
    assert np.isfinite(found.loss)
    assert found.reason.sentence.endswith(".")


@settings(few, max_examples=500)
@given(
    array=numbers(), how=st.sampled_from(HOLDINGS), single=st.booleans(), k=st.integers(1, 9),
    solver=st.sampled_from(["auto", *SOLVERS]), beta=st.sampled_from(BETAS), max_iter=st.integers(1, 6),
)  # fmt: skip
def test_factors_that_are_finite_or_a_sentence(array, how, single, k, solver, beta, max_iter):
    solver = solver if beta == 2 else "mu"
    with np.errstate(over="ignore", under="ignore"):
        array = array.astype(np.float32) if single else array
        X = held(array, how)
    found = attempt(X, k, solver=solver, beta_loss=beta, max_iter=max_iter, tol=0)
    if found is not None:
        check(found, array.shape, k)


@settings(few, max_examples=120)
@given(
    array=numbers(("usual", "zeros")),
    how=st.sampled_from(HOLDINGS),
    k=st.integers(1, 9),
    solver=st.sampled_from(list(SOLVERS)),
)
def test_ordinary_numbers_are_never_refused(array, how, k, solver):
    check(factorize(held(array, how), k, solver=solver, max_iter=4, tol=0), array.shape, k)


@settings(few, max_examples=120)
@given(array=numbers(("usual", "zeros", "mixed")), seed=st.integers(0, 99), k=st.integers(1, 5),
       solver=st.sampled_from(["hals", "bpp", "mu", "pgd", "nesterov", "ipalm", "admm"]), by=st.sampled_from(["mask", "nan", "zero"]),
       weigh=st.booleans())  # fmt: skip
def test_missing_entries_and_weights(array, seed, k, solver, by, weigh):
    rng = np.random.default_rng(seed)
    observed = rng.random(array.shape) < rng.random()
    weights = rng.integers(0, 3, len(array)).astype(float) if weigh else None
    given_as = {"mask": {"mask": observed}, "nan": {"missing": "nan"}, "zero": {"missing": "zero"}}[by]
    X = array if by == "mask" else np.where(observed, array, np.nan if by == "nan" else 0)
    found = attempt(X, k, solver=solver, max_iter=4, sample_weight=weights, **given_as)
    if found is not None:
        check(found, array.shape, k)


NOT_NUMBERS = {
    "strings": np.array([["a", "b"]]),
    "objects": np.array([[object(), 1]], dtype=object),
    "ragged": np.array([[1, 2], [3]], dtype=object),
    "none": None,
    "text": "X",
    "dates": np.array([["2020-01-01", "2021-01-01"]], dtype="datetime64[D]"),
    "durations": np.array([[1, 2]], dtype="timedelta64[s]"),
    "complex": np.array([[1 + 2j, 3]]),
    "records": np.zeros((2, 2), dtype=[("a", float), ("b", float)]),
    "complex sparse": sp.csr_array(np.array([[1 + 2j, 3]])),
    "scalar": 3.0,
    "vector": np.ones(5),
    "cube": np.ones((2, 2, 2)),
    "nothing": np.ones((0, 0)),
    "no rows": np.ones((0, 4)),
    "no columns": np.ones((4, 0)),
    "no rows, sparse": sp.csr_array((0, 4)),
    "dict": {"a": 1},
    "function": len,
    "set": {1, 2},
    "bytes": b"abc",
    "list of strings": [["1", "x"]],
    "ragged list": [[1, 2], [3]],
}


@pytest.mark.parametrize("name", NOT_NUMBERS)
def test_what_is_no_matrix_of_numbers_is_refused(name):
    with pytest.raises(DataError) as caught:
        as_matrix(NOT_NUMBERS[name])
    assert is_a_sentence(caught.value), str(caught.value)


USABLE = {
    "integers": np.arange(6).reshape(2, 3), "bytes": np.arange(6, dtype=np.uint8).reshape(2, 3), "booleans": np.eye(3, dtype=bool),
    "halves": np.ones((2, 3), np.float16), "long doubles": np.ones((2, 3), np.longdouble), "lists": [[1, 2], [3, 4]],
    "big-endian": np.ones((2, 3), ">f8"), "objects": np.array([[1, 2.5]], dtype=object), "matrix": sp.csr_matrix(np.eye(3)),
    "sparse integers": sp.csr_array(np.eye(3, dtype=int)), "sparse booleans": sp.coo_array(np.eye(3, dtype=bool)),
    "lil": sp.lil_array(np.eye(3)), "dok": sp.dok_array(np.eye(3)), "dia": sp.dia_array(np.eye(3)), "bsr": sp.bsr_array(np.eye(4)),
}  # fmt: skip


@pytest.mark.parametrize("name", USABLE)
def test_numbers_of_any_kind_are_taken(name):
    X = USABLE[name]
    entries = as_matrix(X)
    assert entries.dtype == np.float64
    assert entries.dtype.isnative
    check(factorize(X, 2, max_iter=3), entries.shape, 2)


@settings(few, max_examples=150)
@given(array=numbers(("usual", "wrong")), how=st.sampled_from(HOLDINGS))
def test_the_door_sees_every_wrong_entry_and_names_the_first(array, how):
    wrong = ~np.isfinite(array) | (array < 0) | (array > 1e100)
    if not wrong.any():
        as_matrix(held(array, how))
        return
    row, column = np.argwhere(wrong)[0]
    with pytest.raises(DataError, match=rf"\(1 seen, first at row {row}, column {column}: ") as caught:
        as_matrix(held(array, how))
    assert is_a_sentence(caught.value), str(caught.value)


@settings(few, max_examples=30)
@given(array=numbers(("usual", "zeros")), how=st.sampled_from(HOLDINGS))
def test_however_it_is_held_it_is_the_same_matrix(array, how):
    X, plain = as_matrix(held(array, how)), as_matrix(array)
    n, m = array.shape
    F, G = np.linspace(0, 1, 2 * m).reshape(2, m), np.linspace(1, 2, 2 * n).reshape(2, n)
    np.testing.assert_allclose(X.times(F), plain.times(F), rtol=1e-13, atol=1e-13)
    np.testing.assert_allclose(X.T.times(G), plain.T.times(G), rtol=1e-13, atol=1e-13)
    assert X.sq_norm() == pytest.approx(plain.sq_norm())
    assert X.mean() == pytest.approx(plain.mean())
    assert X.has_zeros() == plain.has_zeros()


@settings(few, max_examples=25)
@given(array=numbers(("usual",)), cut=st.lists(USUAL, min_size=1, max_size=4))
def test_inputs_that_cannot_be_written_to_do(array, cut):
    X = array.copy()
    weights = np.resize(np.array(cut), len(array)) + 0.5
    mask = np.ones(array.shape, bool)
    before = X.copy(), weights.copy(), mask.copy()
    for given_array in (X, weights, mask):
        given_array.flags.writeable = False
    factorize(X, 2, sample_weight=weights, mask=mask, max_iter=2)
    for given_array, kept in zip((X, weights, mask), before, strict=True):
        np.testing.assert_array_equal(given_array, kept)
