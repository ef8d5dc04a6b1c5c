"""`solver="auto"`: which method, with what options, and the sentence why (measured: docs/decisions/0008-auto.md)."""

from __future__ import annotations

from typing import NamedTuple

from partwise.algorithms.single.methods import Problem, sweeps_beside_pair


class Choice(NamedTuple):
    """A method's name and why it was picked."""

    solver: str
    why: str


def choose(problem: Problem) -> Choice:
    """By the loss, then how often HALS sweeps a pair by shape, density and k.

    Exact solutions (bpp) and a compressed X (randomized) were faster on some correlated data and slower on the rest, which
    shape, density and k do not tell apart; sketches (sanls) never were.
    """
    if problem.beta != 2:
        return Choice("mu", f"for β = {problem.beta:g} only multiplicative updates apply")
    on_W, on_H = sweeps_beside_pair(problem)
    per_row = problem.nnz / problem.shape[0]
    return Choice(
        "hals",
        f"for k = {problem.k} and {per_row:,.0f} entries a row: {on_W} sweeps of W and {on_H} of H a pass over X",
    )
