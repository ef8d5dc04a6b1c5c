"""Our estimators inside scikit-learn's machinery, and the package's front door."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

import partwise
from partwise import NMF, MiniBatchNMF

BOTH = pytest.mark.parametrize(
    "estimator", [NMF(4, random_state=0, tol=1e-2), MiniBatchNMF(4, random_state=0, tol=1e-2)], ids=["nmf", "minibatch"]
)


@pytest.fixture(scope="module")
def digits():
    data = load_digits()
    return data.data[:300], data.target[:300]


@BOTH
def test_pipeline_and_cross_validation(estimator, digits):
    X, y = digits
    pipeline = make_pipeline(
        MinMaxScaler(clip=True), clone(estimator).set_params(n_components=12), LogisticRegression(max_iter=2000)
    )
    assert cross_val_score(pipeline, X, y, cv=3).mean() > 0.5  # chance: 0.1
    names = pipeline[:-1].fit(X).get_feature_names_out()
    assert names[0] == type(estimator).__name__.lower() + "0"


@BOTH
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_grid_search_maximises_the_score(estimator, digits, n_jobs):
    search = GridSearchCV(
        estimator, {"n_components": [1, 3, np.int64(6)], "alpha_W": np.array([0.0, 1e-2])}, cv=3, n_jobs=n_jobs
    )
    search.fit(digits[0])
    assert search.best_params_["n_components"] == 6
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()


@BOTH
def test_columns_of_a_data_frame(estimator, digits):
    frame = pd.DataFrame(digits[0], columns=[f"pixel {j}" for j in range(64)])
    left, right = list(frame.columns[:32]), list(frame.columns[32:])
    both = ColumnTransformer([("left", clone(estimator), left), ("right", clone(estimator), right)]).set_output(
        transform="pandas"
    )
    out = both.fit_transform(frame)
    assert out.shape == (300, 8)
    assert list(both.named_transformers_["right"].feature_names_in_) == right
    with pytest.raises(ValueError, match="feature names"):
        clone(estimator).fit(frame).transform(frame[frame.columns[::-1]])


@BOTH
@pytest.mark.parametrize(("library", "kind"), [("pandas", pd.DataFrame), ("polars", pl.DataFrame)])
def test_set_output(estimator, digits, library, kind):
    model = clone(estimator).set_output(transform=library)
    W, again = model.fit_transform(digits[0]), model.transform(digits[0])
    assert isinstance(W, kind)
    assert isinstance(again, kind)
    assert list(W.columns) == list(model.get_feature_names_out())
    np.testing.assert_allclose(again.to_numpy(), W.to_numpy(), atol=1e-8)


@BOTH
def test_weights_reach_the_estimator_through_a_pipeline(estimator, digits):
    X, _ = digits
    weights = np.linspace(0, 3, len(X))
    with sklearn.config_context(enable_metadata_routing=True):
        asked = clone(estimator).set_fit_request(sample_weight=True, mask=False)
        routed = make_pipeline(asked).fit(X, sample_weight=weights)[-1]
    alone = clone(estimator).fit(X, sample_weight=weights)
    assert np.array_equal(routed.components_, alone.components_)
    assert not np.array_equal(routed.components_, clone(estimator).fit(X).components_)


# --- the front door


def test_importing_partwise_alone_is_light():
    code = "import sys, partwise; print(sorted({'sklearn', 'numba', 'numpy', 'scipy'} & set(sys.modules)))"
    assert (
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == "[]"
    )


def test_what_partwise_offers():
    assert set(partwise.__all__) <= set(dir(partwise))
    assert partwise.factorize(np.eye(3), 2, init="random").H.shape == (2, 3)
    with pytest.raises(AttributeError, match="no attribute 'PCA'"):
        _ = partwise.PCA
