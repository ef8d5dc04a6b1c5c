"""Methods for a cluster on simulated ranks, as rows: what several papers' experiments store."""

from __future__ import annotations

from typing import Any

import numpy as np

from partwise.compare.clock import Limits, Stop, pinned
from partwise.compare.cluster import Cluster
from partwise.data import as_matrix
from partwise.reproduce.curves import laddered
from partwise.reproduce.experiment import Row
from partwise.start import start

SIMULATED = "ranks simulated in one process: seconds are each rank's processor time, and its messages by a network of 1 Gb/s and 50 µs"


def follow(
    one: Cluster, X: Any, k: int, seed: int, iterations: int, *, stop: Stop | None = None, init: str = "random"
) -> list[Row]:
    """Rows at a ladder of iterations; as long as is given, or until `stop` says so."""
    Wt, H = start(as_matrix(X), k, init, seed)
    with pinned(1):
        stands, _ = one.follow(X, np.ascontiguousarray(Wt.T), H, stop or Limits(1e9, iterations, settles=False), seed)
    kept = {point.t for point in laddered([stand.point for stand in stands])}
    return [
        {"t": point.t, "seconds": point.seconds, "talking": talking, "bytes": point.bytes, "error": point.error}
        for point, talking, *_ in stands
        if point.t in kept and point.t > 0
    ]
