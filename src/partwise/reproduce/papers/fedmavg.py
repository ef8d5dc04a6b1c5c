"""Wang, Suwandi & Chang: Demystifying Model Averaging for Communication-Efficient Federated Matrix Factorization."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment

from partwise.currency import Array, Arrays
from partwise.data import as_matrix
from partwise.data.partition import partition
from partwise.estimators.study_wishes import Wishes
from partwise.reports.figures import Figure, Panel
from partwise.reports.quantities import ratio
from partwise.reports.quantities import size as bytes_said
from partwise.reports.tables import Cells
from partwise.reproduce import curves
from partwise.reproduce.experiment import Case, Experiment, Finding, Row, Rows, Size, only, values
from partwise.reproduce.material import digits, held_out
from partwise.reproduce.parties import study

SFMF = "SFMF"
CIPHERTEXT = 512  # bytes of a number under Paillier with a key of 2,048 bits
NEAR = 1.02  # of the lowest error: "reached"


def methods(draws: Sequence[int]) -> list[str]:
    """FedMAvg with m parties heard in a round, and its rival."""
    return [*(f"FedMAvg, m = {m}" for m in draws), SFMF]


def wishes(name: str, k: int, rounds: int, seed: int, **options: Any) -> Wishes:
    """From a name of `methods`."""
    if name == SFMF:
        return Wishes(k, "sfmf", rounds, seed=seed, measure_every=10**6)
    m = int(name.rpartition(" ")[2])
    options = {"participation": m, **options}
    return Wishes(k, "fedmavg", rounds, seed=seed, measure_every=10**6, options=options)


def clustering_cases(size: Size) -> list[Case]:
    """10, 50 or 100 of 100 parties."""
    return [
        {"data": "MNIST", "method": method, "seed": seed}
        for method in methods(size.pick((2, 5), (10, 50, 100), (10, 50, 100)))
        for seed in range(size.pick(1, 1, 10))
    ]


def clustering_measure(case: Case, size: Size) -> list[Row]:
    """The cluster of a digit is its largest coefficient; parties hold one digit or two each."""
    X, y = digits(size, quick=2_000, full=10_000)
    parties, rounds = size.pick((5, 3), (100, 60), (100, 200))
    seed, k = int(case["seed"]), len(np.unique(y))
    rows = partition(len(X), parties, "label", labels=y, seed=seed)
    Xs = [as_matrix(X[part]) for part in rows]
    truth, norm = np.concatenate([y[part] for part in rows]), float(np.linalg.norm(X))

    def told(public: Arrays, privates: Sequence[Arrays]) -> Mapping[str, float]:
        H, Ws = public["H"], [private["Wt"] for private in privates]
        Wt = np.concatenate(Ws, axis=1) * np.linalg.norm(H, axis=1)[:, None]
        error = math.sqrt(sum(one.sq_error(W, H) for one, W in zip(Xs, Ws, strict=True))) / norm
        return {"error": error, "accuracy": accuracy(truth, Wt.argmax(axis=0))}

    options = wishes(str(case["method"]), k, rounds, seed, w_steps=10, h_steps=size.pick(5, 20, 20))
    return kept(study(Xs, options, told)[0])


def accuracy(truth: Any, found: Any) -> float:
    """The share of rows that are in the right cluster, clusters being matched with classes as well as can be."""
    _, y = np.unique(truth, return_inverse=True)
    table = np.zeros((y.max() + 1, max(int(found.max()), y.max()) + 1))
    np.add.at(table, (y, found), 1)
    return float(table[linear_sum_assignment(-table)].sum() / len(y))


def kept(rows: Rows) -> list[Row]:
    """The first ten rounds, every fifth, and the last; what is stored of each."""
    names = ("t", "seconds", "bytes", "up", "error", "accuracy", "rmse")
    return [
        {name: row[name] for name in names if name in row}
        for row in rows
        if row["t"] <= 10 or row["t"] % 5 == 0 or row is rows[-1]
    ]


def recommendation_cases(size: Size) -> list[Case]:
    """Every user is a party; m of them are heard."""
    draws = size.pick((2, 4), (10, 50, 150), (10, 50, 100, 610))
    return [
        {"data": "MovieLens", "method": method, "seed": seed}
        for method in methods(draws)
        for seed in range(size.pick(1, 1, 3))
    ]


def recommendation_measure(case: Case, size: Size) -> list[Row]:
    """Root mean square errors of held-out ratings, in stars; each user keeps its own W."""
    train, test = held_out(size, seed=int(case["seed"]))
    k, rounds = size.pick((2, 3), (5, 40), (10, 200))
    Xs = [as_matrix(train[[p]], missing="zero") for p in range(train.shape[0])]
    norm = math.sqrt(float(train.data @ train.data))

    def told(public: Arrays, privates: Sequence[Arrays]) -> Mapping[str, float]:
        H, Ws = public["H"], [private["Wt"] for private in privates]
        error = math.sqrt(sum(one.sq_error(W, H) for one, W in zip(Xs, Ws, strict=True))) / norm
        return {"error": error, "rmse": rmse(test, np.concatenate(Ws, axis=1), H)}

    options = wishes(str(case["method"]), k, rounds, int(case["seed"]), w_steps=10, h_steps=size.pick(5, 20, 20))
    return kept(study(Xs, options, told)[0])


def rmse(test: Any, Wt: Array, H: Array) -> float:
    """Over the entries of `test`, ratings from half a star to five."""
    users, films = test.coords
    said = np.clip(np.einsum("kr,kr->r", Wt[:, users], H[:, films]), 0.5, 5)
    return float(np.sqrt(np.mean((said - test.data) ** 2)))


def judge(rows: Rows, better: str, rising: bool) -> list[Finding]:
    """Against SFMF, by rounds and by bytes."""
    mine = [m for m in values(rows, "method") if m != SFMF]
    ends = {m: curves.end(only(rows, method=m)) for m in values(rows, "method")}
    quality = {m: last(only(rows, method=m), better) for m in values(rows, "method")}
    goal = NEAR * curves.end(only(rows, method=SFMF))
    up = {m: curves.until(only(rows, method=m), goal, "up") for m in values(rows, "method")}
    cheap = min(mine, key=lambda m: up[m])
    encrypted = up[SFMF] * CIPHERTEXT / 8
    sign = 1 if rising else -1
    words = {m: f"{bytes_said(b)}" if math.isfinite(b) else "never" for m, b in up.items()}
    return [
        Finding("FedMAvg ends with a lower objective than SFMF, whatever m is.", all(ends[m] < ends[SFMF] for m in mine), told(ends)),
        Finding(f"FedMAvg is at least as good as SFMF in {better}, whatever m is.",
                all(sign * quality[m] >= sign * quality[SFMF] - 0.005 for m in mine), told(quality)),
        Finding("With few parties heard, FedMAvg needs fewer bytes from the parties than SFMF to SFMF's error (within 2 %).",
                up[cheap] < up[SFMF], f"{', '.join(f'{m}: {word}' for m, word in words.items())}; SFMF under Paillier, computed: "
                f"{bytes_said(encrypted)}"),
        Finding("Hearing fewer parties costs fewer bytes and little quality: the smallest m ends within 5 % of the largest m's error.",
                ends[mine[0]] <= 1.05 * ends[mine[-1]], f"{mine[0]}: {ratio(ends[mine[0]])}, {mine[-1]}: {ratio(ends[mine[-1]])}"),
    ]  # fmt: skip


def told(numbers: Mapping[str, float]) -> str:
    """SFMF 0.5; …"""
    return "; ".join(f"{name} {ratio(number)}" for name, number in numbers.items())


def last(rows: Rows, column: str) -> float:
    """At the end, the median over seeds."""
    return float(np.median([only(rows, seed=seed)[-1][column] for seed in values(rows, "seed")]))


def figure(rows: Rows, column: str, label: str) -> Figure:
    """Error over rounds; quality over rounds and over what parties sent."""
    error, quality, sent = (
        curves.over(rows, "t", "error"),
        curves.over(rows, "t", column),
        curves.over(rows, "up", column),
    )
    return Figure([
        Panel("", error, "rounds", curves.ERROR, "linear", "log"),
        Panel("", quality, "rounds", label),
        Panel("", sent, "bytes from the parties", label, "log"),
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


NAMES = ("data", "method", "seed", "t")
EXPERIMENTS = (
    Experiment(
        "fedmavg", "clustering", "Clustering with m of 100 parties",
        "Local gradient steps that diminish and partial participation greatly reduce communication, even under data that are not "
        "identically distributed, and cluster as well as or better than the rival.",
        ("MNIST, sorted by digit over 100 parties",), clustering_cases, clustering_measure,
        lambda rows: judge(rows, "accuracy", True), lambda rows: table(rows, "accuracy"),
        lambda rows: figure(rows, "accuracy", "share of digits in the right cluster"), {Size.QUICK: 1.5, Size.FULL: 60},
        NAMES, {"error": 1e-4, "bytes": 0.0}, {"MNIST": "mnist"},
        reason="All end within a fraction of a percent of one another in the objective, so which is lowest is chance. Clusters are "
        "read off the largest coefficient, which the objective does not look at; the penalties by which the authors make "
        "coefficients cluster are not in our copy of the paper. What holds is the saving: few parties heard, as good an error, "
        "far fewer bytes.",
    ),
    Experiment(
        "fedmavg", "recommendation", "Item recommendation, every user a party, and its communication cost",
        "FedMAvg with m = 10, 50, 100 of 610 users performs better than SFMF in fewer rounds, at a much lower communication cost.",
        ("MovieLens latest-small, a fifth of the ratings held out; --quick: 150 of the 610 users; films with five ratings or more",),
        recommendation_cases, recommendation_measure, lambda rows: judge(rows, "rmse", False),
        lambda rows: table(rows, "rmse"), lambda rows: figure(rows, "rmse", "RMSE of held-out ratings, stars"),
        {Size.QUICK: 2.0, Size.FULL: 240}, NAMES, {"error": 1e-4, "bytes": 0.0}, {"MovieLens": "movielens_latest_small_x2"},
    ),
)  # fmt: skip
