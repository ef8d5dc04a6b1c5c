"""What `partwise plan --epsilon` tells: how a privacy budget would be spent, round by round, from public numbers alone."""

from __future__ import annotations

from typing import NamedTuple

from partwise.cli import screen
from partwise.errors import OptionError
from partwise.privacy.accountant import Accountant, Neighbours
from partwise.privacy.events import Gaussian
from partwise.privacy.statement import meaning, unit
from partwise.privacy.terms import Terms
from partwise.reports.quantities import counted

SHOWN = 12  # rounds on the page, at most; --json has all
BAR = 30  # characters


class Spending(NamedTuple):
    """A plan: nothing of it depends on data."""

    terms: Terms
    start: float  # μ of the start; 0: a public one
    each: float  # μ of each round
    epsilons: list[float]  # after the start (where it costs) and after each round
    first: int  # the round of the first of them: 0 where the start costs

    @property
    def accountant(self) -> Accountant:
        """At the end."""
        return Accountant(
            self.terms.neighbours, self.start**2 + (len(self.epsilons) - (self.first == 0)) * self.each**2
        )


def spend(
    epsilon: float, delta: float | None, records: int | None, rounds: int, start_share: float, neighbours: Neighbours
) -> Spending:
    """Split the budget as a private run does."""
    if delta is None:
        raise OptionError("A budget is ε and δ: give --delta, far below one by the number of records, such as 1e-5.")
    if records is None:
        raise OptionError(
            "Give --records, how many records there are: that number must be public, and is not read from the data."
        )
    terms = Terms(delta, records, epsilon, neighbours=neighbours)
    assert terms.budget is not None
    start, each = terms.budget.rounds(rounds, start_share)
    spent, epsilons = terms.accountant(), []
    for mu in [start] * (start > 0) + [each] * rounds:
        spent = spent.after(Gaussian(1 / mu))
        epsilons.append(spent.epsilon(delta))
    return Spending(terms, start, each, epsilons, 0 if start > 0 else 1)


def tell(plan: Spending) -> None:
    """The promise, the noise, and ε so far over the rounds."""
    terms, alone = plan.terms, Accountant(plan.terms.neighbours).after(Gaussian(1 / plan.each))
    rounds = len(plan.epsilons) - (plan.first == 0)
    noise = f"σ = {1 / plan.each:.4g} times the sensitivity; alone it would cost ε = {alone.epsilon(terms.delta):.3g}"
    rows = [
        ("unit", unit(terms)),
        ("meaning", meaning(terms.unit, plan.accountant, plan.epsilons[-1], terms.delta)),
        ("each round", noise),
    ]
    if plan.start:
        rows.insert(2, ("start", f"σ = {1 / plan.start:.4g} times the sensitivity"))
    rows += [(_name(plan.first + at), _bar(plan.epsilons[at], plan.epsilons[-1])) for at in _shown(len(plan.epsilons))]
    screen.show(f"ε = {terms.epsilon:g} at δ = {terms.delta:g} in {counted(rounds, 'round')}", rows)


def _name(t: int) -> str:
    return f"round {t}" if t else "after start"


def _shown(count: int) -> list[int]:
    """The first, the last, and some between, evenly."""
    if count <= SHOWN:
        return list(range(count))
    return sorted({round(at * (count - 1) / (SHOWN - 1)) for at in range(SHOWN)})


def _bar(epsilon: float, most: float) -> str:
    return f"ε = {epsilon:<7.4g} {'█' * max(1, round(BAR * epsilon / most))}"


def tell_json(plan: Spending) -> None:
    """epsilon after each round, noise multipliers."""
    facts = {"terms": plan.terms.to_json(), "epsilon": plan.epsilons[-1], "delta": plan.terms.delta}
    rounds = [{"round": plan.first + at, "epsilon": epsilon} for at, epsilon in enumerate(plan.epsilons)]
    screen.show_json(
        {
            **facts,
            "noise_multiplier": 1 / plan.each,
            "start_noise_multiplier": 1 / plan.start if plan.start else None,
            "rounds": rounds,
        }
    )
