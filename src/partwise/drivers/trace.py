"""What a run has been through: one point for each iteration."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import NamedTuple, final

from partwise.currency import State


class Point(NamedTuple):
    """Where the run stood after iteration t."""

    t: int
    loss: float  # ½‖X − WH‖², or the divergence; NaN where it was not measured
    penalty: float
    violation: float  # ‖projected gradient‖₁; NaN where it was not measured
    seconds: float  # since the start, over all parts of a resumed run

    @property
    def objective(self) -> float:
        """What the method makes small."""
        return self.loss + self.penalty


@final
@dataclass
class Trace:
    """The points of a run, the start (t = 0) among them, and the scale that makes errors relative."""

    scale: float  # ‖X‖² for least squares; 0: errors are not relative
    points: list[Point] = field(default_factory=list)

    def add(self, t: int, state: State, seconds: float) -> Point:
        """Write down where the run stands."""
        self.points.append(Point(t, state.loss, state.penalty, state.violation, seconds))
        return self.points[-1]

    @property
    def last(self) -> Point:
        """The newest point."""
        return self.points[-1]

    def measured(self) -> list[Point]:
        """The points whose loss is known."""
        return [point for point in self.points if not math.isnan(point.loss)]

    def relative_error(self, loss: float | None = None) -> float:
        """‖X − WH‖ / ‖X‖ of the newest measured loss (or the given one); 0 for an X of zeros."""
        if loss is None:
            loss = next((point.loss for point in reversed(self.points) if not math.isnan(point.loss)), math.nan)
        return math.sqrt(max(2 * loss, 0.0) / self.scale) if self.scale > 0 else 0.0


@dataclass(frozen=True)
class Traced:
    """What iterations led to: how many they were, and how long they took."""

    trace: Trace

    @property
    def iterations(self) -> int:
        """How many were made."""
        return self.trace.last.t

    @property
    def seconds(self) -> float:
        """How long they took, over all parts of a resumed run; on ranks by the clock of rank 0."""
        return self.trace.last.seconds
