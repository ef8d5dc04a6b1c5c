"""`FederatedNMF`: many matrices that may not be pooled, one H; scikit-learn's manners over `federate`."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, final

import numpy as np
from sklearn.utils.validation import check_is_fitted

from partwise.currency import Array, Arrays
from partwise.data import Entries
from partwise.drivers.rounds import RoundPoint
from partwise.errors import OptionError
from partwise.estimators.federate import Federation, federate
from partwise.estimators.parties import Parties, enter, in_order
from partwise.estimators.pooled import gap, pooled_error
from partwise.estimators.privacy_wishes import Privacy
from partwise.estimators.settings import Settings
from partwise.estimators.study_wishes import Wishes
from partwise.estimators.telling import tell
from partwise.estimators.transformer import NonnegativeTransformer, seed_from
from partwise.privacy.statement import page

TOL = 1e-5
EXACT = ("relative_error_", "reconstruction_err_", "rmsd_sum_")


@final
class FederatedNMF(NonnegativeTransformer):
    """Nonnegative matrix factorization between parties: X_p ≈ W_p H for each of them, with one H, and no X_p leaves its party.

    All parties are simulated in this process; what goes between them and the server is written down in `transcript_`.

    Parameters
    ----------
    n_components : how many components.
    method : "exact" (default: equals the pooled fit, the server needs sums alone), "syn-sd", "syn-ssd-u", "syn-ssd-v", "syn-ssd-uv",
        "asyn-sd", "asyn-ssd-v", "fedavg", "fedprox", "fnmf", "fedmavg", "sfmf", "ipalm-once", "mur-once".
    rounds : at most so many exchanges with the server. None: 30, or as many as the private method makes by itself.
    tol : stop when the error has fallen by less than this share of itself over five rounds; 0 means never. None: 1e-5, and 0 in a
        private study, whose rounds must not depend on the data.
    secure_sum : True rehearses the secure sum, in which the server learns the sum of what parties say and nothing else ("exact", "sfmf",
        "syn-sd", ...). The result is the same to the sum's step. "paillier", or "paillier:3072" for a longer key than 2,048 bits: the same
        sum, to the bit, under the additive encryption that SFMF's authors take, to compare with. It takes hours where the secure sum
        takes seconds, and the first party could read what all others say if the server showed it their messages.
    alignment, barycenter : of method "fnmf": "lap", "lap-rho", "sinkhorn", "sinkhorn-rho", "knn"; "fixed-point", "kmeans", "cmeans",
        "tree", "greedy". None: "lap" and "fixed-point".
    method_options : dict, the method's other options, such as {"local_steps": 20}.
    privacy : a mapping with epsilon and delta at least, as in `[privacy]` of a study.toml: then all that leaves the parties, over all
        rounds, is (ε, δ)-private. unit "record" or "party", neighbours "replace" or "add-remove", secure_sum (True: each party adds a share
        of the noise and the server learns one noisy sum; False: each adds all of it), dropouts, colluders, statistics ("moments",
        "residual", "plain", …, of method "exact"), clip (of updates, unit "party"), n_records, row_norm, density: docs/privacy.md. Methods
        "exact", "fedavg", "fedprox" and "fnmf".
    compare_pooled : also fit the pooled data, which only a simulation can, and tell the gap.
    random_state : int, RandomState or None.
    verbose : 1 writes a line each round.

    Attributes
    ----------
    components_ : (k, m), H.
    W_ : list of (n_p, k), each party's W, exact for H.
    personal_components_ : list of (k, m), each party's own version of H, where the alignment may leave components to a party ("lap-rho",
        "sinkhorn-rho"); else None. personal_W_ : the W for these.
    n_rounds_, history_ : rounds made, and a `RoundPoint` for each (t, error, drift, parties, bytes_up, bytes_down, seconds).
    relative_error_ : ‖X − WH‖ / ‖X‖ over all parties' data. reconstruction_err_ : ‖X − WH‖.
    rmsd_sum_ : Σ_p RMSD(X_p, W_p H).
    gap_to_pooled_ : relative error over that of the pooled fit, less one, if `compare_pooled`.
    ledger_, epsilon_spent_, statement_ : of a private study: what was released, total ε, and a page for a privacy officer. What would tell
        the exact error is not there then.
    bytes_up_, bytes_down_, transcript_, faults_, stopping_reason_ : what went, what went wrong, why it stopped.
    n_features_in_, feature_names_in_ : as everywhere in scikit-learn.

    Examples
    --------
    >>> import numpy as np
    >>> from partwise import FederatedNMF
    >>> rng = np.random.default_rng(0)
    >>> parts = rng.random((3, 20))
    >>> hospitals = [rng.random((n, 3)) @ parts for n in (30, 10, 50)]
    >>> model = FederatedNMF(n_components=3, rounds=20, random_state=0).fit(hospitals)
    >>> [W.shape for W in model.W_]
    [(30, 3), (10, 3), (50, 3)]
    """

    missing: Any = "error"

    def __init__(
        self,
        n_components: int = 10,
        *,
        method: str = "exact",
        rounds: int | None = None,
        tol: float | None = None,
        secure_sum: bool | str = False,
        alignment: str | None = None,
        barycenter: str | None = None,
        method_options: Mapping[str, Any] | None = None,
        privacy: Mapping[str, Any] | None = None,
        compare_pooled: bool = False,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.method = method
        self.rounds = rounds
        self.tol = tol
        self.secure_sum = secure_sum
        self.alignment = alignment
        self.barycenter = barycenter
        self.method_options = method_options
        self.privacy = privacy
        self.compare_pooled = compare_pooled
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None) -> FederatedNMF:
        """Learn H from the parties' matrices.

        X : list of (n_p, m), array-like, data frames or scipy sparse, nonnegative, one for each party. Features of data frames are
        matched by name. y : ignored.
        """
        wishes = self._wishes()
        parties = enter(X)
        found = federate(parties.Xs, wishes, observers=[self._say] if self.verbose else [])
        self._learn(found, parties)
        if self.compare_pooled:
            self.gap_to_pooled_ = gap(found.relative_error, pooled_error(parties.Xs, wishes.n_components, wishes.seed))
        return self

    def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> list[Array]:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Learn H and give every party's W."""
        return self.fit(X).W_

    def _enter_fitted(self, X: Any, mask: Any = None, sample_weight: Any = None) -> Entries:
        """As everywhere, but features are matched by name, as in `fit`."""
        check_is_fitted(self)
        return super()._enter_fitted(in_order(X, getattr(self, "feature_names_in_", None)), mask, sample_weight)

    def _learn(self, found: Federation, parties: Parties) -> None:
        """The fitted attributes."""
        self.components_ = found.H
        self.W_ = found.Ws
        self.personal_W_ = None if found.own is None else [W for W, _ in found.own]
        self.personal_components_ = None if found.own is None else [H for _, H in found.own]
        self.n_rounds_ = found.history[-1].t if found.history else 0
        self.history_ = found.history
        self._learn_errors(found)
        self.bytes_up_, self.bytes_down_ = found.bytes_up, found.bytes_down
        self.transcript_, self.faults_ = found.transcript, found.faults
        self.stopping_reason_ = found.reason
        self.n_features_in_ = found.H.shape[1]
        if parties.names is not None:
            self.feature_names_in_ = np.array(parties.names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_

    def _learn_errors(self, found: Federation) -> None:
        """What nobody may know in a private study; there, what was spent."""
        for name in (*EXACT, "ledger_", "epsilon_spent_"):
            vars(self).pop(name, None)
        if found.ledger is not None:
            self.ledger_, self.epsilon_spent_ = found.ledger, found.ledger.epsilon
            return
        self.relative_error_ = found.relative_error
        self.reconstruction_err_ = math.sqrt(sum(found.sq_errors))
        self.rmsd_sum_ = found.rmsd_sum

    @property
    def statement_(self) -> str:
        """What was promised and spent, on a page."""
        return page(self.ledger_)

    def __getattr__(self, name: str) -> Any:
        """Attributes that a private study does not have say why."""
        if name in EXACT and "ledger_" in vars(self):
            raise AttributeError(f"{name} would tell the exact error, which depends on every row and which no noise hides. Each party may "
                                 "compute its own from its data, and keep it to itself.")  # fmt: skip
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def _wishes(self) -> Wishes:
        chosen = {"alignment": self.alignment, "barycenter": self.barycenter}
        named = {name: value for name, value in chosen.items() if value is not None}
        if named and self.method != "fnmf":
            raise OptionError(
                f"{' and '.join(named)} are of method='fnmf'; method={self.method!r} has none: leave them None."
            )
        privacy = Privacy.of(self.privacy)
        if privacy is not None and self.compare_pooled:
            raise OptionError("compare_pooled=True would tell the exact error of a private study; leave it False.")
        tol = self.tol if self.tol is not None else (0.0 if privacy else TOL)
        return Wishes(
            self.n_components, self.method, self.rounds, tol, seed_from(self.random_state), self.secure_sum,
            options={**(self.method_options or {}), **named}, privacy=privacy,
        )  # fmt: skip

    def _say(self, public: Arrays, point: RoundPoint) -> None:
        drift = "" if math.isnan(point.drift) else f", drift {point.drift:.2g}"
        error = "" if math.isnan(point.error) else f"relative error {point.error:.4f}{drift}, "
        tell(f"Round {point.t}: {error}{point.bytes_up:,} bytes up, {point.seconds:.2f} s")

    def _settings(self) -> Settings:
        return Settings(n_components=self.n_components)

    def _transform_steps(self) -> int:
        return 1
