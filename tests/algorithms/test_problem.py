"""What follows from a problem before any number of X is looked at."""

import numpy as np
import pytest
import scipy.sparse as sp

from partwise.algorithms.single.problem import Problem, sweeps_beside_pair
from partwise.data import as_matrix
from partwise.estimators.settings import Settings


@pytest.mark.parametrize(
    ("nnz", "sparse", "sweeps"),
    [
        (400_000, False, (4, 9)),  # W: 1 + (400,000 + 400 · 60) // (2 · 1,000 · 60)
        (4_000_000, False, (20, 20)),  # no more than 20
        (8_000, False, (1, 1)),
        (8_000, True, (1, 2)),  # an entry counts as 60 / 12: its products gather and scatter
        (80_000, True, (4, 9)),
    ],
)
def test_sweeps_are_as_many_as_are_cheap_beside_the_pair(nnz, sparse, sweeps):
    assert sweeps_beside_pair(Problem((1000, 400), nnz, 60, sparse=sparse)) == sweeps


def test_a_sparse_x_is_seen_to_be_sparse():
    X = np.eye(30)
    assert not Settings(4).problem(as_matrix(X), 4).sparse
    assert Settings(4).problem(as_matrix(sp.csr_array(X)), 4).sparse
