"""MovieLens 1M under privacy: the RMSE of Saha & Imtiaz (Table 4), and that of ratings that were held out.

`python -m benchmarks.ratings -h`. Their RMSE divides by all user–item pairs and counts unobserved ones as met exactly, so that it is small
wherever little was observed: with all predictions zero it is 0.154 here. What held-out ratings say is another matter.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmarks.privacy import PUBLISHED, private
from partwise import NMF
from partwise.currency import Array, NormalEq
from partwise.datasets import load
from partwise.metrics import rmse
from partwise.reports.tables import markdown
from partwise.updates import Bpp

K, FEW = 20, 3  # components; few for what is held out, as little can be told apart


def ratings() -> Any:
    """(users, films), whole stars."""
    return sp.csr_array(load("movielens_1m").X, dtype=np.float64)


def table4(seeds: Sequence[int]) -> Iterator[list[str]]:
    """Each user's largest rating brought to one, unobserved ones counted as zero in the fit, as in the paper."""
    X = ratings()
    X = sp.csr_array(sp.diags_array(1 / np.maximum(X.max(axis=1).toarray().ravel(), 1e-300)) @ X)
    yield ["method", "RMSE over all pairs", "RMSE of observed ratings"]
    for name, make in _rivals().items():
        found = [_both(X, *_factors(make(seed), X)) for seed in seeds]
        yield [name, *(_told(values) for values in zip(*found, strict=True))]
    nothing = np.zeros((X.shape[0], 1)), np.zeros((1, X.shape[1]))
    yield ["all predictions zero", *(f"{value:.4f}" for value in _both(X, *nothing))]


def _rivals() -> dict[str, Callable[[int], Any]]:
    """seed → an estimator."""

    def plain(seed: int) -> NMF:
        return NMF(K, init="random", random_state=seed, max_iter=60, tol=0)

    def rival(method: str, epsilon: float, **options: Any) -> Callable[[int], Any]:
        return lambda seed: private(method, K, epsilon, seed, options)

    ours = {f"ours, ε = {epsilon:g}": rival("auto", epsilon) for epsilon in (0.5, 1.0, 3.0, 8.0)}
    theirs = {
        f"{name}, ε = {epsilon:g}": rival(method, epsilon, rounds=30, step=10.0)
        for name, method in (("PPNMF, valid start", PUBLISHED), ("PPNMF, repaired", "ppnmf"))
        for epsilon in (1.0, 8.0, 80.0)
    }
    return {"no privacy": plain, **ours, **theirs}


def _factors(model: Any, X: Any) -> tuple[Array, Array]:
    return model.fit(X).transform(X), model.components_


def _both(X: Any, W: Array, H: Array) -> tuple[float, float]:
    return rmse(X, W, H, over="all"), rmse(X, W, H)


def _told(values: Sequence[float]) -> str:
    """The mean over seeds, and the two ends where they differ in what is shown."""
    mean, least, most = (f"{value:.4f}" for value in (np.mean(values), min(values), max(values)))
    return mean if least == most else f"{mean} ({least} to {most})"


def held_out(seeds: Sequence[int]) -> Iterator[list[str]]:
    """A tenth of the ratings, another one for each seed; a row's other films filled in with the user's own mean, which looks at that row
    alone."""
    errors: dict[str, list[float]] = {}
    for seed in seeds:
        for name, error in _of_split(seed):
            errors.setdefault(name, []).append(error)
    yield ["method", "RMSE of held-out ratings, stars"]
    for name, values in errors.items():
        yield [name, _told(values)]


def _of_split(seed: int) -> Iterator[tuple[str, float]]:
    X, rng = ratings().tocoo(), np.random.default_rng(seed)
    test = rng.random(X.nnz) < 0.1
    known, asked = (sp.csr_array((X.data[part], (X.row[part], X.col[part])), X.shape) for part in (~test, test))
    counts = np.diff(known.indptr)
    means = np.divide(known.sum(axis=1), counts, out=np.full(len(counts), 3.5), where=counts > 0)
    filled = np.repeat(means[:, None], X.shape[1], axis=1)
    filled[np.repeat(np.arange(len(counts)), counts), known.indices] = known.data
    yield "the user's own mean", _error(asked, np.repeat(means, np.diff(asked.indptr)))
    models = {f"no privacy, k = {k}": NMF(k, init="random", random_state=seed, max_iter=40, tol=0) for k in (FEW, 10)}
    models |= {
        f"ours, ε = {epsilon:g}, k = {FEW}": private("moments", FEW, epsilon, seed, {}) for epsilon in (1.0, 3.0, 8.0)
    }
    for name, model in models.items():
        H = model.fit(filled).components_
        yield name, _error(asked, _predicted(known, asked, H / np.linalg.norm(H, axis=1, keepdims=True), means))


def _predicted(known: Any, asked: Any, H: Array, means: Array) -> Array:
    """w by the user's own ratings; the user's mean for films of which H knows nothing."""
    found = []
    for i in range(known.shape[0]):
        seen, wanted = known[[i]], asked[[i]]
        F = H[:, seen.indices]
        pair = NormalEq(F @ F.T + 1e-4 * np.eye(len(H)), (F @ seen.data)[:, None])
        w, _ = Bpp()(np.zeros((len(H), 1)), pair, ())
        told = w[:, 0] @ H[:, wanted.indices]
        found.append(np.where(H[:, wanted.indices].any(axis=0), told, means[i]))
    return np.concatenate(found)


def _error(asked: Any, predicted: Array) -> float:
    return float(np.sqrt(np.mean((np.clip(predicted, 1, 5) - asked.data) ** 2)))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m benchmarks.ratings", description=__doc__)
    parser.add_argument("--seeds", type=int, default=3, help="how many (default: 3)")
    wanted = range(parser.parse_args().seeds)
    for rows in (held_out(wanted), table4(wanted)):
        print(markdown(list(rows)), flush=True)
