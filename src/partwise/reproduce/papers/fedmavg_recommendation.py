"""Wang, Suwandi & Chang, Numerical Results II: item recommendation, every user a party."""

from __future__ import annotations

from typing import Any

import numpy as np

from partwise.currency import Array
from partwise.data import as_matrix
from partwise.reproduce.experiment import Case, Experiment, Row, Size
from partwise.reproduce.material import held_out
from partwise.reproduce.papers.fedmavg_study import LOCAL_STEPS, figure, followed, judge, methods, table, wishes


def cases(size: Size) -> list[Case]:
    """Every user is a party; m of them are heard."""
    return [
        {"data": "MovieLens", "method": method, "seed": seed}
        for method in methods(size.pick((2, 4), (10, 50, 150), (10, 50, 100, 610)))
        for seed in range(size.pick(1, 1, 3))
    ]


def measure(case: Case, size: Size) -> list[Row]:
    """Root mean square errors of held-out ratings, in stars; each user keeps its own W."""
    train, test = held_out(size, seed=int(case["seed"]))
    k, rounds = size.pick((2, 3), (5, 40), (10, 60))
    Xs = [as_matrix(train[[p]], missing="zero") for p in range(train.shape[0])]
    wished = wishes(str(case["method"]), k, rounds, int(case["seed"]), size.pick(5, LOCAL_STEPS, LOCAL_STEPS))
    return followed(Xs, wished, {"rmse": lambda Wt, H: rmse(test, Wt, H)})


def rmse(test: Any, Wt: Array, H: Array) -> float:
    """Over the entries of `test`, ratings from half a star to five."""
    users, films = test.coords
    said = np.clip(np.einsum("kr,kr->r", Wt[:, users], H[:, films]), 0.5, 5)
    return float(np.sqrt(np.mean((said - test.data) ** 2)))


RECOMMENDATION = Experiment(
    "fedmavg", "recommendation", "Item recommendation, every user a party, and its communication cost",
    "“Local GD with diminishing steps and partial client communication can greatly reduce the communication cost, even under non-i.i.d. "
    "data”; curves of FedMAvg with m = 10, 50, 100, 610 of 610 users beside SFMF.",
    ("MovieLens latest-small, a fifth of the ratings held out; --quick: 150 of the 610 users; films with five ratings or more",
     "k = 10 (--quick: 5), Q₁ = 10, Q̂ = 20"),
    cases, measure, lambda rows: judge(rows, "rmse", -0.02, "error of held-out ratings, in stars"),
    lambda rows: table(rows, "rmse"), lambda rows: figure(rows, "rmse", "RMSE of held-out ratings, stars"),
    {Size.QUICK: 0.2, Size.FULL: 9}, ("data", "method", "seed", "t"), {"error": 1e-4, "bytes": 0.0},
    {"MovieLens": "movielens_latest_small_x2"},
    reason="Local steps make no difference here, and the two curves coincide: a party is one user and its W_p one row, so W_pᵀW_p has rank "
    "one, and a single step of length 1/λ_max already ends where twenty do. What saves bytes is that few parties are heard.",
)  # fmt: skip
