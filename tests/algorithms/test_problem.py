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
        (400_000, False, (11, 20)),  # W: 1 + (400,000 + 400 · 20) // (2 · 1,000 · 20); H: no more than 20
        (8_000, False, (1, 2)),
        (8_000, True, (2, 5)),  # an entry counts as eight: its products gather and scatter
    ],
)
def test_sweeps_are_as_many_as_are_cheap_beside_the_pair(nnz, sparse, sweeps):
    assert sweeps_beside_pair(Problem((1000, 400), nnz, 20, sparse=sparse)) == sweeps


def test_a_sparse_x_is_seen_to_be_sparse():
    X = np.eye(30)
    assert not Settings(4).problem(as_matrix(X), 4).sparse
    assert Settings(4).problem(as_matrix(sp.csr_array(X)), 4).sparse
