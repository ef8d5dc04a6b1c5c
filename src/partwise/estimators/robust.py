"""`RobustNMF`: parts, and the entries that do not fit them."""

from __future__ import annotations

import math
from typing import Any, final

import numpy as np

from partwise.algorithms.single.robust import Robust, exact_robust_W
from partwise.currency import Array
from partwise.data import Entries
from partwise.data.outliers import largest, outliers
from partwise.drivers.iterate import begin, iterate
from partwise.drivers.stopping import MaxIterations, RelativeChange, Rule, Standstill
from partwise.errors import OptionError
from partwise.estimators.factorize import rescaled
from partwise.estimators.settings import Settings
from partwise.estimators.telling import Lines, warn_of_max_iter
from partwise.estimators.transformer import NonnegativeTransformer, seed_from
from partwise.protocols import Matrix, Update
from partwise.start import start
from partwise.updates import BallHals, Hals, Pgd
from partwise.updates.ball import ball

WINDOW = 10
SOLVERS = ("hals", "pgd")


@final
class RobustNMF(NonnegativeTransformer):
    """Nonnegative matrix factorization with outliers (Zhao & Tan 2017): X (n, m) ≈ W H + R, R sparse.

        min ½ ‖X − WH − R‖² + outlier_penalty · ‖R‖₁    with W, H ≥ 0, components of length ≤ 1, |R| ≤ outlier_bound

    An entry that differs from WH by less than the penalty is fitted as usual; what exceeds it goes to R, so that a few wild
    entries (dead pixels, slips of a sensor) cannot bend the parts. Without R this is NMF; see docs/robust.md.

    Parameters
    ----------
    n_components : int, or "auto" (the number of features).
    outlier_penalty : how far an entry may be from WH before it counts as an outlier, in the unit of X; "auto": max(X) / √m, the
        paper's choice.
    outlier_bound : the largest outlier, in the unit of X; "auto": max(X), the paper's; None: any.
    init : "random", "nndsvd", "nndsvda", "nndsvdar", "kmeans" or None, as for NMF. Outliers bend every start but the random one.
    solver : "hals" (fast) or "pgd" (the paper's projected gradient, one step each).
    tol : stop when √objective falls by less than this share of its first value in ten iterations; 0 means never.
    max_iter, random_state, verbose : as for NMF.

    Attributes
    ----------
    components_ : (k, m), H, each of length at most one.
    outliers_ : (n, m), csr_array, R for the rows of the fit.
    outlier_penalty_, outlier_bound_ : as used.
    objective_ : ½ ‖X − WH − R‖² + penalty · ‖R‖₁ at the end.
    reconstruction_err_ : ‖X − WH − R‖.
    n_iter_, stopping_reason_, n_features_in_, feature_names_in_ : as for NMF.

    Examples
    --------
    >>> import numpy as np
    >>> from partwise import RobustNMF
    >>> X = np.outer([1.0, 2, 3, 4], [1.0, 2, 1])
    >>> X[2, 0] = 40.0
    >>> model = RobustNMF(n_components=1, outlier_penalty=0.5, random_state=0).fit(X)
    >>> int(model.outliers_.nnz)
    1
    """

    missing = "error"

    def __init__(
        self,
        n_components: int | str = "auto",
        *,
        outlier_penalty: float | str = "auto",
        outlier_bound: float | str | None = "auto",
        init: str | None = "random",
        solver: str = "hals",
        tol: float = 1e-4,
        max_iter: int = 200,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.outlier_penalty = outlier_penalty
        self.outlier_bound = outlier_bound
        self.init = init
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None) -> RobustNMF:
        """Learn components and outliers of X (n, m), dense or sparse, nonnegative and complete."""
        self.fit_transform(X)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Array:  # pyright: ignore[reportIncompatibleMethodOverride]
        """The same, and W (n, k)."""
        entries = self._enter(X, None, None, reset=True)
        settings = self._settings()
        k = settings.components(entries.shape)
        self.outlier_penalty_, self.outlier_bound_ = self._levels(entries)
        H = self._learn(entries, k, settings)
        Wt = exact_robust_W(entries, H, self._find)
        R = self._find(entries, Wt, H)
        self.components_, self.n_components_, self.outliers_ = H, len(H), R.matrix
        self.reconstruction_err_ = math.sqrt(R.residual)
        self.objective_ = 0.5 * R.residual + self.outlier_penalty_ * R.absolute
        return Wt.T

    def _learn(self, X: Entries, k: int, settings: Settings) -> Array:
        """(k, m): H, and how it came about."""
        Wt, H = start(X, k, self.init, seed_from(self.random_state))
        H, Wt = rescaled(H, Wt, 2, 0)
        method = Robust(*self._updates(), self._find, self.outlier_penalty_)
        rules: tuple[Rule, ...] = (MaxIterations(self.max_iter),)
        if self.tol > 0:
            rules = (RelativeChange(self.tol, WINDOW), Standstill(), *rules)
        state, trace = begin(method, X, Wt, H, relative=False)
        ended = iterate(method, X, state, trace, rules, [Lines(self.verbose)] if self.verbose else [])
        self.n_iter_, self.stopping_reason_ = trace.last.t, ended.reason.sentence
        if self.tol > 0 and not ended.reason.converged:
            warn_of_max_iter(trace, self.tol, self.max_iter, by_residual=False)
        return ended.state.H

    def _updates(self) -> tuple[Update, Update]:
        if self.solver not in SOLVERS:
            raise OptionError(f"solver={self.solver!r} is not known; expected one of: {', '.join(SOLVERS)}.")
        return (Hals(2), BallHals()) if self.solver == "hals" else (Pgd(), Pgd(project=ball))

    def _levels(self, X: Entries) -> tuple[float, float]:
        """(λ, M) as numbers."""
        most = largest(X)
        penalty = most / math.sqrt(X.shape[1]) if self.outlier_penalty == "auto" else self.outlier_penalty
        bound = most if self.outlier_bound == "auto" else math.inf if self.outlier_bound is None else self.outlier_bound
        for name, value in (("outlier_penalty", penalty), ("outlier_bound", bound)):
            if isinstance(value, (bool, str)) or not isinstance(value, (int, float, np.number)) or not value >= 0:
                raise OptionError(f"{name}={value!r}; expected a number ≥ 0 or 'auto'.")
        return float(penalty), float(bound)

    def _find(self, X: Entries, Wt: Array, H: Array) -> Any:
        return outliers(X, Wt, H, self.outlier_penalty_, self.outlier_bound_)

    def _settings(self) -> Settings:
        return Settings(n_components=self.n_components, init=self.init, tol=self.tol, max_iter=self.max_iter)

    def _transform_steps(self) -> int:
        return self.max_iter

    def _transformed(self, X: Matrix) -> Array:
        return exact_robust_W(X, self.components_, self._find)
