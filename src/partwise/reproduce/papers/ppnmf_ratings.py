"""Saha & Imtiaz, Table 4: recommendations from private parts, by the paper's error and by one of ratings that nobody has seen."""

from __future__ import annotations

from typing import Any

import numpy as np

from partwise.algorithms.federated.study import fitted_W
from partwise.compare.clock import pinned
from partwise.currency import Array
from partwise.data import as_matrix
from partwise.metrics import rmse
from partwise.reports.quantities import ratio
from partwise.reports.tables import Cells
from partwise.reproduce.experiment import Case, Experiment, Finding, Row, Rows, Size, only, values
from partwise.reproduce.material import held_out
from partwise.reproduce.privately import NON_PRIVATE, TUNED, last, ours, total_epsilon, unit

STARS = 5.0
NON, PUBLISHED, VALID, OURS = "non-private", "as published", "valid start", "ours"
ZERO, MEAN = "all zero", "film means"


def cases(size: Size) -> list[Case]:
    """ε_i of each epoch; beside them what predicts nothing, and what predicts a film's mean."""
    levels = size.pick((0.5,), (0.3, 0.7), (0.3, 0.5, 0.7))
    private = [(kind, each) for kind in (PUBLISHED, VALID, OURS) for each in levels]
    runs = [(ZERO, NON_PRIVATE), (MEAN, NON_PRIVATE), (NON, NON_PRIVATE), *private]
    return [{"data": "MovieLens", "method": kind, "each": each, "seed": 0} for kind, each in runs]


def measure(case: Case, size: Size) -> list[Row]:
    """The paper's RMSE: of observed ratings (of 1), divided by the number of all pairs. And that of held-out ratings in stars."""
    train, test = held_out(size, seed=0, name="movielens_1m", quick=1_500)
    each, kind = float(case["each"]), str(case["method"])
    k, rounds, users = size.pick(3, 10, 20), size.pick(3, 20, 100), np.ones((train.shape[0], 1))
    if kind in (ZERO, MEAN):
        return [errors(train, test, users, (means(train) if kind == MEAN else 0 * means(train))[None])]
    if kind == OURS:
        H = ours(unit(train), k, total_epsilon(each, rounds), 0)
    else:
        H = last(unit(train), k, each, rounds, 0, start="random" if kind == VALID else "nndsvd")
    entries = as_matrix(train)
    with pinned(1):
        return [errors(train, test, fitted_W(entries, H).T, H)]


def means(train: Any) -> Array:
    """(m,): the mean rating of each film."""
    counts = np.bincount(train.indices, minlength=train.shape[1])
    return np.bincount(train.indices, train.data, minlength=train.shape[1]) / np.maximum(counts, 1)


def errors(train: Any, test: Any, W: Array, H: Array) -> Row:
    """Of the ratings that were learned from, as the paper has it; of those held out."""
    return {"paper_rmse": rmse(train, W, H, over="all") / STARS, "held_out_rmse": rmse(test.tocsr(), W, H)}


def judge(rows: Rows) -> list[Finding]:
    """Small by the paper's error; what that error is worth."""

    def at(column: str) -> dict[str, float]:
        return {told(row): row[column] for row in rows}

    def told(row: Row) -> str:
        return str(row["method"]) if row["each"] == NON_PRIVATE else f"{row['method']}, ε_i = {row['each']:g}"

    paper, held = at("paper_rmse"), at("held_out_rmse")
    private = [value for name, value in paper.items() if name.startswith(PUBLISHED)]
    return [
        Finding("The RMSE of private parts is within 10 % of that of non-private ones.", max(private) < 1.1 * paper[NON],
                ", ".join(f"{name} {ratio(value)}" for name, value in paper.items())),
        Finding("It falls as ε_i grows.", private[-1] <= private[0], f"{ratio(private[0])} → {ratio(private[-1])}"),
        Finding("The paper's RMSE can be set beside DPNMF's (0.86 to 1.20), which are errors of ratings: predictions of "
                "held-out ratings are off by as little.", held[NON] < 0.2,
                f"held out, in stars: {', '.join(f'{name} {ratio(value)}' for name, value in held.items())}"),
    ]  # fmt: skip


def table(rows: Rows) -> Cells:
    """Both errors."""
    cells = [["method", "ε_i", "RMSE as the paper has it", "RMSE of held-out ratings, stars"]]
    for method in values(rows, "method"):
        for row in only(rows, method=method):
            each = "–" if row["each"] == NON_PRIVATE else f"{row['each']:g}"
            cells.append([str(method), each, ratio(row["paper_rmse"]), ratio(row["held_out_rmse"])])
    return cells


TABLE4 = Experiment(
    "ppnmf", "table4", "RMSE on MovieLens",
    "RMSE 0.0624 without privacy, 0.0675, 0.0648, 0.0640 at ε_i = 0.3, 0.5, 0.7, where DPNMF has 0.857 and 1.195, 1.079, 1.016.",
    ("MovieLens 1M, a fifth of the ratings held out; --quick: 1,500 of the 6,040 users; films with five ratings or more",
     TUNED),
    cases, measure, judge, table, None, {Size.QUICK: 1.5, Size.FULL: 30}, ("data", "method", "each", "seed"),
    {"paper_rmse": 1e-3, "held_out_rmse": 1e-3}, {"MovieLens": "movielens_1m"},
        reason="The paper divides the squared errors of the ratings that are there by the number of all pairs of users and films, and "
        "scales ratings to one: predicting a film's mean beats its 0.06 in that measure, and even predicting nothing is near. "
        "DPNMF's numbers beside it are errors of ratings in stars. Held-out ratings show that a model which counts what was not "
        "rated as zero, as the paper's does, predicts poorly, private or not.",
)  # fmt: skip
