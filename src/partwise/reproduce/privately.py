"""PPNMF epoch by epoch, as the paper counts its ε, and how good the components are at each."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from partwise.compare.clock import pinned
from partwise.currency import Array
from partwise.data import as_matrix
from partwise.drivers.releases import released
from partwise.estimators.privately import Wishes, factorize_private, prepare_private
from partwise.metrics import objective

DELTA = 1e-5
NON_PRIVATE = math.inf
STEPS = (1.0, 0.1, 0.01)  # η_W
TUNED = "as published: NNDSVD of the data as start, and the step that ends lowest; neither is private"


class Epoch(NamedTuple):
    """Where PPNMF stands."""

    t: int
    H: Array  # (k, m), rows of length one
    total: float  # ε spent so far, counted exactly


def total_epsilon(each: float, rounds: int) -> float:
    """The paper's total for ε_i = each in every round: ε = ρ + 2√(ρ ln 1/δ), ρ = μ²/2, μ² = rounds · 2 (Δ/τ)² (§3.3)."""
    rho = rounds * each**2 / (2 * math.log(1.25 / DELTA))
    return rho + 2 * math.sqrt(rho * math.log(1 / DELTA))


def epochs(
    X: Any, k: int, each: float, rounds: int, seed: int, *, start: str = "nndsvd", outlier_penalty: float | None = None,
    step: float = 1.0,
) -> Iterator[Epoch]:  # fmt: skip
    """Algorithm 2 as published; `each` is ε_i, and NON_PRIVATE leaves the noise out."""
    noisy = each < NON_PRIVATE
    options: dict[str, Any] = {"rounds": rounds, "start": start, "outlier_penalty": outlier_penalty,
                               "step": step}  # fmt: skip
    wishes = Wishes(
        k, total_epsilon(each if noisy else 1.0, rounds), DELTA, method="ppnmf-as-published", options=options, seed=seed,
        insecure_seed=seed,
    )  # fmt: skip
    entries = as_matrix(X)
    with pinned(1):
        prepared = prepare_private(entries, wishes)
        method, ledger = prepared.method, prepared.ledger
        public = method.opening()
        for t in range(1, rounds + 1):
            query = method.query(public, t)
            if noisy:
                answer, scale = released(query, method.known.mu * query.share**0.5, entries, ledger, t)
            else:
                answer, scale = query.answer(entries), 0.0
            public = method.learn(public, answer, scale, t)
            yield Epoch(t, method.components(public), ledger.epsilon if noisy else NON_PRIVATE)


def tuned(X: Any, k: int, each: float, rounds: int, seed: int, **more: Any) -> list[Epoch]:
    """All epochs with the step that ends lowest, searched for as the paper does, at no cost in ε: not private either."""
    tried = [
        list(epochs(X, k, each, rounds, seed, step=step, **more))
        for step in (STEPS if each < NON_PRIVATE else STEPS[:1])
    ]
    return min(tried, key=lambda made: objective(made[-1].H, X))


def last(X: Any, k: int, each: float, rounds: int, seed: int, **more: Any) -> Array:
    """(k, m): the components after all epochs."""
    return tuned(X, k, each, rounds, seed, **more)[-1].H


def ours(X: Any, k: int, total: float, seed: int, **options: Any) -> Array:
    """(k, m): of our own private method, at a total ε."""
    entries = as_matrix(X)
    wishes = Wishes(k, total, DELTA, options=options, seed=seed, insecure_seed=seed)
    with pinned(1):
        return factorize_private(entries, prepare_private(entries, wishes)).H


def unit(X: Any) -> Any:
    """Rows of length one; rows of nothing are left out."""
    if sp.issparse(X):
        length = np.sqrt(X.multiply(X).sum(axis=1))
        kept = np.flatnonzero(length)
        return sp.csr_array(sp.diags_array(1 / length[kept]) @ X[kept])
    length = np.linalg.norm(X, axis=1, keepdims=True)
    return X[length[:, 0] > 0] / length[length[:, 0] > 0]


def hexed(picture: Array) -> str:
    """Pixels from 0 to 255 as hexadecimal digits: what a row of a table can hold."""
    return (255 * picture / max(float(picture.max()), 1e-300)).round().astype(np.uint8).tobytes().hex()


def pictured(rows: Sequence[Mapping[str, Any]], side: int) -> Array:
    """(count, side, side): back again; pictures are stored column by column."""
    flat = [np.frombuffer(bytes.fromhex(str(row["pixels"])[1:]), np.uint8) for row in rows]
    return np.array([pixels.reshape(side, side, order="F") for pixels in flat], np.float64)
