"""What an experiment is: what a paper claims, how it is measured here, and when the claim is said to hold."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, NamedTuple, TypeVar, final

from partwise.reports.figures import Figure
from partwise.reports.tables import Cells

Value = str | int | float
Case = dict[str, Value]  # the settings of one run; together they are its name
Row = dict[str, Any]  # what was measured, beside the settings of its run
Rows = Sequence[Row]
T = TypeVar("T")


class Size(StrEnum):
    """How much of it: a moment on invented data, two minutes, or as the paper has it as far as data and machine allow."""

    TINY = "tiny"
    QUICK = "quick"
    FULL = "full"

    def pick(self, tiny: T, quick: T, full: T) -> T:
        """The one for this size."""
        return {Size.TINY: tiny, Size.QUICK: quick, Size.FULL: full}[self]


class Finding(NamedTuple):
    """One criterion, and what was seen."""

    criterion: str  # a sentence that is true or false
    met: bool
    seen: str  # the numbers


class Verdict(StrEnum):
    """What becomes of a claim."""

    HOLDS = "holds"
    PART = "holds in part"
    NOT = "does not hold here"


def verdict(findings: Sequence[Finding]) -> Verdict:
    """Holds if all criteria are met, in part if some are."""
    met = sum(finding.met for finding in findings)
    return Verdict.HOLDS if met == len(findings) else Verdict.PART if met else Verdict.NOT


@final
@dataclass(frozen=True)
class Experiment:
    """A figure or a table of a paper."""

    paper: str
    name: str
    title: str
    claim: str  # the paper's own, in words and numbers
    data: Sequence[str]  # as the caption names them; stand-ins among them named as such
    cases: Callable[[Size], Sequence[Case]]
    measure: Callable[[Case, Size], Rows]  # one run; the settings of the case are added to each row
    judge: Callable[[Rows], Sequence[Finding]]
    table: Callable[[Rows], Cells]
    figure: Callable[[Rows], Figure] | None = None
    minutes: Mapping[Size, float] = field(
        default_factory=lambda: {Size.QUICK: 2.0, Size.FULL: 30.0}
    )  # about, until a stored result says it as measured
    names: Sequence[str] = ("data", "method", "seed", "t")  # columns that say which row it is
    same: Mapping[str, float] = field(default_factory=dict)  # column → relative tolerance when results are compared
    sets: Mapping[str, str] = field(default_factory=dict)  # `data` of a case → data set; what is not here is invented
    reason: str | Callable[[Rows], str] = (
        ""  # where the claim does not hold in full: why, once it was found out, with what showed it
    )

    def because(self, rows: Rows) -> str:
        """Why the claim does not hold in full, by what these rows show."""
        return self.reason if isinstance(self.reason, str) else self.reason(rows)

    def about(self, size: Size) -> float:
        """The minutes that it takes, about, where no stored result says it as measured."""
        return self.minutes.get(size, 0.1)

    @property
    def key(self) -> str:
        """dsanls-fig5."""
        return f"{self.paper}-{self.name}"


def on(met: Sequence[Value], of: int) -> str:
    """On 2 of 3: MNIST, FACE."""
    return f"on {len(met)} of {of}: {', '.join(map(str, met)) or 'none'}"


def only(rows: Rows, **settings: Value) -> list[Row]:
    """The rows with these settings."""
    return [row for row in rows if all(row.get(name) == value for name, value in settings.items())]


def values(rows: Rows, name: str) -> list[Any]:
    """A column, each value once, in the order of appearance."""
    return list(dict.fromkeys(row[name] for row in rows))
