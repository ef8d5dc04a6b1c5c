"""scikit-learn's own checks of an estimator, every one of them."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from partwise import NMF, MiniBatchNMF, PrivateNMF, RobustNMF

LOCAL = (
    "a weighted fit and a fit of repeated rows minimise the same function, but begin elsewhere (the start does not look at weights), so "
    "they end in other local minima; from the same start they agree: test_nmf.py::test_a_row_of_weight_two_is_that_row_twice"
)
EXPECTED = {
    "check_sample_weight_equivalence_on_dense_data": LOCAL,
    "check_sample_weight_equivalence_on_sparse_data": LOCAL,
}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # some checks allow a few iterations only
@parametrize_with_checks(
    [
        NMF(),
        MiniBatchNMF(),
        RobustNMF(),
        PrivateNMF(3, insecure_seed=0),
    ],  # seeded: else the checks that compare two fits are skipped
    expected_failed_checks=lambda estimator: EXPECTED,
)
def test_every_check_of_scikit_learn(estimator, check, monkeypatch):
    monkeypatch.setenv("SCIPY_ARRAY_API", "1")  # else the check of another library's arrays is skipped
    check(estimator)
