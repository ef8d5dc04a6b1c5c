"""Rows that count more than others: weight 3 is that row three times, weight 0 is not there."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from partwise.data import Weighted, as_matrix
from partwise.estimators.factorize import factorize

N, M, K = 11, 7, 3
RNG = np.random.default_rng(2)
X = RNG.uniform(0, 2, (N, M)) * (RNG.random((N, M)) < 0.7)
TIMES = RNG.integers(0, 4, N)
TIMES[:2] = 0, 3
H, WT = RNG.random((K, M)) + 0.1, RNG.random((K, N)) + 0.1
AGAIN = np.repeat(np.arange(N), TIMES)
HELD = {
    "dense": lambda A: as_matrix(A, sample_weight=None),
    "CSR": lambda A: as_matrix(sp.csr_array(A)),
    "CSC": lambda A: as_matrix(sp.csc_array(A)),
    "missing": lambda A: as_matrix(np.where(A > 0.5, A, np.nan), missing="nan"),
    "missing CSR": lambda A: as_matrix(sp.csr_array(A), missing="zero"),
}
every = pytest.mark.parametrize("how", HELD)


def weighted(how):
    return Weighted(HELD[how](X), TIMES.astype(float))


@every
@pytest.mark.parametrize("beta", [2, 1.5, 1, 0.5, 3])
def test_the_pair_of_h_sums_rows_as_often_as_they_count(how, beta):
    mine, repeated = weighted(how), HELD[how](X[AGAIN])
    for one, two in zip(mine.T.ratio_eq(WT, H, beta), repeated.T.ratio_eq(WT[:, AGAIN], H, beta), strict=True):
        np.testing.assert_allclose(*np.broadcast_arrays(one, two), rtol=1e-10)
    if beta == 2:
        for one, two in zip(mine.T.normal_eq(WT, H), repeated.T.normal_eq(WT[:, AGAIN], H), strict=True):
            np.testing.assert_allclose(one, two, rtol=1e-10)


@every
@pytest.mark.parametrize("beta", [2, 1, 0.5])
def test_the_pair_of_w_does_not_know_of_weights(how, beta):
    """Each row of W has its own problem, which its weight only scales."""
    mine, plain = weighted(how), HELD[how](X)
    for one, two in zip(mine.normal_eq(H, WT), plain.normal_eq(H, WT), strict=True):
        np.testing.assert_array_equal(one, two)
    for one, two in zip(mine.ratio_eq(H, WT, beta), plain.ratio_eq(H, WT, beta), strict=True):
        np.testing.assert_array_equal(one, two)


@every
@pytest.mark.parametrize("beta", [2, 1.5, 1])
def test_the_loss_counts_rows_as_often_as_they_count(how, beta):
    mine, repeated = weighted(how), HELD[how](X[AGAIN])
    expected = repeated.divergence(WT[:, AGAIN], H, beta)
    assert mine.divergence(WT, H, beta) == pytest.approx(expected)
    assert mine.T.divergence(H, WT, beta) == pytest.approx(expected)
    assert mine.sq_norm() == mine.T.sq_norm() == pytest.approx(repeated.sq_norm())
    if beta == 2:
        assert mine.sq_error(WT, H, mine.T.normal_eq(WT, H)) == pytest.approx(2 * expected)
        assert mine.T.sq_error(H, WT) == pytest.approx(2 * expected)


@every
def test_blocks_and_rows_keep_their_weights(how, monkeypatch):
    monkeypatch.setattr("partwise.data.dense.GRAIN", 4)
    monkeypatch.setattr("partwise.data.dense.BLOCK_BYTES", 1)
    mine = weighted(how)
    whole = mine.T.normal_eq(WT, H)
    parts = [block.T.normal_eq(WT[:, rows], H) for rows, block in mine.blocks()]
    np.testing.assert_allclose(sum(eq.gram for eq in parts), whole.gram, rtol=1e-12)
    np.testing.assert_allclose(sum(eq.cross for eq in parts), whole.cross, rtol=1e-12)
    picked = np.array([1, 5])
    np.testing.assert_allclose(mine.rows(picked).row_sq_norms(), mine.row_sq_norms()[picked])
    np.testing.assert_array_equal(mine.T.T.row_sq_norms(), mine.row_sq_norms())


def test_weights_of_the_call_come_on_top():
    mine, extra = weighted("dense").T, RNG.random(N)
    np.testing.assert_allclose(mine.normal_eq(WT, H, extra).gram, (WT * TIMES * extra) @ WT.T)
    np.testing.assert_allclose(mine.ratio_eq(WT, H, 1, extra).denominator[:, 0], (WT * TIMES * extra).sum(axis=1))


@pytest.mark.parametrize("solver", ["hals", "bpp", "mu"])
def test_a_row_of_weight_zero_changes_nothing_but_has_its_own_w(solver):
    start = {"init": "custom", "W": WT.T, "H": H, "solver": solver, "max_iter": 5, "tol": 0}
    other = X.copy()
    other[0] = 50
    one = factorize(X, K, sample_weight=TIMES, **start)
    two = factorize(other, K, sample_weight=TIMES, **start)
    np.testing.assert_allclose(one.H, two.H, rtol=1e-9)
    np.testing.assert_allclose(one.W[1:], two.W[1:], rtol=1e-6, atol=1e-9)
    assert two.W[0].sum() > one.W[0].sum()
    assert one.loss == pytest.approx(two.loss)
