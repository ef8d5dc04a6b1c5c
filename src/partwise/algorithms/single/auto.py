"""`solver="auto"`: which method, with what options, and the sentence why (measured: docs/decisions/0008-auto.md)."""

from __future__ import annotations

from typing import NamedTuple

from partwise.algorithms.single.methods import Problem, sweeps_beside_pair

MANY = 40  # rows for each component: below, samples hardly pay (docs/sketching.md)
SHORT = 2  # columns for each component: below, sweeps cost as much as the products that sampling saves
LEAST = 500_000  # entries: below, a fit takes a moment anyway


class Choice(NamedTuple):
    """A method's name and why it was picked."""

    solver: str
    why: str


def choose(problem: Problem) -> Choice:
    """By the loss; then by shape, density and k, whether HALS learns from samples first (`sketched`) and how often it sweeps a pair.

    Exact solutions (bpp) and a compressed X (randomized) were faster on some correlated data and slower on the rest, which
    shape, density and k do not tell apart; small steps on ever new sketches (sanls) never were.
    """
    if problem.beta != 2:
        return Choice("mu", f"for β = {problem.beta:g} only multiplicative updates apply")
    if sampling_pays(problem):
        side = "rows" if problem.shape[0] >= problem.shape[1] else "columns"
        return Choice(
            "sketched",
            f"for k = {problem.k} and {max(problem.shape):,} dense {side}: some teach nearly what all would; then hals on all",
        )
    on_W, on_H = sweeps_beside_pair(problem)
    per_row = problem.nnz / problem.shape[0]
    return Choice(
        "hals",
        f"for k = {problem.k} and {per_row:,.0f} entries a row: {on_W} sweeps of W and {on_H} of H a pass over X",
    )


def sampling_pays(problem: Problem) -> bool:
    """Whether X is dense and so long that a tenth of it is many rows for each component, and nothing is asked that `sketched` cannot do.

    A sparse X is fitted in few passes, sweeps of its long H take as long for a sample, and few of its rows tell little of rare columns.
    """
    n, m = problem.shape
    plain = problem.complete and not (problem.fixed or problem.rows_sum_to_one or problem.bounded)
    return plain and problem.nnz == n * m >= LEAST and max(n, m) >= MANY * problem.k and min(n, m) >= SHORT * problem.k
