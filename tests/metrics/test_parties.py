"""What may be said of a study between parties, from arrays; the arithmetic is tested in tests/consensus."""

import numpy as np
import pytest

from partwise import FederatedNMF
from partwise.data.simulate_blocks import blocks
from partwise.errors import DataError, OptionError
from partwise.metrics import component_similarity, drift, orthogonality_gap, rmsd_sum, total_distance


def test_errors_are_those_of_the_study():
    X = blocks(60, 30, 3, seed=0).X
    Xs = [X[:20], X[20:25], X[25:]]
    fitted = FederatedNMF(3, rounds=5, random_state=0).fit(Xs)
    assert rmsd_sum(Xs, fitted.W_, fitted.components_) == pytest.approx(fitted.rmsd_sum_)
    lost = [np.linalg.norm(X - W @ fitted.components_) for X, W in zip(Xs, fitted.W_, strict=True)]
    assert total_distance(Xs, fitted.W_, fitted.components_) == pytest.approx(sum(lost))


def test_a_permutation_has_drifted_and_alignment_brings_it_back():
    H = np.random.default_rng(1).random((4, 9))
    assert drift([H, H[::-1]], H) == pytest.approx(np.sum((H - H[::-1]) ** 2))
    assert drift([H, H[::-1]], H, "lap") == pytest.approx(0)
    assert orthogonality_gap([H, H[::-1]], H) == 0
    assert orthogonality_gap([H, np.repeat(H[:1], 4, axis=0)], H, "knn") > 0
    np.testing.assert_allclose(component_similarity(H, 3 * H[::-1]), 1)


@pytest.mark.parametrize(
    ("asked", "kind", "match"),
    [
        (lambda: drift([np.ones((2, 3))], np.ones((2, 3)), "lapp"), OptionError, "expected one of: lap"),
        (lambda: drift([np.ones((2, 3))], np.ones((2, 4))), DataError, "shape"),
        (lambda: rmsd_sum([np.ones((5, 3))], [], np.ones((2, 3))), DataError, "1 X_p and 0 W_p"),
        (lambda: rmsd_sum([np.ones((5, 3))], [np.ones((4, 2))], np.ones((2, 3))), DataError, "Party 0 has X"),
        (lambda: component_similarity(np.ones((2, 3)), np.ones((2, 4))), DataError, "same number of features"),
    ],
)
def test_what_does_not_fit_is_a_sentence(asked, kind, match):
    with pytest.raises(kind, match=match):
        asked()
