"""What a user may wish of a factorization, checked once; and what follows from it for given data."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, final

import numpy as np

from partwise.algorithms.single.alternating import Penalty
from partwise.algorithms.single.methods import Problem
from partwise.currency import Array
from partwise.data import Weighted
from partwise.drivers.stopping import (
    DidRule,
    KktResidual,
    MaxIterations,
    MaxSeconds,
    RelativeChange,
    Rule,
    Standstill,
    TargetError,
)
from partwise.errors import DataError, OptionError
from partwise.protocols import Matrix

BETAS = {"frobenius": 2.0, "kullback-leibler": 1.0, "itakura-saito": 0.0}
NORMS = {"sum": 1, "length": 2}
WHOLE = (int, np.integer)
# wishes that may differ when a run goes on from a checkpoint: how long, and what is compared by its sum
LATER = ("tol", "max_iter", "max_seconds", "target_error", "did_epsilon", "fixed_components")


class Sized(Protocol):
    """Whatever tells the shape and the dtype of X (n, m)."""

    @property
    def shape(self) -> tuple[int, int]: ...

    @property
    def dtype(self) -> np.dtype[Any]: ...


@final
@dataclass(frozen=True)
class Settings:
    """Every wish but the data. scikit-learn's words keep scikit-learn's meaning."""

    n_components: int | str | None = "auto"
    solver: str = "auto"
    beta_loss: str | float = "frobenius"
    init: str | None = None
    tol: float = 1e-4
    max_iter: int = 200
    max_seconds: float | None = None
    target_error: float | None = None
    did_epsilon: float | None = None  # DID's stopping rule, ‖E_t‖² ≤ ε ‖E_0‖²
    alpha_W: float = 0.0
    alpha_H: float | str = "same"
    l1_ratio: float = 0.0
    fixed_components: Any = None  # (f, m): the first f components are these and stay
    rows_sum_to_one: bool = False
    normalize: str | None = None  # "sum" or "length": of the components, one at the end
    shuffle: bool = False  # coordinate descent in a new random order of components each iteration
    seed: int = 0
    options: Mapping[str, Any] = field(default_factory=dict)  # the solver's own

    def __post_init__(self) -> None:
        for name in ("tol", "alpha_W", "did_epsilon", "target_error", "max_seconds"):
            value = getattr(self, name)
            if value is not None and not _nonnegative(value):
                raise OptionError(f"{name}={value!r}; expected a number ≥ 0.")
        if self.alpha_H != "same" and not _nonnegative(self.alpha_H):
            raise OptionError(f"alpha_H={self.alpha_H!r}; expected a number ≥ 0 or 'same' (as alpha_W).")
        if not _nonnegative(self.l1_ratio) or self.l1_ratio > 1:
            raise OptionError(f"l1_ratio={self.l1_ratio!r}; expected a number from 0 (all ℓ₂) to 1 (all ℓ₁).")
        if not isinstance(self.max_iter, WHOLE) or self.max_iter < 1:
            raise OptionError(f"max_iter={self.max_iter!r}; expected a positive whole number.")
        if self.target_error is not None and self.beta != 2:
            raise OptionError(
                "target_error is a relative error, which only the Frobenius loss has; leave it out, or use tol."
            )
        if self.normalize not in (None, *NORMS):
            raise OptionError(f"normalize={self.normalize!r} is not known; expected None, 'sum' or 'length'.")
        if self.normalize and (self.fixed_components is not None or self.rows_sum_to_one):
            raise OptionError(
                "normalize rescales components and W: it cannot be had with fixed_components or rows_sum_to_one."
            )

    @property
    def beta(self) -> float:
        """β as a number."""
        if isinstance(self.beta_loss, str):
            if self.beta_loss not in BETAS:
                raise OptionError(
                    f"beta_loss={self.beta_loss!r} is not known; expected a number or one of {', '.join(BETAS)}."
                )
            return BETAS[self.beta_loss]
        if not isinstance(self.beta_loss, (int, float, np.number)) or not math.isfinite(self.beta_loss):
            raise OptionError(f"beta_loss={self.beta_loss!r}; expected a finite number or one of {', '.join(BETAS)}.")
        return float(self.beta_loss)

    def problem(self, X: Matrix, k: int) -> Problem:
        """What is to be solved for this X."""
        complete = X.traceable and not isinstance(X, Weighted)
        held, sparse = len(self.held(X)), X.nnz < X.shape[0] * X.shape[1]
        return Problem(
            X.shape, X.nnz, k, self.beta, self.penalty(X.shape), held, self.rows_sum_to_one, self.seed, complete, sparse
        )

    def penalty(self, shape: tuple[int, int]) -> Penalty:
        """scikit-learn's scaling: alpha_W times the features, alpha_H times the samples."""
        n, m = shape
        on_W = self.alpha_W * m
        on_H = (self.alpha_W if self.alpha_H == "same" else float(self.alpha_H)) * n
        l1, l2 = self.l1_ratio, 1 - self.l1_ratio
        return Penalty(on_W * l1, on_W * l2, on_H * l1, on_H * l2)

    def held(self, X: Sized) -> Array:
        """(f, m): the components that stay."""
        m = X.shape[1]
        if self.fixed_components is None:
            return np.empty((0, m), X.dtype)
        held = np.array(self.fixed_components, dtype=X.dtype, ndmin=2)
        if held.shape[1] != m:
            raise DataError(
                f"fixed_components has shape {held.shape}; expected one row for each component and {m} columns, as X has."
            )
        if not np.isfinite(held).all() or (held < 0).any():
            raise DataError("fixed_components has negative or non-finite entries; expected numbers ≥ 0.")
        return held

    def components(self, shape: tuple[int, int], H: Any = None) -> int:
        """k as a number: "auto" is what H has, or all features (scikit-learn's default)."""
        if self.n_components in ("auto", None):
            return len(H) if H is not None and self.n_components == "auto" else shape[1]
        k = self.n_components
        if isinstance(k, bool) or not isinstance(k, WHOLE) or k < 1:
            raise OptionError(f"n_components={k!r}; expected a positive whole number or 'auto'.")
        return int(k)

    def rules(self, window: int | None) -> tuple[Rule, ...]:
        """When to stop: what was reached first, then what was used up.

        `window` is of a method that measures no KKT residual: iterations over which the objective must stand still.
        """
        reached: list[Rule] = []
        if self.target_error is not None:
            reached.append(TargetError(self.target_error))
        if self.did_epsilon is not None:
            reached.append(DidRule(self.did_epsilon))
        if self.tol > 0:
            reached.append(KktResidual(self.tol) if window is None else RelativeChange(self.tol, window))
            reached.append(Standstill())
        if self.max_seconds is not None:
            reached.append(MaxSeconds(self.max_seconds))
        return (*reached, MaxIterations(self.max_iter))


def _nonnegative(value: Any) -> bool:
    return isinstance(value, (int, float, np.number)) and bool(0 <= value < float("inf"))
