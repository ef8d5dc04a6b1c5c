"""The fit to all parties' data in one place, which only a simulation can make: what federated methods are measured against."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from partwise.algorithms.federated.study import Study
from partwise.data import Dense, Entries, Sparse
from partwise.errors import OptionError
from partwise.estimators.factorize import factorize


def pooled_error(Xs: Sequence[Entries], k: int, seed: int, *, max_iter: int = 500) -> float:
    """The relative error of one machine's fit, from the start that the parties had in common, until it has converged."""
    start = Study(k, Xs[0].shape[1], 1, seed=seed, dtype=Xs[0].dtype).start()
    fit = factorize(together(Xs), k, init="custom", H=start, seed=seed, max_iter=max_iter)
    return fit.relative_error


def gap(error: float, pooled: float) -> float:
    """How much larger an error is than the pooled fit's, as a share of that."""
    return error / pooled - 1 if pooled > 0 else 0.0


def together(Xs: Sequence[Entries]) -> Any:
    """All rows in one matrix; sparse if any party's are."""
    held = [_entries(X) for X in Xs]
    if any(sp.issparse(part) for part in held):
        return sp.vstack([sp.csr_array(part) for part in held], format="csr")
    return np.concatenate(held)


def _entries(X: Entries) -> Any:
    if isinstance(X, Dense):
        return X.array
    if isinstance(X, Sparse):
        return X.stored.T if X.flipped else X.stored
    raise OptionError(f"The pooled fit needs data in memory, and a party's is held as {type(X).__name__}.")
