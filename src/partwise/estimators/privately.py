"""`factorize_private`: from data and wishes to components that may be published. `PrivateNMF` and the command line both call it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, final

import numpy as np
import scipy.sparse as sp

from partwise.algorithms.private.methods import SPARSE, Choice, choose, method
from partwise.algorithms.private.query import Knowledge, PrivateMethod, Query, unit_rows
from partwise.algorithms.private.records import mean_sq_error, row_scales
from partwise.currency import Array
from partwise.data import Dense, Entries, Sparse, Streamed, as_matrix
from partwise.drivers.releases import Watch, released, run_releases
from partwise.errors import DataError, OptionError
from partwise.privacy.accountant import Budget, check_neighbours
from partwise.privacy.certified import SEEDLESS
from partwise.privacy.choosing import MECHANISMS
from partwise.privacy.ledger import NOTE, Ledger
from partwise.privacy.terms import Terms
from partwise.start import start

NOT_PRIVATE = (
    "not private: the start is NNDSVD of the data itself, which no ε covers; one record can move it by 40 % and more. "
    "What this run publishes is for comparison only, on data that need no protection."
)


@final
@dataclass(frozen=True)
class Wishes:
    """What may be wished of a private factorization; checked without looking at the data."""

    n_components: int = 10
    epsilon: float = 1.0
    delta: float = 1e-5
    unit: str = "record"
    neighbours: str = "replace"
    n_records: int | None = None
    row_norm: float | str = "unit"
    density: float | None = None
    method: str = "auto"
    options: Mapping[str, Any] = field(default_factory=dict)
    publish_error: float = 0.0
    seed: int = 0
    insecure_seed: int | None = None
    mechanism: str = "lattice"

    def __post_init__(self) -> None:
        if (
            isinstance(self.n_components, bool)
            or not isinstance(self.n_components, (int, np.integer))
            or self.n_components < 1
        ):
            raise OptionError(f"n_components={self.n_components!r}; expected a positive whole number: a private run does not "
                              "read it off the data.")  # fmt: skip
        if self.unit != "record":
            raise OptionError(f"unit={self.unit!r}: where one curator holds all rows, a unit is a 'record', one row. Whole parties are "
                              "protected by FederatedNMF.")  # fmt: skip
        check_neighbours(self.neighbours)
        if self.mechanism == "opendp" and self.insecure_seed is not None:
            raise OptionError(SEEDLESS)
        if self.mechanism not in MECHANISMS:
            raise OptionError(f"mechanism={self.mechanism!r} is not known; expected one of: {', '.join(MECHANISMS)}.")
        if self.row_norm != "unit" and not (
            isinstance(self.row_norm, (int, float)) and 0 < self.row_norm < float("inf")
        ):
            raise OptionError(f"row_norm={self.row_norm!r}: without a bound on its length one record could change the result "
                              "without limit. Give 'unit' (each row is brought to length one) or a public number (longer rows are "
                              "shortened to it).")  # fmt: skip
        if not 0 <= self.publish_error < 1:
            raise OptionError(f"publish_error={self.publish_error!r}; expected a share of the budget, from 0 (the error is not "
                              "published) to below 1.")  # fmt: skip
        if self.density is not None and not 0 < self.density <= 1:
            raise OptionError(
                f"density={self.density!r}; expected the share of entries that are not zero, as publicly known."
            )

    def count(self, X: Entries) -> int:
        """The public number of records. Where one record is replaced by another it is the same for all neighbours, so X may tell it."""
        n = X.shape[0]
        if n < 2:
            raise DataError(
                f"X has n_samples = {n}: what is published of one record alone cannot hide it. Expected two or more."
            )
        if self.neighbours == "replace":
            if self.n_records not in (None, n):
                raise OptionError(
                    f"n_records={self.n_records}, and X has {n} rows; with neighbours='replace' they must agree."
                )
            return n
        if self.n_records is None:
            raise OptionError("With neighbours='add-remove' how many records there are is itself private, and sums are divided "
                              "by it: give n_records (--records), a public number near it.")  # fmt: skip
        return int(self.n_records)

    def choice(self, X: Entries, known: Knowledge) -> Choice:
        """The method, and why."""
        if self.method != "auto":
            return Choice(self.method, "as asked")
        if self.density is not None:
            return choose(known, sparse=self.density < SPARSE, why=f"density={self.density:g}, as given")
        return choose(known, sparse=isinstance(X, Sparse), why="by the type of the container, not by its entries")


class Prepared(NamedTuple):
    """A private factorization that could begin."""

    method: PrivateMethod
    choice: Choice
    ledger: Ledger
    mu_of_error: float  # what the error may cost; 0: it is not published
    noise: str  # which mechanism


class PrivateFactorization(NamedTuple):
    """What may be published, and what was spent on it."""

    H: Array  # (k, m), rows of length one
    ledger: Ledger
    choice: Choice
    rounds: int
    leaks: bool  # whether something else than the releases shows: then no ε holds
    error: float | None  # √mean ‖x − wH‖² of rows scaled as they were, noisy; None where not paid for


def prepare_private(X: Entries, wishes: Wishes, ledger: Path | None = None) -> Prepared:
    """Check the terms, choose the method, open the ledger: nothing is released."""
    if not isinstance(X, (Dense, Sparse, Streamed)) or not X.traceable:
        raise DataError("X has missing entries or weights. Private methods need complete rows that count the same: fill in what is "
                        "missing by a rule that looks at one row only, such as 0.")  # fmt: skip
    n = wishes.count(X)
    budget = Budget(wishes.epsilon, wishes.delta)
    mu = budget.mu * (1 - 1e-9)  # a little less: sums of shares are rounded
    norm = None if wishes.row_norm == "unit" else float(wishes.row_norm)
    known = Knowledge(
        n, X.shape[1], int(wishes.n_components), mu * (1 - wishes.publish_error) ** 0.5,
        wishes.neighbours, norm, wishes.seed, wishes.delta,  # type: ignore[arg-type]
    )  # fmt: skip
    choice = wishes.choice(X, known)
    terms = Terms(
        wishes.delta,
        n,
        wishes.epsilon,
        wishes.unit,
        known.neighbours,
        method=choice.name,
        insecure_seed=wishes.insecure_seed,
    )
    options, leaks = _with_start(X, choice.name, known, wishes.options)
    chosen = method(choice.name, known, options)
    opened = Ledger(terms, ledger)
    for leak in leaks:
        opened.note(leak, private=False)
    return Prepared(chosen, choice, opened, mu * wishes.publish_error**0.5, wishes.mechanism)


def _with_start(
    X: Entries, name: str, known: Knowledge, options: Mapping[str, Any]
) -> tuple[dict[str, Any], list[str]]:
    """PPNMF's own start, for comparison only: made of the data without noise, and said so."""
    given = dict(options)
    if name != "ppnmf-as-published" or given.get("start") != "nndsvd":
        return given, []
    scaled = as_matrix(sp.diags_array(row_scales(X, known)) @ X.stored if isinstance(X, Sparse) else _scaled(X, known))
    _, H = start(scaled, known.k, "nndsvd", known.seed)
    given["start"] = unit_rows(H, np.full(known.m, known.m**-0.5))
    return given, [NOT_PRIVATE]


def _scaled(X: Any, known: Knowledge) -> Array:
    return np.concatenate([block.array * row_scales(block, known)[:, None] for _, block in X.blocks()])


def factorize_private(X: Entries, prepared: Prepared, watchers: Sequence[Watch] = ()) -> PrivateFactorization:
    """Ask, learn, publish."""
    chosen, choice, ledger, mu_of_error, noise = prepared
    public = run_releases(chosen, X, ledger, watchers, noise)
    H, error = chosen.components(public), None
    if mu_of_error:
        n = chosen.known.n
        query = Query("mean squared error", 1, 1.0 / n, 1.0, lambda X: np.array([mean_sq_error(X, chosen.known, H)]))
        noisy, _ = released(query, mu_of_error, X, ledger, chosen.rounds + 1, noise)
        error = float(max(noisy[0], 0.0)) ** 0.5
    leaks = any(entry["kind"] == NOTE and not entry["private"] for entry in ledger.entries)
    return PrivateFactorization(H, ledger, choice, chosen.rounds, leaks, error)
