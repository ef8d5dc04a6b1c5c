"""The loop over batches of rows, epoch after epoch, and when it stops.

Batches are read in order, so that data on disk is read as it lies; only one batch is held at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import cycle
from typing import Any, NamedTuple, Protocol, final

import numpy as np

from partwise.currency import Array
from partwise.drivers.stopping import Reason
from partwise.protocols import Matrix


class Stepped(Protocol):
    """What a step on a batch gives."""

    Wt: Array
    H: Array
    past: Any
    cost: float


BatchStep = Callable[[Matrix, Array, Array, Any, float], Any]  # (X_b, Wt_b, H, past, share of all rows) → Stepped


class Progress(NamedTuple):
    """Where the run stands after a step. Costs are per row; the average leaves out the first, whose H had not moved yet."""

    step: int = 0
    epoch: int = 0  # begun
    epoch_ends: bool = False
    cost: float = float("nan")
    average: float = float("nan")  # exponentially weighted over about an epoch
    least: float = float("inf")  # that the average has been
    stale: int = 0  # steps since
    moved: float = float("inf")  # ‖H − H_before‖ / ‖H‖
    change: float = float(
        "inf"
    )  # the largest such move of the last epoch's batches: one batch may just have nothing to say

    def after(self, cost: float, moved: float, change: float, share: float, batches: int) -> Progress:
        """One step on."""
        step = self.step + 1
        here = Progress(step, -(-step // batches), step % batches == 0, cost)
        if step == 1:
            return here
        average = cost if step == 2 else self.average * (1 - share) + cost * share
        better = average < self.least
        return here._replace(
            average=average,
            least=min(average, self.least),
            stale=0 if better else self.stale + 1,
            moved=moved,
            change=change,
        )


BatchRule = Callable[[Progress], Reason | None]


class BatchOutcome(NamedTuple):
    """Where the run ended."""

    Wt: Array
    H: Array
    past: Any
    history: list[Progress]
    reason: Reason


def iterate_batches(
    step: BatchStep, X: Matrix, Wt: Array, H: Array, past: Any, batch_size: int, rules: Sequence[BatchRule],
    observers: Sequence[Callable[[Array, Progress], None]] = (),
) -> BatchOutcome:  # fmt: skip
    """Step through the batches until a rule gives its reason. Wt (k, n) and H (k, m) are the start and are not written to."""
    n, Wt, history = X.shape[0], Wt.copy(), [Progress()]
    batches = list(row_batches(n, batch_size))
    for rows in cycle(batches):
        share = (rows.stop - rows.start) / n
        moved = step(X.rows(rows), np.ascontiguousarray(Wt[:, rows]), H, past, share)
        distance = float(np.linalg.norm(moved.H - H) / max(np.linalg.norm(moved.H), np.finfo(H.dtype).tiny))
        before = history[1 - len(batches) :] if len(batches) > 1 else []
        change = max((distance, *(progress.moved for progress in before)))
        Wt[:, rows], H, past = moved.Wt, moved.H, moved.past
        history.append(history[-1].after(moved.cost / (rows.stop - rows.start), distance, change, share, len(batches)))
        for observe in observers:
            observe(H, history[-1])
        reason = next((reason for rule in rules if (reason := rule(history[-1])) is not None), None)
        if reason is not None:
            return BatchOutcome(Wt, H, past, history[1:], reason)
    raise AssertionError("batches repeat for ever")


def row_batches(n: int, size: int) -> Iterator[slice]:
    """Cut n rows into batches."""
    for start in range(0, n, size):
        yield slice(start, min(start + size, n))


@final
@dataclass(frozen=True)
class SmallChange:
    """Stop when no batch of a whole epoch has moved H by more than `tol` of its size."""

    tol: float

    def __call__(self, progress: Progress) -> Reason | None:
        if progress.change > self.tol:
            return None
        return Reason(
            f"The batches moved the components by {progress.change:.1e} of their size, at most tol = {self.tol:g}."
        )


@final
@dataclass(frozen=True)
class NoImprovement:
    """Stop when the averaged cost has not reached a new low for so many batches."""

    batches: int

    def __call__(self, progress: Progress) -> Reason | None:
        if progress.stale < self.batches:
            return None
        return Reason(f"The averaged cost has not improved for {self.batches} batches (max_no_improvement).")


@final
@dataclass(frozen=True)
class MaxEpochs:
    """Stop after so many passes over the data."""

    number: int

    def __call__(self, progress: Progress) -> Reason | None:
        if not progress.epoch_ends or progress.epoch < self.number:
            return None
        return Reason(f"Maximum number of iterations {self.number} reached.", converged=False)
