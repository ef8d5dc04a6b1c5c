"""The one list of methods between parties. A new method enters here, by one line, and meets all the laws."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from partwise.algorithms.federated.methods import METHODS


@dataclass(frozen=True)
class Case:
    """A method, and what it claims."""

    name: str
    method: str
    options: Mapping[str, Any] = field(default_factory=dict)
    falls: bool = True  # the error falls over rounds on parties that share their parts
    sketched: bool = False  # sees a party's samples by sketches: the order of rows matters to their random numbers

    def __str__(self) -> str:
        return self.name


SHARE = {"sketch_size": 0.8}  # the problems are small
CASES = [
    Case("exact", "exact"),
    Case("exact plain", "exact", {"extrapolate": False, "sweeps": 1}),
    Case("syn-sd", "syn-sd"),
    Case("syn-ssd-u", "syn-ssd-u", SHARE, sketched=True),
    Case("syn-ssd-v", "syn-ssd-v", SHARE, sketched=True),
    Case("syn-ssd-uv", "syn-ssd-uv", SHARE, sketched=True),
    Case("asyn-sd", "asyn-sd"),
    Case("asyn-ssd-v", "asyn-ssd-v", SHARE, sketched=True),
    Case("modified-dsanls", "modified-dsanls", {"allowance": 1.0, "sketches": 1, **SHARE}, falls=False, sketched=True),
    Case("ipalm-once", "ipalm-once", {"local_steps": 30}, falls=False),
    Case("mur-once", "mur-once", {"local_steps": 30}, falls=False),
    Case("fedavg", "fedavg"),
    Case("fedprox", "fedprox"),
    Case("fedmavg", "fedmavg"),
    Case("fedmavg drawn", "fedmavg", {"participation": 2}),
    Case("sfmf", "sfmf"),
    Case("fnmf", "fnmf"),
    *(Case(f"fnmf {name}", "fnmf", {"alignment": name}) for name in ("lap-rho", "sinkhorn", "sinkhorn-rho", "knn")),
    *(Case(f"fnmf {name}", "fnmf", {"barycenter": name}) for name in ("kmeans", "cmeans", "tree", "greedy")),
]

assert {case.method for case in CASES} == set(METHODS), "every method meets the laws"
