"""`PrivateNMF`: components that may be shown to anybody, whatever the rows were."""

from __future__ import annotations

import math
import secrets
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any, final

import numpy as np
from sklearn.utils.validation import check_is_fitted

from partwise.algorithms.private.query import Query
from partwise.currency import Array
from partwise.errors import OptionError
from partwise.estimators.privately import NOT_PRIVATE, Wishes, factorize_private, prepare_private
from partwise.estimators.settings import Settings
from partwise.estimators.telling import tell
from partwise.estimators.transformer import NonnegativeTransformer, seed_from
from partwise.privacy.ledger import Ledger
from partwise.privacy.statement import page

STARTS = (None, "random", "released")


@final
class PrivateNMF(NonnegativeTransformer):
    """Nonnegative matrix factorization whose components are (ε, δ)-differentially private.

    Whoever sees `components_`, and all other rows, can hardly tell what any one row was. Only `components_` is made to be
    published, and what `ledger_` says beside it; W tells about single rows: `fit_transform` and `transform` give it to you alone.

    Parameters
    ----------
    n_components : int; choose it from public knowledge.
    epsilon, delta : what may be spent in all by one `fit`. δ must be below 1/n.
    unit : "record", a row.
    neighbours : "replace" (one row becomes any other; n is public) or "add-remove" (a row is there or not; give `n_records`).
    n_records : the public number of rows that sums are divided by; only needed for "add-remove".
    row_norm : "unit": every row is brought to length one; a number: longer rows are shortened to it. It must be public.
    method : "moments" (five releases, then everything is free; of more than two thousand features it keeps those that stand out),
        "residual" and "plain" (iterative), "ppnmf", "ppnmf-as-published", or "auto", which looks at the number of features, and at
        `density` or, where that is not given, at the type of the container: never at entries.
    rounds, start_share : of the iterative methods: how many releases, and the share of the budget for the start. None: as documented.
    density : the share of nonzero entries, if that is public.
    publish_error : a share of the budget for `published_error_`; 0: the error is not published.
    method_options : dict, the method's own options.
    init, tol : only what does not depend on the data: None or "random", and 0.
    mechanism : "lattice" (Gaussian noise on a lattice); "opendp" (discrete Gaussian of OpenDP, verified by others; extra [opendp]; counted
        as zCDP, so it needs a little more); "laplace" (for ε alone; L1 sensitivities are √d times as large, so much more); "analytic"
        (Gaussian in floating point, whose low bits may tell; to compare with).
    random_state : names the public random numbers (starts, simulated rows); they need not be secret.
    insecure_seed : makes the noise repeatable, for tests: whoever knows it can subtract the noise. None in earnest.
    ledger : a path, where the ledger is kept, line by line, before anything is released; a fit whose terms are the same goes on with it and
        finds the budget spent. None: in memory.
    verbose : 1 tells of each release.

    Attributes
    ----------
    components_ : (k, m), H, rows of length one. May be published.
    epsilon_spent_ : total ε at `delta`; infinite for a start that leaks.
    statement_ : a page for a privacy officer.
    ledger_ : the `Ledger`: its `entries` say what was released.
    published_error_ : √mean ‖x − wH‖² over the rows as scaled, noisy; with `publish_error` only.
    method_, method_reason_, n_iter_, n_components_, n_features_in_, feature_names_in_.

    Examples
    --------
    >>> import numpy as np
    >>> from partwise import PrivateNMF
    >>> rng = np.random.default_rng(0)
    >>> X = rng.gamma(1, 1, (2000, 3)) @ rng.random((3, 12))
    >>> model = PrivateNMF(3, epsilon=1.0, delta=1e-5).fit(X)
    >>> model.components_.shape, round(model.epsilon_spent_, 6)
    ((3, 12), 1.0)
    """

    missing = "error"

    def __init__(
        self,
        n_components: int = 10,
        *,
        epsilon: float = 1.0,
        delta: float = 1e-5,
        unit: str = "record",
        neighbours: str = "replace",
        n_records: int | None = None,
        row_norm: float | str = "unit",
        method: str = "auto",
        rounds: int | None = None,
        start_share: float | None = None,
        density: float | None = None,
        publish_error: float = 0.0,
        method_options: Mapping[str, Any] | None = None,
        init: str | None = None,
        tol: float = 0.0,
        mechanism: str = "lattice",
        random_state: Any = None,
        insecure_seed: int | None = None,
        ledger: str | Path | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.epsilon = epsilon
        self.delta = delta
        self.unit = unit
        self.neighbours = neighbours
        self.n_records = n_records
        self.row_norm = row_norm
        self.method = method
        self.rounds = rounds
        self.start_share = start_share
        self.density = density
        self.publish_error = publish_error
        self.method_options = method_options
        self.init = init
        self.tol = tol
        self.mechanism = mechanism
        self.random_state = random_state
        self.insecure_seed = insecure_seed
        self.ledger = ledger
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None) -> PrivateNMF:
        """Spend the budget on components of X (n, m), nonnegative and complete."""
        wishes = self._wishes()
        entries = self._enter(X, None, None, reset=True, dtype=np.float64)
        prepared = prepare_private(entries, wishes, None if self.ledger is None else Path(self.ledger))
        found = factorize_private(entries, prepared, [_tell] if self.verbose else [])
        self.components_, self.n_components_ = found.H, len(found.H)
        self.ledger_, self.epsilon_spent_ = found.ledger, math.inf if found.leaks else found.ledger.epsilon
        if found.leaks:
            warnings.warn(f"These components are {NOT_PRIVATE}", UserWarning, stacklevel=2)
        self.method_, self.method_reason_ = found.choice
        self.n_iter_ = found.rounds
        self._error = found.error
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Array:  # pyright: ignore[reportIncompatibleMethodOverride]
        """The same, and W (n, k) of these rows, exact: yours, not to be published."""
        return self.fit(X).transform(X)

    @property
    def statement_(self) -> str:
        """What was promised and spent, on a page."""
        check_is_fitted(self)
        return page(self.ledger_)

    @property
    def published_error_(self) -> float:
        """√mean ‖x − wH‖², noisy, if it was paid for."""
        check_is_fitted(self)
        if self._error is None:
            raise AttributeError("The error of the fit depends on every row, so it is published only if the budget pays for it: "
                                 "PrivateNMF(publish_error=0.05).")  # fmt: skip
        return self._error

    @property
    def reconstruction_err_(self) -> float:
        """Not to be had: it is exact, and no noise hides a row in it."""
        raise AttributeError("reconstruction_err_ would tell the exact error, which depends on every row and which no noise hides. Pay "
                             "for a noisy one by publish_error=0.05 and read published_error_; or compute it yourself from "
                             "transform(X), and keep it to yourself.")  # fmt: skip

    def _wishes(self) -> Wishes:
        """What was asked for, after refusing what would look at the data for free."""
        if self.init not in STARTS:
            raise OptionError(f"init={self.init!r} would start from the data itself, which no noise hides: swapping a single row can move "
                              "such a start by 40 %. A private run starts at random or from a budgeted release: leave init=None "
                              "and give start_share.")  # fmt: skip
        if self.tol != 0:
            raise OptionError(f"tol={self.tol!r} would stop by an objective that depends on every row. A private run makes a number of "
                              "rounds that is settled beforehand: leave tol=0, and set rounds.")  # fmt: skip
        options = dict(self.method_options or {})
        options |= {name: value for name in ("rounds", "start_share") if (value := getattr(self, name)) is not None}
        return Wishes(
            self.n_components, self.epsilon, self.delta, self.unit, self.neighbours, self.n_records, self.row_norm, self.density,
            self.method, options, self.publish_error, self._seed(), self.insecure_seed, self.mechanism,
        )  # fmt: skip

    def _seed(self) -> int:
        return secrets.randbits(31) if self.random_state is None else seed_from(self.random_state)

    def _settings(self) -> Settings:
        return Settings(n_components=self.n_components)

    def _transform_steps(self) -> int:
        return 1

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64"]
        tags.non_deterministic = self.insecure_seed is None
        return tags


def _tell(t: int, query: Query, ledger: Ledger) -> None:
    """What was released and what is spent: public, unlike an objective."""
    tell(f"Release {t}: {query.what}, {query.entries} numbers; ε = {ledger.epsilon:.4g} spent")
