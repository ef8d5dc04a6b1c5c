"""What the tests of printed algorithms share: a small problem, our iterates, and what docs/build_methods.py makes a page of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from partwise.algorithms.single.methods import Problem, method
from partwise.data import as_matrix

ITERATIONS = 20
K = 4


@dataclass(frozen=True)
class Page:
    """One page of docs/methods: the printed algorithm beside ours, both taken from the source."""

    solver: str
    title: str
    reference: str
    printed: tuple[Callable[..., Any], ...]  # the transcriptions, in the paper's letters
    ours: tuple[Any, ...]  # what they are compared with
    table: tuple[tuple[str, str, str], ...]  # paper, here, held by
    cost: str
    good_for: str
    differences: tuple[str, ...] = ()
    where: str = "one machine"  # or "parties", ...: the part of the index that it is in


def start(seed=0, shape=(23, 17)):
    """X (n, m) and a start: W (n, k), H (k, m), all positive."""
    rng = np.random.default_rng(seed)
    n, m = shape
    X = rng.gamma(0.7, 1, (n, K)) @ rng.gamma(0.7, 1, (K, m)) + 0.2 * rng.random(shape) + 0.01
    return X, rng.uniform(0.1, 1, (n, K)), rng.uniform(0.1, 1, (K, m))


def ours(solver, X, W, H, iterations=ITERATIONS, beta=2.0, seed=0, **options):
    """Our (W, H) after each iteration."""
    held = as_matrix(X)
    step = method(solver, Problem(held.shape, held.nnz, K, beta=beta, seed=seed), options)
    state = step.init(held, np.ascontiguousarray(W.T), H)
    for t in range(1, iterations + 1):
        state = step.step(held, state, t)
        yield state.Wt.T, state.H


def assert_same(mine, theirs, rtol=1e-7):
    """Our iterates and (W, H) of the transcription, every iteration, to rounding."""
    pairs = list(zip(mine, theirs, strict=True))
    assert len(pairs) == ITERATIONS
    for t, ((W, H), (W_printed, H_printed)) in enumerate(pairs):
        np.testing.assert_allclose(W, W_printed, rtol=rtol, atol=1e-10, err_msg=f"W, iteration {t + 1}")
        np.testing.assert_allclose(H, H_printed, rtol=rtol, atol=1e-10, err_msg=f"H, iteration {t + 1}")


def on_ranks(name, X, W, H, ranks=3, **rest):
    """The (W, H) of a method for a cluster after each iteration, on simulated ranks."""
    from distributed.runs import run, whole

    found = run(name, X, ranks, ITERATIONS, start=(np.ascontiguousarray(W.T), H), **rest)
    for states in found.path:
        Wt, H_t = whole(found.cut, states)
        yield Wt.T, H_t
