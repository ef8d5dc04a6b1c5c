"""`NMF`: scikit-learn's estimator over `factorize`."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any, final

import numpy as np

from partwise.algorithms.single.methods import WINDOWS
from partwise.currency import Array, State
from partwise.drivers.trace import Trace
from partwise.estimators.callbacks import CallbackSupportMixin, Tasks, with_callbacks
from partwise.estimators.factorize import Factorization, prepare, run
from partwise.estimators.settings import Settings
from partwise.estimators.telling import Lines, warn_of_max_iter
from partwise.estimators.transformer import NonnegativeTransformer, seed_from

ZEROS_STAY = (
    "The multiplicative update ('mu') solver cannot update zeros present in the initialization, and so leads to poorer results when used "
    "jointly with init='nndsvd'. You may try init='nndsvda' or init='nndsvdar' instead."
)


@final
class NMF(CallbackSupportMixin, NonnegativeTransformer):
    """Nonnegative matrix factorization: W (n, k) and H (k, m), nonnegative, with X (n, m) ≈ W H.

    A drop-in for `sklearn.decomposition.NMF`: its parameters and attributes keep their names and meanings. The objective is

        ½ ‖X − WH‖²  (or the β-divergence of X and WH)
        + alpha_W · m · (l1_ratio ‖W‖₁ + ½ (1 − l1_ratio) ‖W‖²)  +  alpha_H · n · (l1_ratio ‖H‖₁ + ½ (1 − l1_ratio) ‖H‖²)

    Where only one factor is penalised, the components of the other are kept in the unit ball while fitting; otherwise the penalty
    would be escaped by making one factor small and the other large.

    Parameters
    ----------
    n_components : int, "auto" or None. "auto" is the number of rows of a given H, else, like None, the number of features.
    init : "random", "nndsvd", "nndsvda", "nndsvdar", "kmeans", "custom" (W and H are given to `fit`) or None ("nndsvda" if
        n_components allows it, else "random").
    solver : "auto" (default; `solver_` and `solver_reason_` tell what it took), "hals" (also called "cd"), "bpp", "mu", "pgd", "nesterov",
        "ipalm", "admm", ... "mu" is for all losses, the others are for the Frobenius loss.
    beta_loss : "frobenius", "kullback-leibler", "itakura-saito" or a number β.
    tol : a least-squares fit stops when its projected gradient has fallen to `tol` times the first one, others when √objective falls by
        less than `tol` of its first value in ten iterations; 0 means never.
    max_iter : at most so many iterations.
    random_state : int, RandomState or None. An int gives the same result each time, on any number of threads.
    alpha_W, alpha_H, l1_ratio : the penalties, see above; alpha_H="same" is alpha_W.
    verbose : 1 writes a line each ten iterations, 2 one each iteration.
    shuffle : visit the components in a new random order each iteration ("hals" only: the other solvers have no order).
    missing : "error"; "nan": NaN in X was not observed and does not count; "zero": zeros of X were not observed.
    fixed_components : (f, m), the first f components, which stay as they are.
    rows_sum_to_one : keep each row of W on the simplex, so that it reads as proportions.
    normalize : "sum" or "length": components whose sum or length is one, W taking up the scale. None leaves them.
    solver_options : dict, options of the solver's own, such as {"extrapolate": False} for "hals".

    Attributes
    ----------
    components_ : (k, m), H.
    n_components_ : k.
    reconstruction_err_ : ‖X − WH‖, or √(2 D) for a divergence D, over what was observed.
    n_iter_ : iterations made.
    loss_history_ : (n_iter_ + 1,), ½ ‖X − WH‖² or the divergence at the start and after each iteration; NaN where not measured.
    stopping_reason_ : a sentence.
    solver_, solver_reason_ : the solver used, and why.
    n_features_in_, feature_names_in_ : as everywhere in scikit-learn.

    Examples
    --------
    >>> import numpy as np
    >>> from partwise import NMF
    >>> X = np.array([[1, 1], [2, 1], [3, 1.2], [4, 1], [5, 0.8], [6, 1]])
    >>> model = NMF(n_components=2, init="random", random_state=0)
    >>> W = model.fit_transform(X)
    >>> H = model.components_
    """

    def __init__(
        self,
        n_components: int | str | None = "auto",
        *,
        init: str | None = None,
        solver: str = "auto",
        beta_loss: str | float = "frobenius",
        tol: float = 1e-4,
        max_iter: int = 200,
        random_state: Any = None,
        alpha_W: float = 0.0,
        alpha_H: float | str = "same",
        l1_ratio: float = 0.0,
        verbose: int = 0,
        shuffle: bool = False,
        missing: str = "error",
        fixed_components: Any = None,
        rows_sum_to_one: bool = False,
        normalize: str | None = None,
        solver_options: Mapping[str, Any] | None = None,
    ) -> None:
        self.n_components = n_components
        self.init = init
        self.solver = solver
        self.beta_loss = beta_loss
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.alpha_W = alpha_W
        self.alpha_H = alpha_H
        self.l1_ratio = l1_ratio
        self.verbose = verbose
        self.shuffle = shuffle
        self.missing = missing
        self.fixed_components = fixed_components
        self.rows_sum_to_one = rows_sum_to_one
        self.normalize = normalize
        self.solver_options = solver_options

    def fit(
        self, X: Any, y: Any = None, W: Any = None, H: Any = None, *, mask: Any = None, sample_weight: Any = None
    ) -> NMF:
        """Learn the components of X; the arguments are those of `fit_transform`."""
        self._fit(X, W, H, mask, sample_weight)
        return self

    def fit_transform(  # pyright: ignore[reportIncompatibleMethodOverride]  (scikit-learn leaves it open)
        self, X: Any, y: Any = None, W: Any = None, H: Any = None, *, mask: Any = None, sample_weight: Any = None
    ) -> Array:
        """Learn the components of X and give W (n, k).

        Parameters
        ----------
        X : (n, m), array-like, data frame, memory map or scipy sparse, nonnegative. float32 stays float32.
        y : ignored.
        W, H : (n, k) and (k, m), the start when init="custom".
        mask : (n, m) of bool, True where X was observed; elsewhere X is not looked at.
        sample_weight : (n,), how much each row counts; a row of weight 2 is that row twice.
        """
        return self._fit(X, W, H, mask, sample_weight)

    @with_callbacks
    def _fit(self, X: Any, W: Any, H: Any, mask: Any, sample_weight: Any) -> Array:
        settings = self._settings(seed_from(self.random_state))
        entries = self._enter(X, mask, sample_weight, reset=True)
        prepared = prepare(entries, settings, H if self.init == "custom" else None)
        if (prepared.choice.solver, self.init) == ("mu", "nndsvd"):
            warnings.warn(ZEROS_STAY, UserWarning, stacklevel=3)
        tasks = Tasks(self, self.max_iter, X, {"mask": mask, "sample_weight": sample_weight})

        def observe(state: State, trace: Trace) -> None:
            tasks.end_iteration(
                lambda: {
                    "components_": state.H.astype(entries.dtype, copy=False),
                    "n_components_": len(state.H),
                    "n_iter_": trace.last.t,
                }
            )

        observers = [observe, Lines(self.verbose)] if self.verbose else [observe]
        prepared = prepared._replace(method=tasks.announcing(prepared.method))
        found = run(prepared, W, H, rules=(tasks.asked_to_stop,), observers=observers)
        self._learn(found)
        tasks.end(lambda: {"components_": self.components_})
        return found.W

    def _learn(self, found: Factorization) -> None:
        """The fitted attributes."""
        self.components_ = found.H
        self.n_components_ = len(found.H)
        self.reconstruction_err_ = float(np.sqrt(2 * max(found.loss, 0.0)))
        self.n_iter_ = found.iterations
        self.loss_history_ = np.array([point.loss for point in found.trace.points])
        self.stopping_reason_ = found.reason.sentence
        self.solver_, self.solver_reason_ = found.choice
        if self.tol > 0 and not found.reason.converged:
            warn_of_max_iter(found.trace, self.tol, self.max_iter, by_residual=self.solver_ not in WINDOWS)

    def _settings(self, seed: int = 0) -> Settings:
        return Settings(
            n_components=self.n_components, solver=self.solver, beta_loss=self.beta_loss, init=self.init, tol=self.tol,
            max_iter=self.max_iter, alpha_W=self.alpha_W, alpha_H=self.alpha_H, l1_ratio=self.l1_ratio, shuffle=self.shuffle,
            fixed_components=self.fixed_components, rows_sum_to_one=self.rows_sum_to_one, normalize=self.normalize,
            seed=seed, options=dict(self.solver_options or {}),
        )  # fmt: skip

    def _transform_steps(self) -> int:
        return self.max_iter
