"""scikit-learn's callbacks, from 1.9 on."""

from __future__ import annotations

import io
from contextlib import redirect_stdout

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits

from partwise import NMF, MiniBatchNMF

callback = pytest.importorskip("sklearn.callback", reason="scikit-learn has callbacks from 1.9 on")

BOTH = pytest.mark.parametrize(
    "estimator", [NMF(4, random_state=0, tol=1e-2), MiniBatchNMF(4, random_state=0, tol=1e-2)], ids=["nmf", "minibatch"]
)


@pytest.fixture(scope="module")
def X():
    return load_digits().data[:300]


class Diary:
    """Writes down what it is told, and asks to stop after `stop_after` iterations."""

    def __init__(self, stop_after=10**9):
        self.told, self.stop_after, self.scores = [], stop_after, []

    def setup(self, estimator, context):
        self.told.append("setup")

    def teardown(self, estimator, context):
        self.told.append("teardown")

    def on_fit_task_begin(self, estimator, context):
        self.told.append(f"{context.task_name} {context.task_id} begins")

    def on_fit_task_end(self, estimator, context, *, X, fitted_estimator):
        self.told.append(f"{context.task_name} {context.task_id} ends")
        self.scores.append(fitted_estimator.score(X))
        return context.task_name == "iteration" and context.task_id + 1 >= self.stop_after


@BOTH
def test_callbacks_are_told_and_may_stop(estimator, X):
    diary = Diary(stop_after=3)
    model = clone(estimator).set_params(tol=0).set_callbacks(diary).fit(X)
    iterations = [line for t in range(3) for line in (f"iteration {t} begins", f"iteration {t} ends")]
    assert diary.told == ["setup", "fit 0 begins", *iterations, "fit 0 ends", "teardown"]
    assert model.stopping_reason_ == "A callback asked to stop."
    assert diary.scores[-1] == pytest.approx(model.score(X))
    assert diary.scores[0] <= diary.scores[-1]


@BOTH
def test_callbacks_are_torn_down_when_a_fit_fails(estimator):
    diary = Diary()
    with pytest.raises(ValueError):
        clone(estimator).set_params(init="nndsvd", n_components=9).set_callbacks(diary).fit(np.eye(3))
    assert diary.told in ([], ["setup", "fit 0 begins", "teardown"])


@BOTH
def test_the_progress_bar_of_scikit_learn(estimator, X):
    with redirect_stdout(io.StringIO()) as shown:
        clone(estimator).set_callbacks(callback.ProgressBar()).fit(X)
    assert type(estimator).__name__ in shown.getvalue()
