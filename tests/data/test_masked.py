"""Missing entries: the pair is that of the completed matrix, and the loss counts what was observed."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from partwise.data import MaskedDense, MaskedSparse, Sparse, as_matrix
from partwise.data.betas import divergences

N, M, K = 21, 13, 3
RNG = np.random.default_rng(4)
X = RNG.uniform(0.2, 3, (N, M))
KNOWN = RNG.random((N, M)) < 0.6
KNOWN[4] = False  # nothing is known of a row, and nothing of a column
KNOWN[:, 7] = False
H, WT = RNG.random((K, M)) + 0.1, RNG.random((K, N)) + 0.1
MODEL = WT.T @ H
BETAS = (2, 1.5, 1, 0.5, 0, 3)

HELD = {
    "mask": lambda: as_matrix(np.where(KNOWN, X, -7.0), mask=KNOWN),
    "nan": lambda: as_matrix(np.where(KNOWN, X, np.nan), missing="nan"),
    "mask and nan": lambda: as_matrix(np.where(KNOWN | (np.arange(M) > 5), X, np.nan), mask=KNOWN, missing="nan"),
    "Fortran": lambda: as_matrix(np.asfortranarray(np.where(KNOWN, X, np.nan)), missing="nan"),
    "zero": lambda: as_matrix(np.where(KNOWN, X, 0), missing="zero"),
    "CSR": lambda: as_matrix(sp.csr_array(np.where(KNOWN, X, 0)), missing="zero"),
    "CSC": lambda: as_matrix(sp.csc_array(np.where(KNOWN, X, 0)), missing="zero"),
    "CSR, mask": lambda: as_matrix(sp.csr_array(X), mask=KNOWN),
    "CSC, mask": lambda: as_matrix(sp.csc_array(X), mask=KNOWN),
}
every = pytest.mark.parametrize("how", HELD)


@pytest.fixture(autouse=True)
def several_blocks(monkeypatch):
    monkeypatch.setattr("partwise.data.dense.GRAIN", 4)
    monkeypatch.setattr("partwise.data.dense.BLOCK_BYTES", 1)


@every
def test_the_pair_is_that_of_the_completed_matrix(how):
    held, completed = HELD[how](), np.where(KNOWN, X, MODEL)
    eq = held.normal_eq(H, WT)
    np.testing.assert_allclose(eq.gram, H @ H.T, rtol=1e-12)
    np.testing.assert_allclose(eq.cross, H @ completed.T, rtol=1e-12)
    eq = held.T.normal_eq(WT, H)
    np.testing.assert_allclose(eq.gram, WT @ WT.T, rtol=1e-12)
    np.testing.assert_allclose(eq.cross, WT @ completed, rtol=1e-12)


@every
def test_the_gradient_is_that_of_the_observed_loss(how):
    held = HELD[how]()
    residual = np.where(KNOWN, MODEL - X, 0)
    np.testing.assert_allclose(held.normal_eq(H, WT).gradient(WT), H @ residual.T, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(held.T.normal_eq(WT, H).gradient(H), WT @ residual, rtol=1e-9, atol=1e-12)


@every
@pytest.mark.parametrize("beta", BETAS)
def test_the_loss_counts_what_was_observed(how, beta):
    held = HELD[how]()
    expected = np.where(KNOWN, divergences(np.where(KNOWN, X, 1), MODEL, beta), 0)
    np.testing.assert_allclose(held.row_divergences(WT, H, beta), expected.sum(axis=1), rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(held.T.row_divergences(H, WT, beta), expected.sum(axis=0), rtol=1e-10, atol=1e-12)
    assert held.divergence(WT, H, beta) == pytest.approx(expected.sum())
    if beta == 2:
        eq = held.T.normal_eq(WT, H)
        assert held.sq_error(WT, H, eq) == pytest.approx(
            2 * expected.sum()
        )  # the pair is of imputed data: of no use here


@every
@pytest.mark.parametrize("beta", BETAS)
def test_the_multiplicative_pair_sums_over_what_was_observed(how, beta):
    held = HELD[how]()
    above, below = KNOWN * X * MODEL ** (beta - 2), KNOWN * MODEL ** (beta - 1)
    if beta == 2:
        return  # has the normal pair
    eq = held.ratio_eq(H, WT, beta)
    np.testing.assert_allclose(eq.numerator, H @ above.T, rtol=1e-10)
    np.testing.assert_allclose(eq.denominator, H @ below.T, rtol=1e-10)
    eq = held.T.ratio_eq(WT, H, beta)
    np.testing.assert_allclose(eq.numerator, WT @ above, rtol=1e-10)
    np.testing.assert_allclose(eq.denominator, WT @ below, rtol=1e-10)


@every
def test_each_row_has_a_pair_of_its_own(how):
    for held, other, known, x in ((HELD[how](), H, KNOWN, X), (HELD[how]().T, WT, KNOWN.T, X.T)):
        pairs = list(held.row_pairs(other))
        assert len(pairs) == len(x)
        for i, eq in enumerate(pairs):
            seen = other[:, known[i]]
            np.testing.assert_allclose(eq.gram, seen @ seen.T, rtol=1e-12, atol=1e-14)
            np.testing.assert_allclose(eq.cross[:, 0], seen @ x[i, known[i]], rtol=1e-12, atol=1e-14)


@every
def test_sizes_and_sums_are_of_what_was_observed(how):
    held = HELD[how]()
    assert held.shape == held.T.shape[::-1] == (N, M)
    assert held.sq_norm() == pytest.approx(np.sum(X[KNOWN] ** 2))
    assert held.mean() == pytest.approx(X[KNOWN].mean())
    assert not held.traceable
    assert not held.has_zeros()
    np.testing.assert_allclose(held.times(H), H @ np.where(KNOWN, X, 0).T, rtol=1e-12)


@every
def test_blocks_and_rows_are_parts_of_it(how):
    held = HELD[how]()
    for rows, block in held.blocks():
        np.testing.assert_allclose(
            block.normal_eq(H, WT[:, rows]).cross, held.normal_eq(H, WT).cross[:, rows], rtol=1e-12
        )
    picked = np.array([5, 0, 20])
    np.testing.assert_allclose(held.rows(picked).row_sq_norms(), held.row_sq_norms()[picked], rtol=1e-12)


def test_observed_zeros_count_and_may_be_stored():
    array = X.copy()
    array[0, 0], known = 0, KNOWN.copy()
    known[0, 0] = True
    for held in (
        MaskedDense(array, known),
        as_matrix(sp.csr_array(array), mask=known),
        as_matrix(sp.csc_array(array), mask=known),
    ):
        assert held.has_zeros()
        assert held.total()[1] == known.sum()
        assert held.row_divergences(WT, H, 2)[0] == pytest.approx(0.5 * np.sum((array - MODEL)[0, known[0]] ** 2))


def test_sparse_cost_is_that_of_what_was_observed(monkeypatch):
    """Nothing of X's shape is made: 40,000 × 40,000 with 50,000 places known."""
    import tracemalloc

    rng = np.random.default_rng(0)
    n = 40_000
    rows, columns = rng.integers(0, n, (2, 50_000))
    stored = sp.csr_array((rng.random(50_000) + 0.1, (rows, columns)), shape=(n, n))
    Wt, H = rng.random((2, 4, n))
    for held in (MaskedSparse(Sparse(stored)), Sparse(stored)):
        for beta in (2, 1):
            tracemalloc.start()
            held.ratio_eq(H, Wt, beta)
            held.T.ratio_eq(Wt, H, beta)
            held.divergence(Wt, H, beta)
            held.sq_error(Wt, H, held.T.normal_eq(Wt, H))
            most = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
            assert most < 20e6
