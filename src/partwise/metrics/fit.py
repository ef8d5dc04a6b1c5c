"""Fits of given components or factors, in the measures of the papers."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from partwise.algorithms.single.exact import exact_W
from partwise.algorithms.single.methods import Problem
from partwise.data import as_matrix
from partwise.errors import DataError, OptionError


def objective(components: Any, X: Any) -> float:
    """1/2n ‖X − WH‖² for the best W ≥ 0: what components H (k, m) are worth to X (n, m) (Saha & Imtiaz, (15))."""
    entries = as_matrix(X)
    H = np.ascontiguousarray(components, entries.dtype)
    if H.ndim != 2 or H.shape[1] != entries.shape[1]:
        raise DataError(
            f"The components have shape {H.shape} and X {entries.shape}; expected the same number of columns."
        )
    Wt = exact_W(entries, H, Problem(entries.shape, entries.nnz, len(H)))
    return entries.sq_error(Wt, H) / (2 * entries.shape[0])


def rmse(X: Any, W: Any, H: Any, *, over: str = "observed") -> float:
    """Root of the mean squared difference between what was observed of X (n, m) and W (n, k) H (k, m).

    Of a sparse X the stored nonzero entries were observed, of an array all that is not NaN.

    over : "observed", or "all": the same sum divided by all n m entries, of which unobserved ones count as met exactly. That is
        what Saha & Imtiaz print in Table 4; it is small wherever little was observed.
    """
    if over not in ("observed", "all"):
        raise OptionError(f"over={over!r} is not known; expected 'observed' or 'all'.")
    entries = as_matrix(X, missing="zero" if sp.issparse(X) else "nan")
    Wt, H = np.ascontiguousarray(np.asarray(W).T, entries.dtype), np.ascontiguousarray(H, entries.dtype)
    n, m = entries.shape
    if Wt.shape != (len(H), n) or H.shape[1] != m:
        raise DataError(
            f"W has shape {Wt.T.shape} and H {H.shape}; expected ({n}, k) and (k, {m}), as X has {n} rows and {m} columns."
        )
    _, observed = entries.total()
    if not observed:
        raise DataError("Nothing of X was observed, so no error can be told.")
    return float(np.sqrt(entries.sq_error(Wt, H) / (observed if over == "observed" else n * m)))
