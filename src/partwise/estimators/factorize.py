"""`factorize`: from data and wishes to factors, whole. The estimators and the command line both call it."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, final

import numpy as np

from partwise.algorithms.single.alternating import Penalty
from partwise.algorithms.single.auto import choose
from partwise.algorithms.single.methods import Problem, method
from partwise.currency import Array, State
from partwise.data import as_matrix
from partwise.drivers import checkpoint
from partwise.drivers.iterate import Observer, begin, iterate
from partwise.drivers.stopping import KktResidual, MaxIterations, Reason, RelativeChange, Rule
from partwise.drivers.trace import Trace
from partwise.errors import DataError, OptionError
from partwise.protocols import Iteration, Matrix
from partwise.start import start

BETAS = {"frobenius": 2.0, "kullback-leibler": 1.0, "itakura-saito": 0.0}


@final
@dataclass(frozen=True)
class Factorization:
    """X ≈ W H, and how it came about."""

    W: Array  # (n, k)
    H: Array  # (k, m)
    trace: Trace
    reason: Reason
    solver: str  # what solver="auto" picked, or what was asked
    why: str  # the sentence for that
    beta: float

    @property
    def relative_error(self) -> float:
        """‖X − WH‖ / ‖X‖ over what is observed (least squares only: NaN for other losses)."""
        return self.trace.relative_error() if self.beta == 2 else float("nan")

    @property
    def loss(self) -> float:
        """½‖X − WH‖², or the β-divergence."""
        return self.trace.measured()[-1].loss

    @property
    def iterations(self) -> int:
        """How many were made."""
        return self.trace.last.t

    @property
    def seconds(self) -> float:
        """How long they took, over all parts of a resumed run."""
        return self.trace.last.seconds
