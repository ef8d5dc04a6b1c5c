"""What `NMF` and `MiniBatchNMF` share once they are fitted: X is checked at one door, and W is solved for exactly."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from partwise.algorithms.single.exact import exact_W
from partwise.currency import Array
from partwise.data import Entries, as_matrix
from partwise.data.validate import CLIPPED
from partwise.errors import DataError, OptionError
from partwise.estimators.factorize import refuse_zeros
from partwise.estimators.settings import Settings
from partwise.protocols import Matrix


class NonnegativeTransformer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator, ABC):
    """A fitted H (k, m), `components_`, for which W is found."""

    missing: Any
    random_state: Any
    components_: Array
    n_features_in_: int

    @abstractmethod
    def _settings(self) -> Settings:
        """The estimator's parameters as `factorize` takes them."""

    @abstractmethod
    def _transform_steps(self) -> int:
        """At most so many updates find W where there is no exact solution."""

    def transform(self, X: Any, mask: Any = None) -> Array:
        """W (n, k) for new rows: the nonnegative least-squares solution, exactly, when the loss is Frobenius's.

        X is as in `fit`; `mask` (n, m), True where X was observed. For the rows of the fit the result is that of `fit_transform`.
        """
        return self._transformed(self._enter_fitted(X, mask)).T

    def score(self, X: Any, y: Any = None, *, mask: Any = None, sample_weight: Any = None) -> float:
        """How much of X the components explain, 1 at best: 1 − ‖X − WH‖² / ‖X‖², with W as `transform` finds it.

        For other losses 1 − D(X ‖ WH) / D(X ‖ mean of X). Only what was observed counts; rows count by their weight. Higher is better,
        so model selection may maximise it; a larger `n_components` never explains less, so choose that on other grounds.
        """
        X = self._enter_fitted(X, mask, sample_weight)
        beta = self._settings().beta
        lost = X.divergence(self._transformed(X), self.components_, beta)
        if beta == 2:
            all_there_is = 0.5 * X.sq_norm()
        else:
            n, m = X.shape
            all_there_is = X.divergence(np.full((1, n), X.mean(), X.dtype), np.ones((1, m), X.dtype), beta)
        return 1.0 - lost / all_there_is if all_there_is > 0 else float(lost <= 0)

    def inverse_transform(self, X: Any) -> Array:
        """W H (n, m) for a W (n, k)."""
        check_is_fitted(self)
        return X @ self.components_

    def _enter_fitted(self, X: Any, mask: Any = None, sample_weight: Any = None) -> Entries:
        """X at the door of a fitted estimator, in the precision of its components."""
        check_is_fitted(self)
        return self._enter(X, mask, sample_weight, reset=False, dtype=self.components_.dtype)

    def _enter(self, X: Any, mask: Any, sample_weight: Any, *, reset: bool, dtype: Any = None) -> Entries:
        """X checked, and its features compared with those of the fit (or remembered, when `reset`)."""
        try:
            entries = as_matrix(X, missing=self.missing, mask=mask, sample_weight=sample_weight, dtype=dtype)
        except DataError as error:
            error.args = (str(error).replace(CLIPPED, ""),)  # which is no wish of an estimator
            raise
        validate_data(self, X, skip_check_array=True, reset=reset)
        return entries

    def _transformed(self, X: Matrix) -> Array:
        """(k, n): W for the fitted components."""
        settings, H = self._settings(), self.components_
        refuse_zeros(X, settings.beta)
        return exact_W(X, H, settings.problem(X, len(H)), steps=self._transform_steps(), tol=settings.tol)

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = self.missing == "nan"
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def seed_from(random_state: Any) -> int:
    """The integer that keys all random numbers of a fit; None and a RandomState give a new one each time."""
    if isinstance(random_state, (int, np.integer)) and not isinstance(random_state, bool) and random_state >= 0:
        return int(random_state)
    try:
        return int(check_random_state(random_state).randint(2**31 - 1))
    except ValueError:
        raise OptionError(
            f"random_state={random_state!r}; expected a whole number ≥ 0, a numpy RandomState, or None."
        ) from None
