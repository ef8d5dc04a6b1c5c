"""Dalleiger & Gionis: what is compared in most of their experiments, and one run of it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from partwise.estimators.study_wishes import Wishes
from partwise.reports.quantities import ratio
from partwise.reproduce import curves
from partwise.reproduce.experiment import Row, Rows, only, values
from partwise.reproduce.parties import Saying, study

APART: Mapping[str, Any] = {"own_starts": True}  # every party draws its own start, as in Algorithm 2
GAMMA = {
    "proximity": 0.01
}  # the paper's γ is not in its text; with 0.1 FNMF is stuck where its first rounds led (see figure 3)
PRINTED = APART | GAMMA | {"own_order": False}  # V_j ← V̄, so that all have the order of V̄
OURS, PULLED = "exact (ours)", "FNMF-LAP, γ = 0.1"
METHODS: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "iPALM": ("ipalm-once", {}),
    "MUR": ("mur-once", {}),
    "FedAvg": ("fedavg", APART),
    "FedProx": ("fedprox", APART | GAMMA),
    "FNMF-LAP": ("fnmf", PRINTED | {"alignment": "lap"}),
    "FNMF-LAPρ": ("fnmf", PRINTED | {"alignment": "lap-rho"}),
    "FNMF-SK": ("fnmf", PRINTED | {"alignment": "sinkhorn"}),
    "FNMF-SKρ": ("fnmf", PRINTED | {"alignment": "sinkhorn-rho"}),
    PULLED: ("fnmf", PRINTED | {"alignment": "lap", "proximity": 0.1}),
    OURS: ("exact", {}),
}
FNMF = tuple(name for name in METHODS if name.startswith("FNMF") and name != PULLED)
PLAIN = ("FedAvg", "FedProx")
ONCE = ("iPALM", "MUR")
PAPERS = tuple(name for name in METHODS if name not in (OURS, PULLED))
BLOCKS = "dense blocks at random places with truncated Gaussian noise"


def run(
    Xs: Sequence[Any], name: str, k: int, rounds: int, steps: int, seed: int, *, every: int = 1,
    saying: Saying | None = None,
) -> list[Row]:  # fmt: skip
    """Rows of one study; `rmsd` is the mean over parties of RMSD(X_p, W_p H), W_p being exact for H."""
    method, options = METHODS[name]
    if method.endswith("once"):
        options = {"local_steps": rounds * steps}
    elif method != "exact":
        options = {**options, "local_steps": steps}
    rows, found = study(Xs, Wishes(k, method, rounds, seed=seed, measure_every=every, options=options), saying=saying)
    rows = [row for row in rows if not math.isnan(row["error"])]
    rows[-1]["rmsd"] = found.rmsd_sum / len(Xs)
    entries = sum(X.shape[0] * X.shape[1] for X in Xs)
    level = math.sqrt(sum(found.sq_norms) / entries)
    return [row | {"rmsd": row.get("rmsd", row["error"] * level)} for row in rows]


def medians(rows: Rows, column: str = "rmsd") -> dict[str, float]:
    """method → the median over seeds."""
    return {method: curves.median(only(rows, method=method), column) for method in values(rows, "method")}


def told(numbers: Mapping[str, float], unit: str = "") -> str:
    """LAP 0.1, SK 0.2."""
    return ", ".join(f"{name} {ratio(number)}{unit}" for name, number in numbers.items())
