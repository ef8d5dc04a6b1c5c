"""scikit-learn's callbacks (1.9 and later), kept at one door; before 1.9 estimators simply have no `set_callbacks`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, final

from partwise.currency import Array, State
from partwise.drivers.stopping import Reason
from partwise.protocols import Iteration, Matrix

try:
    from sklearn import callback as theirs
except ImportError:  # scikit-learn < 1.9
    theirs = None

CallbackSupportMixin: Any = type("NoCallbacks", (), {}) if theirs is None else theirs.CallbackSupportMixin
with_callbacks: Callable = (lambda method: method) if theirs is None else theirs.with_callbacks


@final
class Tasks:
    """Tells an estimator's callbacks when a fit and its iterations begin and end, and hears whether to stop.

    `fitted` gives the attributes of the estimator as if the fit had stopped here; it is called only if a callback asks.
    """

    def __init__(self, estimator: Any, max_iter: int, X: Any, metadata: Mapping[str, Any]) -> None:
        self.estimator = estimator
        self.given = {"X": X, "metadata": {name: value for name, value in metadata.items() if value is not None}}
        self.fit: Any = None
        self.iteration: Any = None
        self.stop = False
        if hasattr(estimator, "_init_callback_context"):
            self.fit = estimator._init_callback_context(max_subtasks=max_iter)
            self.fit.call_on_fit_task_begin(estimator=estimator, **self.given)

    @property
    def heard(self) -> bool:
        """Whether anybody listens; telling nobody costs nothing."""
        return self.fit is not None and hasattr(self.estimator, "_skl_callbacks")

    def announcing(self, method: Iteration) -> Iteration:
        """The method, telling when a step begins, if anybody listens."""
        return Announced(method, self) if self.heard else method

    def announcing_step(self, step: Callable) -> Callable:
        """The same for a step that is a function."""

        def announced(*arguments: Any) -> Any:
            self.begin_iteration()
            return step(*arguments)

        return announced if self.heard else step

    def begin_iteration(self) -> None:
        """An iteration is about to begin."""
        self.iteration = self.fit.subcontext(task_name="iteration")
        self.iteration.call_on_fit_task_begin(estimator=self.estimator, **self.given)

    def end_iteration(self, fitted: Callable[[], Mapping[str, Any]]) -> None:
        """An iteration is over."""
        if self.iteration is not None:
            self.stop |= self.iteration.call_on_fit_task_end(
                estimator=self.estimator, reconstruction_attributes=fitted, **self.given
            )
            self.iteration = None

    def end(self, fitted: Callable[[], Mapping[str, Any]]) -> None:
        """The fit is over."""
        if self.fit is not None:
            self.fit.call_on_fit_task_end(estimator=self.estimator, reconstruction_attributes=fitted, **self.given)

    def asked_to_stop(self, trace: Any) -> Reason | None:
        """The reason to stop, if a callback gave one: a rule for the loop."""
        return Reason("A callback asked to stop.") if self.stop else None


@final
@dataclass(frozen=True)
class Announced:
    """A method whose steps are announced before they are made (observers see them after)."""

    method: Iteration
    tasks: Tasks

    def init(self, X: Matrix, Wt: Array, H: Array) -> State:
        return self.method.init(X, Wt, H)

    def step(self, X: Matrix, state: State, t: int) -> State:
        self.tasks.begin_iteration()
        return self.method.step(X, state, t)
