"""Metrics, by hand."""

import numpy as np
import pytest

from partwise.consensus.align import Lap
from partwise.consensus.metrics import (
    aligned_drift,
    component_similarity,
    drift,
    orthogonality_gap,
    rmsd_sum,
    total_distance,
)


def test_deviations_and_distances():
    assert rmsd_sum([8.0, 50.0], [(1, 2), (2, 1)]) == pytest.approx(2 + 5)
    assert total_distance([9.0, 16.0]) == pytest.approx(7)


def test_permutations_have_no_orthogonality_gap():
    assert orthogonality_gap([np.eye(4), np.eye(4)[[2, 0, 1, 3]]]) == 0
    assert orthogonality_gap([np.eye(2), np.array([[1.0, 0.0], [1.0, 0.0]])]) == pytest.approx(np.sqrt(2) / 2)


def test_alignment_takes_away_the_drift_of_a_permutation_and_only_that():
    H = np.random.default_rng(0).random((5, 9))
    assert drift([H, H[::-1]], H) == pytest.approx(np.sum((H - H[::-1]) ** 2))
    assert aligned_drift([H, H[::-1]], H, Lap()) == 0
    assert aligned_drift([H + 1], H, Lap()) == pytest.approx(45)


def test_similarity_is_of_matched_components():
    H = np.eye(3, 6)
    np.testing.assert_allclose(component_similarity(H, 7 * H[::-1]), 1)
    np.testing.assert_allclose(component_similarity(H, np.roll(H, 1, axis=1)), [1, 1, 0])
    np.testing.assert_allclose(component_similarity(np.zeros((2, 4)), np.ones((2, 4))), 0)
