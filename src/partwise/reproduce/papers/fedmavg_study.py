"""Wang, Suwandi & Chang: what both experiments share. FedMAvg with m of P parties heard beside SFMF: claims, table, figure.

Our copy of the poster has its text and the names of its curves, not the curves.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from partwise.currency import Array, Arrays
from partwise.estimators.study_wishes import Wishes
from partwise.reports.figures import Figure, Panel
from partwise.reports.quantities import ratio
from partwise.reports.quantities import size as bytes_said
from partwise.reports.tables import Cells
from partwise.reproduce import curves
from partwise.reproduce.experiment import Finding, Row, Rows, only, values
from partwise.reproduce.parties import study

SFMF = "SFMF"
ONE_STEP = ", one local step"  # Q̂ = 1: as many as federated gradient descent has
LOCAL_STEPS = 20  # Q̂
CIPHERTEXT = 512  # bytes of a number under Paillier with a key of 2,048 bits
NEAR = 1.02  # of SFMF's error at its end: "reached"


def methods(draws: Sequence[int]) -> list[str]:
    """FedMAvg with m parties heard in a round; with all, and no local steps; and its rival."""
    return [*(f"FedMAvg, m = {m}" for m in draws), f"FedMAvg, m = {draws[-1]}{ONE_STEP}", SFMF]


def wishes(name: str, k: int, rounds: int, seed: int, steps: int) -> Wishes:
    """From a name of `methods`."""
    if name == SFMF:
        return Wishes(k, "sfmf", rounds, seed=seed, measure_every=10**6)
    drawn = int(name.removesuffix(ONE_STEP).rpartition(" ")[2])
    options = {"participation": drawn, "w_steps": 10, "h_steps": 1 if name.endswith(ONE_STEP) else steps}
    return Wishes(k, "fedmavg", rounds, seed=seed, measure_every=10**6, options=options)


def followed(Xs: Sequence[Any], wished: Wishes, quality: Mapping[str, Any]) -> list[Row]:
    """The relative error round by round, and the qualities: name → function of (Wt of all parties, H)."""
    norm = math.sqrt(sum(X.sq_norm() for X in Xs))

    def told(public: Arrays, privates: Sequence[Arrays]) -> Mapping[str, float]:
        H, Ws = public["H"], [private["Wt"] for private in privates]
        error = math.sqrt(sum(X.sq_error(W, H) for X, W in zip(Xs, Ws, strict=True))) / norm
        Wt: Array = np.concatenate(Ws, axis=1)
        return {"error": error, **{name: measure(Wt, H) for name, measure in quality.items()}}

    rows = study(Xs, wished, told)[0]
    names = ("t", "seconds", "bytes", "up", "error", *quality)
    return [
        {name: row[name] for name in names} for row in rows if row["t"] <= 10 or row["t"] % 5 == 0 or row is rows[-1]
    ]


def judge(rows: Rows, better: str, within: float, noun: str) -> list[Finding]:
    """What is said of communication, and that quality does not pay for it; `within` has the sign of what is better."""
    mine = [m for m in values(rows, "method") if m != SFMF]
    drawn, one_step = mine[:-1], mine[-1]
    ends = {m: curves.end(only(rows, method=m)) for m in values(rows, "method")}
    quality = {m: last(only(rows, method=m), better) for m in values(rows, "method")}
    up = {m: curves.until(only(rows, method=m), NEAR * ends[SFMF], "up") for m in ends}
    words = {m: bytes_said(b) if math.isfinite(b) else "never" for m, b in up.items()}
    few, every = drawn[0], drawn[-1]
    worse = [m for m in drawn if math.copysign(1, within) * (quality[m] - quality[SFMF]) < -abs(within)]
    return [
        Finding("“Local GD with diminishing steps … can greatly reduce the communication cost”: to SFMF's error (within 2 %) at most half "
                "the bytes from the parties that one local step takes.", 2 * up[every] <= up[one_step],
                f"{every}: {words[every]}; {one_step}: {words[one_step]}"),
        Finding("“… and partial client communication”: the smallest m takes at most half the bytes of the largest.",
                2 * up[few] <= up[every], f"{few}: {words[few]}; {every}: {words[every]}"),
        Finding("“Even under non-i.i.d. data”: the smallest m takes at most half the bytes of SFMF.", 2 * up[few] <= up[SFMF],
                f"{few}: {words[few]}; SFMF: {words[SFMF]}; SFMF under Paillier, computed: {bytes_said(up[SFMF] * CIPHERTEXT / 8)}"),
        Finding("FedMAvg ends no higher than SFMF in the objective, whatever m is (within 1 %).",
                all(ends[m] <= 1.01 * ends[SFMF] for m in drawn), told(ends)),
        Finding(f"Nor is it worse than SFMF in the {noun}, whatever m is (within {abs(within):g}).", not worse, told(quality)),
    ]  # fmt: skip


def told(numbers: Mapping[str, float]) -> str:
    """SFMF 0.5; …"""
    return "; ".join(f"{name} {ratio(number)}" for name, number in numbers.items())


def last(rows: Rows, column: str) -> float:
    """At the end, the median over seeds."""
    return float(np.median([only(rows, seed=seed)[-1][column] for seed in values(rows, "seed")]))


def figure(rows: Rows, column: str, label: str) -> Figure:
    """Error over rounds and over what parties sent; quality over rounds."""
    return Figure([
        Panel("", curves.over(rows, "t", "error"), "rounds", curves.ERROR, "log", "log"),
        Panel("", curves.over(rows, "up", "error"), "bytes from the parties", curves.ERROR, "log", "log"),
        Panel("", curves.over(rows, "t", column), "rounds", label, "log"),
    ], order=values(rows, "method"))  # fmt: skip


def table(rows: Rows, column: str) -> Cells:
    """At the end; bytes until SFMF's error was reached, within 2 %."""
    goal = NEAR * curves.end(only(rows, method=SFMF))
    cells = [["method", "relative error", column, "bytes from parties, a round", "until SFMF's error"]]
    for method in values(rows, "method"):
        mine = only(rows, method=method)
        reached = curves.until(mine, goal, "up")
        each = mine[-1]["up"] / mine[-1]["t"]
        cells.append([method, ratio(curves.end(mine)), ratio(last(mine, column)), bytes_said(each),
                      bytes_said(reached) if math.isfinite(reached) else "never"])  # fmt: skip
    return cells
