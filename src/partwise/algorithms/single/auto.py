"""`solver="auto"`: which method, and the sentence why."""

from __future__ import annotations

from typing import NamedTuple

from partwise.algorithms.single.methods import Problem


class Choice(NamedTuple):
    """A method's name and why it was picked."""

    solver: str
    why: str


def choose(problem: Problem) -> Choice:
    """Measured in benchmarks/ (docs/decisions/0008-auto.md)."""
    if problem.beta != 2:
        return Choice("mu", f"for β = {problem.beta:g} only multiplicative updates apply")
    return Choice("hals", "accelerated HALS with extrapolation was the fastest to every error on least squares")
