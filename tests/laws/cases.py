"""The one list. A new method enters here, by one line, and meets all the laws."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from partwise.algorithms.single.methods import Problem, method
from partwise.data import as_matrix
from partwise.drivers.iterate import Outcome, begin, iterate
from partwise.drivers.stopping import MaxIterations


@dataclass(frozen=True)
class Case:
    """A method, and what it claims."""

    name: str
    solver: str
    options: Mapping[str, Any] = field(default_factory=dict)
    beta: float = 2.0
    descends: bool = True  # the objective never rises
    stationary: int | None = None  # iterations after which the KKT residual is small on the little problem, if ever
    wishes: Mapping[str, Any] = field(default_factory=dict)  # penalties, fixed components, ... of the Problem
    exact: bool = False  # an iteration solves for either factor to the end
    sketched: bool = False  # sees X only through sketches: permutations change its random numbers' meaning

    def __str__(self) -> str:
        return self.name

    def run(self, X, k: int, iterations: int, *, seed: int = 0, start=None, **holding) -> Outcome:
        """So many iterations from the common start."""
        held = as_matrix(X, **holding)
        problem = Problem(held.shape, held.nnz, k, beta=self.beta, seed=seed, **self.wishes)
        step = method(self.solver, problem, self.options)
        Wt, H = common_start(held.shape, k, held.dtype) if start is None else start
        state, trace = begin(step, held, Wt, H, relative=self.beta == 2)
        return iterate(step, held, state, trace, [MaxIterations(iterations)])


def common_start(shape, k, dtype=np.float64, seed=1):
    """(Wt, H), positive."""
    rng = np.random.default_rng(seed)
    n, m = shape
    return rng.uniform(0.1, 1, (k, n)).astype(dtype), rng.uniform(0.1, 1, (k, m)).astype(dtype)


ALGORITHMS = [
    Case("hals", "hals", {"acceleration": 1, "extrapolate": False}, stationary=300),
    Case("accelerated hals", "hals", {"acceleration": 4, "extrapolate": False}, stationary=150),
    Case("extrapolated hals", "hals", {"acceleration": 3}, stationary=150),
    Case("bpp", "bpp", stationary=150, exact=True),
    Case("extrapolated bpp", "bpp", {"extrapolate": True}, stationary=150),
    Case("mu", "mu"),
    Case("mu kl", "mu", beta=1.0),
    Case("mu is", "mu", beta=0.0),
    Case("mu 0.5", "mu", beta=0.5),
    Case("mu 1.5", "mu", beta=1.5),
    Case("mu 3", "mu", beta=3.0),
    Case("pgd", "pgd", stationary=4000),
    Case("nesterov", "nesterov", stationary=300),
    Case("ipalm", "ipalm", {"inertia": 0.3}, descends=False, stationary=4000),
    Case("admm", "admm", {"steps": 10}, descends=False, stationary=1000),
    Case("sanls", "sanls", {"sketch_size": 0.5}, descends=False, sketched=True),
    Case(
        "sanls subsample pgd",
        "sanls",
        {"sketch": "subsample", "inner": "pgd", "sketch_size": 0.5},
        descends=False,
        sketched=True,
    ),
    Case(
        "sanls gaussian",
        "sanls",
        {"sketch": "gaussian", "sketch_size": 0.5, "bounded": True},
        descends=False,
        sketched=True,
    ),
    Case("sanls srht", "sanls", {"sketch": "srht", "sketch_size": 0.5}, descends=False, sketched=True),
    Case(
        "randomized",
        "randomized",
        {"oversampling": 4, "acceleration": 2},
        descends=False,
        stationary=300,
        sketched=True,
    ),
    Case(
        "sketched", "sketched", {"sample": (1, 128), "acceleration": 2}, descends=False, stationary=150, sketched=True
    ),
    Case(
        "sketched plain",
        "sketched",
        {"sample": (1, 1), "acceleration": 1, "extrapolate": False},
        descends=False,
        stationary=300,
        sketched=True,
    ),
]
