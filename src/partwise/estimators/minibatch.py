"""`MiniBatchNMF`: scikit-learn's estimator for data that come, or must be read, batch by batch."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, final

import numpy as np
import scipy.sparse as sp

from partwise.algorithms.single.exact import exact_W
from partwise.algorithms.single.methods import Problem
from partwise.algorithms.single.online import Online, Past
from partwise.currency import Array, State
from partwise.data import Entries
from partwise.drivers.batches import (
    BatchOutcome,
    BatchRule,
    MaxEpochs,
    NoImprovement,
    Progress,
    SmallChange,
    iterate_batches,
)  # fmt: skip
from partwise.errors import OptionError
from partwise.estimators.callbacks import CallbackSupportMixin, Tasks, with_callbacks
from partwise.estimators.factorize import finish, initial, prepare, refuse_zeros
from partwise.estimators.settings import Settings
from partwise.estimators.telling import tell, warn_of_max_epochs
from partwise.estimators.transformer import NonnegativeTransformer, seed_from


@final
class MiniBatchNMF(CallbackSupportMixin, NonnegativeTransformer):
    """Nonnegative matrix factorization by batches of rows: each batch finds its W, and H follows from sums over all batches so far.

    A drop-in for `sklearn.decomposition.MiniBatchNMF`. X may be larger than memory (a memory map, or anything that gives blocks of
    rows): one batch is held at a time. For the Frobenius loss each step is coordinate descent on accumulated normal equations; for
    other losses the accumulated multiplicative update of scikit-learn.

    Parameters
    ----------
    n_components, init, beta_loss, random_state, alpha_W, alpha_H, l1_ratio : as for `NMF`.
    batch_size : rows in a batch.
    tol : stop when no batch of a whole pass has moved H by more than this part of its size; 0: never.
    max_no_improvement : stop when the averaged cost has reached no new low for so many batches; None: never.
    max_iter : at most so many passes over the data.
    forget_factor : what the past counts after one pass over the data; less forgets sooner. In `partial_fit`, after one call.
    fresh_restarts : find W of a batch from scratch in each step (exactly for the Frobenius loss), instead of going on from the last pass.
    fresh_restarts_max_iter : at most so many updates for that; for other losses than Frobenius.
    transform_max_iter : the same in `transform`; None: max_iter.
    verbose : 1 writes a line each pass, 2 one each batch.
    missing : "error"; "nan": NaN in X was not observed and does not count; "zero": zeros of X were not observed.

    Attributes
    ----------
    components_ : (k, m), H.
    n_components_ : k.
    reconstruction_err_ : ‖X − WH‖, or √(2 D) for a divergence D, over what was observed (not after `partial_fit`, which has not seen all).
    n_iter_, n_steps_ : passes begun, and batches learned from.
    loss_history_ : (n_steps_,), the cost of each batch per row, with the H it met.
    stopping_reason_ : a sentence.
    n_features_in_, feature_names_in_ : as everywhere in scikit-learn.

    Examples
    --------
    >>> import numpy as np
    >>> from partwise import MiniBatchNMF
    >>> X = np.array([[1, 1], [2, 1], [3, 1.2], [4, 1], [5, 0.8], [6, 1]])
    >>> model = MiniBatchNMF(n_components=2, init="random", random_state=0)
    >>> W = model.fit_transform(X)
    >>> H = model.components_
    """

    def __init__(
        self,
        n_components: int | str | None = "auto",
        *,
        init: str | None = None,
        batch_size: int = 1024,
        beta_loss: str | float = "frobenius",
        tol: float = 1e-4,
        max_no_improvement: int | None = 10,
        max_iter: int = 200,
        alpha_W: float = 0.0,
        alpha_H: float | str = "same",
        l1_ratio: float = 0.0,
        forget_factor: float = 0.7,
        fresh_restarts: bool = False,
        fresh_restarts_max_iter: int = 30,
        transform_max_iter: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        missing: str = "error",
    ) -> None:
        self.n_components = n_components
        self.init = init
        self.batch_size = batch_size
        self.beta_loss = beta_loss
        self.tol = tol
        self.max_no_improvement = max_no_improvement
        self.max_iter = max_iter
        self.alpha_W = alpha_W
        self.alpha_H = alpha_H
        self.l1_ratio = l1_ratio
        self.forget_factor = forget_factor
        self.fresh_restarts = fresh_restarts
        self.fresh_restarts_max_iter = fresh_restarts_max_iter
        self.transform_max_iter = transform_max_iter
        self.random_state = random_state
        self.verbose = verbose
        self.missing = missing

    def fit(
        self, X: Any, y: Any = None, W: Any = None, H: Any = None, *, mask: Any = None, sample_weight: Any = None
    ) -> MiniBatchNMF:
        """Learn the components of X; the arguments are those of `fit_transform`."""
        self._fit(X, W, H, mask, sample_weight)
        return self

    def fit_transform(  # pyright: ignore[reportIncompatibleMethodOverride]  (scikit-learn leaves it open)
        self, X: Any, y: Any = None, W: Any = None, H: Any = None, *, mask: Any = None, sample_weight: Any = None
    ) -> Array:
        """Learn the components of X and give W (n, k).

        Parameters
        ----------
        X : (n, m), array-like, data frame, memory map, scipy sparse, or anything that gives blocks of rows, nonnegative.
        y : ignored.
        W, H : (n, k) and (k, m), the start when init="custom".
        mask : (n, m) of bool, True where X was observed; elsewhere X is not looked at.
        sample_weight : (n,), how much each row counts; a row of weight 2 is that row twice.
        """
        return self._fit(X, W, H, mask, sample_weight)

    def partial_fit(
        self, X: Any, y: Any = None, W: Any = None, H: Any = None, *, mask: Any = None, sample_weight: Any = None
    ) -> MiniBatchNMF:
        """Learn from one batch of a stream; the arguments are those of `fit_transform`, W and H for the first call only."""
        first = not hasattr(self, "components_")
        dtype = None if first else self.components_.dtype
        entries = self._enter(X, mask, sample_weight, reset=first, dtype=dtype)
        if first:
            prepared = prepare(
                entries, self._settings(seed_from(self.random_state)), H if self.init == "custom" else None
            )
            _, self.components_ = initial(prepared, W, H)
            self._past: Past | None = None
            self.n_steps_ = 0
        settings = self._settings()
        problem = settings.problem(entries, len(self.components_))
        refuse_zeros(entries, problem.beta)
        online = self._online(settings, problem, entries.shape[0])
        past = online.begin(self.components_) if self._past is None else self._past
        moved = online.step(entries, None, self.components_, past, 1.0)
        self.components_, self._past = moved.H, moved.past
        self.n_components_ = len(self.components_)
        self.n_steps_ += 1
        return self

    @with_callbacks
    def _fit(self, X: Any, W: Any, H: Any, mask: Any, sample_weight: Any) -> Array:
        settings = self._settings(seed_from(self.random_state))
        rows_first = X.tocsr() if sp.issparse(X) else X  # batches are cut out by rows
        entries = self._enter(rows_first, mask, sample_weight, reset=True)
        prepared = prepare(entries, settings, H if self.init == "custom" else None)
        online = self._online(settings, prepared.problem, self.batch_size)
        batches = -(-entries.shape[0] // self.batch_size)
        tasks = Tasks(self, self.max_iter * batches, X, {"mask": mask, "sample_weight": sample_weight})
        Wt, H = initial(prepared, W, H)
        found = iterate_batches(
            tasks.announcing_step(online.step), entries, Wt, H, online.begin(H), self.batch_size,
            (tasks.asked_to_stop, *self._rules()), self._observers(tasks),
        )  # fmt: skip
        Wt = self._learn(entries, prepared.problem, settings, found)
        tasks.end(lambda: {"components_": self.components_})
        return Wt.T

    def _learn(self, X: Entries, problem: Problem, settings: Settings, found: BatchOutcome) -> Array:
        """The fitted attributes, and W (k, n) for the final H."""
        if problem.beta == 2 or not self.fresh_restarts:
            Wt, H = finish(X, State(found.Wt, found.H), settings, problem)
        else:
            Wt, H = exact_W(X, found.H, problem, steps=self._transform_steps(), tol=self.tol), found.H
        self.components_, self._past = H, found.past
        self.n_components_ = len(H)
        self.reconstruction_err_ = float(np.sqrt(2 * max(X.divergence(Wt, H, problem.beta), 0.0)))
        self.n_iter_, self.n_steps_ = found.history[-1].epoch, found.history[-1].step
        self.loss_history_ = np.array([progress.cost for progress in found.history])
        self.stopping_reason_ = found.reason.sentence
        if self.tol > 0 and not found.reason.converged:
            warn_of_max_epochs(found.history[-1], self.tol, self.max_iter)
        return Wt

    def _rules(self) -> list[BatchRule]:
        """When to stop."""
        rules: list[BatchRule] = [SmallChange(self.tol)] if self.tol > 0 else []
        if self.max_no_improvement is not None:
            rules.append(NoImprovement(self.max_no_improvement))
        return [*rules, MaxEpochs(self.max_iter)]

    def _observers(self, tasks: Tasks) -> list[Callable[[Array, Progress], None]]:
        """Who is shown each step."""

        def report(H: Array, progress: Progress) -> None:
            tasks.end_iteration(lambda: {"components_": H, "n_components_": len(H), "n_steps_": progress.step})

        def write(H: Array, progress: Progress) -> None:
            if self.verbose > 1 or progress.epoch_ends:
                tell(
                    f"Pass {progress.epoch}, batch {progress.step}: cost {progress.cost:.6g} a row, averaged {progress.average:.6g}"
                )

        return [report, write] if self.verbose else [report]

    def _online(self, settings: Settings, problem: Problem, batch_size: int) -> Online:
        """The step on a batch of so many rows, for a problem of any number of rows."""
        n, m = problem.shape
        rows = min(batch_size, n)
        batch = replace(problem, shape=(rows, m), nnz=problem.nnz * rows // n, penalty=settings.penalty((1, m)))
        return Online(batch, self.forget_factor, self.fresh_restarts, self.fresh_restarts_max_iter, self.tol)

    def _settings(self, seed: int = 0) -> Settings:
        self._check_counts()
        return Settings(
            n_components=self.n_components, beta_loss=self.beta_loss, init=self.init, tol=self.tol, max_iter=self.max_iter,
            alpha_W=self.alpha_W, alpha_H=self.alpha_H, l1_ratio=self.l1_ratio, seed=seed,
        )  # fmt: skip

    def _check_counts(self) -> None:
        """The parameters that `Settings` does not know."""
        for name in ("batch_size", "max_no_improvement", "fresh_restarts_max_iter", "transform_max_iter"):
            value, may_be_none = getattr(self, name), name in ("max_no_improvement", "transform_max_iter")
            if not (value is None and may_be_none) and not (isinstance(value, (int, np.integer)) and value >= 1):
                raise OptionError(
                    f"{name}={value!r}; expected a positive whole number{' or None' if may_be_none else ''}."
                )
        if not (isinstance(self.forget_factor, (int, float)) and 0 <= self.forget_factor <= 1):
            raise OptionError(f"forget_factor={self.forget_factor!r}; expected a number from 0 to 1.")

    def _transform_steps(self) -> int:
        return self.max_iter if self.transform_max_iter is None else self.transform_max_iter
