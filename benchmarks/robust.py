"""RobustNMF on contaminated faces, as Saha & Imtiaz do (§4.3): of a tenth of the pictures most pixels are wild.

`python -m benchmarks.robust`: errors on the clean pictures, 1/2n ‖X° − WH‖² as in their (15); means over seeds.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from statistics import mean
from typing import Any

import numpy as np

from partwise import NMF, RobustNMF
from partwise.currency import Array
from partwise.datasets import load
from partwise.reports.tables import markdown

CASES = {"CBCL": ("cbcl_faces", 600, 20), "YaleB": ("yaleb_32x32", 400, 20)}  # data, pictures, components
SEEDS = range(3)


def pictures(name: str, count: int, rng: Any) -> tuple[Array, Array]:
    """(clean, contaminated): U[−1, 1] is added to 70 % of the pixels of a tenth of the pictures, and what leaves [0, 1] is cut."""
    X = np.asarray(load(name).X, np.float64)
    X = X[np.linspace(0, len(X) - 1, count).astype(int)]
    X = X / X.max(axis=1, keepdims=True)
    wild = rng.random(X.shape) < 0.7
    wild[rng.permutation(count)[count // 10 :]] = False
    return X, np.clip(X + wild * rng.uniform(-1, 1, X.shape), 0, 1)


def table() -> Iterator[list[str]]:
    """A line for each data set and way of spoiling it."""
    yield ["data", "NMF of clean pictures", "NMF of contaminated ones", "RobustNMF, λ = 1/√m", "RobustNMF, λ = 0.15"]
    for data, (name, count, k) in CASES.items():
        ends: dict[str, list[float]] = {}
        for seed in SEEDS:
            clean, spoiled = pictures(name, count, np.random.default_rng(seed))
            common = {"random_state": seed, "tol": 0, "max_iter": 100}
            models: dict[str, tuple[Any, Array]] = {
                "clean": (NMF(k, init="random", **common), clean), "plain": (NMF(k, init="random", **common), spoiled),
                "auto": (RobustNMF(k, **common), spoiled), "given": (RobustNMF(k, outlier_penalty=0.15, **common), spoiled),
            }  # fmt: skip
            for label, (model, X) in models.items():
                W = model.fit_transform(X)
                ends.setdefault(label, []).append(float(np.square(clean - W @ model.components_).sum() / (2 * count)))
        yield [data, *(f"{mean(found):.3f}" for found in ends.values())]


def main(arguments: list[str] | None = None) -> None:
    """Measure and tell."""
    argparse.ArgumentParser("python -m benchmarks.robust", description=__doc__).parse_args(arguments)
    print(markdown(list(table())))


if __name__ == "__main__":
    main()
