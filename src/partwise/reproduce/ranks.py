"""Methods for a cluster on simulated ranks, as rows: what several papers' experiments store."""

from __future__ import annotations

from typing import Any

import numpy as np

from partwise.comm import Network
from partwise.compare.clock import Limits, Stop, pinned
from partwise.compare.cluster import ETHERNET, Cluster
from partwise.data import as_matrix
from partwise.reproduce.curves import laddered
from partwise.reproduce.experiment import Row
from partwise.start import start

SIMULATED = "ranks simulated in one process: seconds are each rank's processor time, and its messages by a network of 1 Gb/s and 50 µs"
INFINIBAND = Network()  # 100 Gb/s and 2 µs
FREE = Network(latency=0.0, bandwidth=float("inf"))
_warm: set[tuple[str, str, int, bool]] = set()


def follow(
    one: Cluster, X: Any, k: int, seed: int, iterations: int, *, stop: Stop | None = None, init: str = "random"
) -> list[Row]:
    """Rows at a ladder of iterations; as long as is given, or until `stop` says so."""
    Wt, H = start(as_matrix(X), k, init, seed)
    with pinned(1):
        _warm_up(one, X, k)
        stands, _ = one.follow(X, np.ascontiguousarray(Wt.T), H, stop or Limits(1e9, iterations, settles=False), seed)
    kept = {point.t for point in laddered([stand.point for stand in stands])}
    return [
        {"t": point.t, "seconds": point.seconds, "talking": talking, "messages": messages, "bytes": point.bytes, "error": point.error}
        for point, talking, messages, *_ in stands
        if point.t in kept and point.t > 0
    ]  # fmt: skip


def _warm_up(one: Cluster, X: Any, k: int) -> None:
    """Load and compile what is needed outside the clock, on some rows."""
    name = (one.algorithm, str(one.options), k, hasattr(X, "indptr"))
    if name not in _warm:
        some = X[: max(20 * one.ranks, 2 * k)]
        Wt, H = start(as_matrix(some), k, "random", 0)
        one.follow(some, np.ascontiguousarray(Wt.T), H, Limits(1e9, 1, settles=False), 0)
        _warm.add(name)


def over(row: Row, network: Network, more: float = 0.0) -> Row:
    """The row with the seconds that it would have taken if its messages, and `more` short ones, had gone over another network."""
    wire = (row["talking"] - row["messages"] * ETHERNET.latency) * ETHERNET.bandwidth
    talking = (row["messages"] + more) * network.latency + wire / network.bandwidth
    return {**row, "seconds": row["seconds"] - row["talking"] + talking, "talking": talking}
