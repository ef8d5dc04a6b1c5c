"""Qian and others: the damping μ_t = α + βt of DSANLS, searched over a small grid for each data set, as in the paper's § 5.1."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from partwise.reproduce import curves
from partwise.reproduce.experiment import Row, Rows, only, values

NONE, OWN = "none", "own"  # of methods that need none; the library's own, which is relative to the gram: 0.1 + 0.003 t
GRID: Mapping[str, tuple[float, float]] = {
    f"{alpha:g} + {beta:g} t": (alpha, beta) for beta in (0.1, 1.0, 10.0) for alpha in (0.1, 1.0, 10.0)
}
DAMPED = (
    "DSANLS's damping is the best of α, β in {0.1, 1, 10} for each data set, as in the paper; X's largest entry is 1"
)


def options(label: str) -> dict[str, Any]:
    """For `dsanls` or `sanls`; the paper's α and β are taken as they stand."""
    return {"damping": GRID[label], "relative_damping": False} if label in GRID else {}


def tuned(rows: Rows, by: Sequence[str] = ("data", "method")) -> list[Row]:
    """Of each method on each data set, the runs with the damping whose error ends least: what the paper reports."""
    best: list[Row] = []
    for settings in dict.fromkeys(tuple(row[name] for name in by) for row in rows):
        here = only(rows, **dict(zip(by, settings, strict=True)))
        dampings = values(here, "damping")
        best += only(here, damping=min(dampings, key=lambda label: curves.end(only(here, damping=label))))
    return best
