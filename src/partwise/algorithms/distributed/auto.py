"""`algorithm="auto"`: which method on so many ranks, with what options, and the sentence why, by the model of what an iteration costs.

Seconds an iteration are comparable only among iterations that get equally far. PACE says how many plain HALS iterations one of each
method is worth, to an error 5 % above the best (docs/choosing.md): several sweeps on a pair and extrapolation are worth several, a small
careful step on a new sketch is worth a fifth.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

from partwise.algorithms.distributed.methods import refuse_unfit
from partwise.algorithms.distributed.model import Estimate, Speed, estimate
from partwise.algorithms.single.auto import sampling_pays
from partwise.algorithms.single.problem import Problem
from partwise.comm import Network
from partwise.errors import OptionError

PACE: Mapping[str, float] = {"did": 4.0, "hpc-anls-hals": 3.0, "d-hals": 3.0, "sketched": 8.0, "dsanls": 0.2}
OPTIONS: Mapping[str, Mapping[str, Any]] = {
    "did": {"acceleration": "auto", "extrapolate": "auto"}, "hpc-anls-hals": {"acceleration": "auto"}, "d-hals": {"acceleration": "auto"},
}  # fmt: skip
QUIET = 0.2  # of the time in messages, at most: a sample needs as many as all of X, so beyond it saves nothing


class Choice(NamedTuple):
    """A method, how it is set, and why."""

    algorithm: str
    options: Mapping[str, Any]
    why: str
    estimate: Estimate


def choose(
    problem: Problem, ranks: int, itemsize: int, network: Network | None = None, speed: Speed | None = None,
    grid: tuple[int, int] | None = None, among: Collection[str] = tuple(PACE),
) -> Choice:  # fmt: skip
    """The method that gets far soonest by the model; `among` these alone, where X lies such that others cannot be had."""
    network = network or Network()
    found = [
        made for name in PACE if name in among
        and (made := _possible(name, problem, ranks, itemsize, network, speed, grid)) is not None
    ]  # fmt: skip
    if not found:
        refuse_unfit("did", problem)  # its reason is that of all
        raise OptionError(
            "No method for a cluster can do all that is asked; factorize on one machine, or leave a wish out."
        )
    best, *others = sorted(found, key=_price)
    return Choice(best.name, OPTIONS.get(best.name, {}), _why(best, others, problem, ranks), best)


def _possible(
    name: str,
    problem: Problem,
    ranks: int,
    itemsize: int,
    network: Network,
    speed: Speed | None,
    grid: tuple[int, int] | None,
) -> Estimate | None:
    """The estimate, if the method can do what is asked and there is a reason to take it."""
    if name == "sketched" and not sampling_pays(problem):
        return None
    try:
        made = estimate(name, problem, ranks, itemsize, network, speed, grid, OPTIONS.get(name, {}))
    except OptionError:
        return None
    return None if name == "sketched" and made.talking.seconds > QUIET * made.seconds else made


def _price(made: Estimate) -> float:
    """Seconds for as much as a plain HALS iteration gets done."""
    return made.seconds / PACE[made.name]


def _why(best: Estimate, others: Sequence[Estimate], problem: Problem, ranks: int) -> str:
    """How long an iteration takes, how much of it is messages, and who is next."""
    in_messages = best.talking.seconds / best.seconds if best.seconds else 0.0
    said = (
        f"for k = {problem.k} on {ranks:,} rank{'s' * (ranks > 1)} the model gives it {_milliseconds(best.seconds)} an iteration, "
        f"{100 * in_messages:.3g} % of it messages"
    )
    if best.name == "sketched":
        return f"{said}; some of so many dense rows or columns teach nearly what all would, then DID on all"
    if not others:
        return said
    times = _price(others[0]) / max(_price(best), 1e-300)
    return f"{said}; {others[0].name}, next, would be {times:.3g} times as long about it"


def _milliseconds(seconds: float) -> str:
    return f"{1e3 * seconds:.3g} ms" if seconds < 1 else f"{seconds:.3g} s"
