"""Gao & Chu: the methods of the DID paper, on one node and on sixteen, and its synthetic data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from partwise.compare.cluster import Cluster
from partwise.currency import Array
from partwise.randomness import Purpose, generator
from partwise.reproduce.experiment import Size

ALONE: Mapping[str, str] = {"HALS (= BCD)": "did", "ANLS": "hpc-anls-bpp", "ADMM": "dadmm"}  # on one rank
TOGETHER: Mapping[str, str] = {"HPC-ANLS": "hpc-anls-bpp", "DADMM": "dadmm", "DBCD": "dbcd", "DID": "did"}
BLOCKS = ("HALS (= BCD)", "DBCD", "DID")  # which have the same iterates
NODES = 16
AS_PRINTED: Mapping[str, Any] = {"acceleration": 1, "extrapolate": False}  # one sweep; the library's DID may make more
M, K = 5, 3  # features and rank of the paper's synthetic data
SYNTHETIC = "synthetic: a product of factors that are uniform in [0, 1], 5 features, rank 3"
# (iterations, seconds) of the paper's Table 2 for 10⁶ samples, in C with the GNU Scientific Library
PRINTED: Mapping[str, tuple[int, float]] = {
    "HALS (= BCD)": (396, 95.24), "ANLS": (238, 630.43), "ADMM": (115, 476.83), "HPC-ANLS": (238, 50.47), "DADMM": (115, 37.06),
    "DBCD": (396, 14.04), "DID": (396, 8.61),
}  # fmt: skip


def one(name: str) -> Cluster:
    """The method, on one node or on sixteen."""
    algorithm, ranks = (ALONE[name], 1) if name in ALONE else (TOGETHER[name], NODES)
    return Cluster(name, algorithm, ranks, AS_PRINTED if algorithm == "did" else {})


def synthetic(size: Size, full: int) -> Array:
    """(n, 5) of rank 3."""
    n = size.pick(80, 20_000, full)
    W, H = (generator(0, Purpose.SIMULATE, 20 + place).random(shape) for place, shape in enumerate([(n, K), (K, M)]))
    return W @ H
