"""Saha & Imtiaz: Privacy Preserving Non-Negative Matrix Factorization with Outliers. Learning curves and what they cost."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from partwise.metrics import objective
from partwise.reports.figures import Figure, Panel
from partwise.reports.quantities import ratio
from partwise.reports.tables import Cells
from partwise.reproduce import curves
from partwise.reproduce.experiment import Case, Experiment, Finding, Row, Rows, Size, on, only, values
from partwise.reproduce.material import FACES, FACES_NAMES, FACES_SETS, TOPICS, TOPICS_NAMES, TOPICS_SETS, Data
from partwise.reproduce.papers.ppnmf_parts import PARTS
from partwise.reproduce.papers.ppnmf_ratings import TABLE4
from partwise.reproduce.papers.ppnmf_topics import TOPICS_EXPERIMENTS
from partwise.reproduce.privately import NON_PRIVATE, TUNED, last, ours, total_epsilon, tuned, unit

PUBLISHED, VALID, OURS = "as published", "valid start", "ours"
NON = "non-private"
NOTED = (1, 3, 7, 15, 25, 40, 60, 80, 100, 150, 200)
LEVELS = (0.5, 0.9)


def rounds_of(size: Size) -> int:
    """Epochs."""
    return size.pick(3, 20, 200)


def named(kind: str, each: float) -> str:
    """valid start, ε_i = 0.5."""
    return f"ε_i = {each:g}" if kind == PUBLISHED else f"{kind}, ε_i = {each:g}"


def learning_cases(data: Sequence[str]) -> Callable[[Size], list[Case]]:
    """Non-private, then ε_i of each epoch with the paper's start, which leaks, and the smallest with a valid one."""
    runs = [(NON, PUBLISHED, NON_PRIVATE), *((named(PUBLISHED, e), PUBLISHED, e) for e in LEVELS),
            (named(VALID, LEVELS[0]), VALID, LEVELS[0])]  # fmt: skip

    def cases(size: Size) -> list[Case]:
        return [
            {"data": name, "method": method, "kind": kind, "each": each, "seed": seed}
            for name in data
            for method, kind, each in runs
            for seed in range(size.pick(1, 1, 3))
        ]

    return cases


def learning(data: Data) -> Callable[[Case, Size], list[Row]]:
    """The objective (15) at some epochs."""

    def measure(case: Case, size: Size) -> list[Row]:
        X, k = data[str(case["data"])](size)
        X, rounds, seed = unit(X), rounds_of(size), int(case["seed"])
        start = "nndsvd" if case["kind"] == PUBLISHED else "random"
        made = tuned(X, k, float(case["each"]), rounds, seed, start=start)
        return [
            {"t": one.t, "objective": objective(one.H, X), "total": one.total}
            for one in made
            if one.t in NOTED or one.t == rounds
        ]

    return measure


def ended(rows: Rows, **which: str) -> float:
    """The objective at the last epoch."""
    mine = only(rows, **which)
    return (
        curves.median([row for row in mine if row["t"] == max(row["t"] for row in mine)], "objective")
        if mine
        else math.nan
    )


def learning_judge(rows: Rows) -> list[Finding]:
    """Gaps, their order, and the start's part in them."""
    gap = {data: {m: ended(rows, data=data, method=m) / ended(rows, data=data, method=NON) - 1 for m in values(rows, "method")}
           for data in values(rows, "data")}  # fmt: skip
    low, high = named(PUBLISHED, LEVELS[0]), named(PUBLISHED, LEVELS[-1])
    small = [data for data, here in gap.items() if here[high] < 0.1]
    fall = [data for data, here in gap.items() if here[high] < here[low]]
    valid = [data for data, here in gap.items() if here[named(VALID, LEVELS[0])] <= 0.1]
    learnt = {data: ended(rows, data=data, method=low) / first(rows, data, low) for data in gap}
    seen = "; ".join(
        f"{data}: {', '.join(f'{m} {100 * g:.0f} %' for m, g in here.items() if m != NON)}"
        for data, here in gap.items()
    )
    return [
        Finding(f"The gap to non-private learning is small: below 10 % of the objective at ε_i = {LEVELS[-1]:g}.",
                len(small) == len(gap), seen),
        Finding("The gap falls as ε_i grows.", len(fall) == len(gap), on(fall, len(gap))),
        Finding(f"Private learning learns: at ε_i = {LEVELS[0]:g} it ends 2 % and more below its first epoch, that is, below its start.",
                all(share < 0.98 for share in learnt.values()),
                ", ".join(f"{data}: {ratio(share)} times" for data, share in learnt.items())),
        Finding(f"The gap is small with a start that is private too (ε_i = {LEVELS[0]:g}).", len(valid) == len(gap), on(valid, len(gap))),
    ]  # fmt: skip


def first(rows: Rows, data: str, method: str) -> float:
    """The objective after one epoch."""
    return curves.median([row for row in only(rows, data=data, method=method) if row["t"] == 1], "objective")


def learning_figure(rows: Rows) -> Figure:
    """Objective over epochs."""
    panels = [
        Panel(data, curves.over(only(rows, data=data), "t", "objective"), "epochs", "objective (15)", "log", "log")
        for data in values(rows, "data")
    ]
    return Figure(panels, order=values(rows, "method"))


def learning_table(rows: Rows) -> Cells:
    """At the end."""
    cells = [["data", *values(rows, "method")]]
    return cells + [
        [data, *(ratio(ended(rows, data=data, method=m)) for m in cells[0][1:])] for data in values(rows, "data")
    ]


EACH = (0.1, 0.2, 0.5, 0.7, 0.9, 0.999)


def budget_cases(data: Sequence[str]) -> Callable[[Size], list[Case]]:
    """ε_i against where it ends; our method at the paper's total ε beside it."""

    def cases(size: Size) -> list[Case]:
        levels = size.pick(EACH[2:3], (0.1, 0.999), EACH)
        private = [(kind, each) for kind in (PUBLISHED, VALID, OURS) for each in levels]
        return [
            {"data": name, "method": kind, "each": each, "seed": seed}
            for name in data
            for kind, each in [(NON, NON_PRIVATE), *private]
            for seed in range(size.pick(1, 1, 3))
        ]

    return cases


def budget(data: Data) -> Callable[[Case, Size], list[Row]]:
    """The objective after the last epoch, and the total ε by the paper's formula."""

    def measure(case: Case, size: Size) -> list[Row]:
        X, k = data[str(case["data"])](size)
        X, rounds, seed, each = unit(X), rounds_of(size), int(case["seed"]), float(case["each"])
        total = total_epsilon(each, rounds) if each < NON_PRIVATE else NON_PRIVATE
        if case["method"] == OURS:
            return [{"total": total, "objective": objective(ours(X, k, total, seed), X)}]
        start = "random" if case["method"] == VALID else "nndsvd"
        return [{"total": total, "objective": objective(last(X, k, each, rounds, seed, start=start), X)}]

    return measure


def budget_judge(rows: Rows) -> list[Finding]:
    """Utility against total privacy."""
    falls, small, valid, told = [], [], [], []
    for data in values(rows, "data"):
        here = only(rows, data=data)
        levels = sorted(each for each in values(here, "each") if each < NON_PRIVATE)
        at = {kind: [curves.median(only(here, method=kind, each=e), "objective") for e in levels]
              for kind in (PUBLISHED, VALID, OURS)}  # fmt: skip
        base = curves.median(only(here, method=NON), "objective")
        falls += [data] if at[PUBLISHED][-1] <= at[PUBLISHED][0] else []
        small += [data] if max(at[PUBLISHED]) < 1.1 * base else []
        valid += [data] if max(at[VALID]) < 1.1 * base else []
        told.append(f"{data}: non-private {ratio(base)}; "
                    + ", ".join(f"{kind} {ratio(y[0])} → {ratio(y[-1])}" for kind, y in at.items()))  # fmt: skip
    count, totals = len(told), sorted({row["total"] for row in rows if row["total"] < NON_PRIVATE})
    return [
        Finding("More total ε, a lower objective.", len(falls) == count,
                f"from ε = {ratio(totals[0])} to {ratio(totals[-1])}: {'; '.join(told)}"),
        Finding("The gap to non-private learning is small throughout: below 10 %.", len(small) == count, on(small, count)),
        Finding("It is small with a start that is private too.", len(valid) == count, on(valid, count)),
    ]  # fmt: skip


def budget_figure(rows: Rows) -> Figure:
    """Objective over total ε, with the non-private one as a level."""
    panels = [
        Panel(data, curves.over([row for row in only(rows, data=data) if row["total"] < NON_PRIVATE], "total", "objective"),
              "total ε", "objective (15)", "log", "log", [(NON, curves.median(only(rows, data=data, method=NON), "objective"))])
        for data in values(rows, "data")
    ]  # fmt: skip
    return Figure(panels, order=[PUBLISHED, VALID, OURS])


def budget_table(rows: Rows) -> Cells:
    """By data and ε_i."""
    cells = [["data", "ε_i", "total ε", NON, PUBLISHED, VALID, OURS]]
    for data in values(rows, "data"):
        here = only(rows, data=data)
        base = curves.median(only(here, method=NON), "objective")
        for each in [e for e in values(here, "each") if e < NON_PRIVATE]:
            numbers = [
                curves.median(only(here, method=kind, each=each), "objective") for kind in (PUBLISHED, VALID, OURS)
            ]
            total = curves.median(only(here, each=each), "total")
            cells.append([data, f"{each:g}", ratio(total), ratio(base), *map(ratio, numbers)])
    return cells


CURVE = ("data", "method", "seed", "t")
START = (
    "PPNMF's small gap comes from its start: NNDSVD of the data leaks it, and the search for a step then finds one so "
    "short that the components hardly move from there. From a start that is private too the same noise leaves nothing "
    "to learn from. Rows are of length one here, as the proof needs, where the paper scales their largest entry to "
    "one and so adds less noise than it accounts for."
)
TOTAL = (
    " The ε_i below one of the paper's tables are those of one epoch; what counts is their total. At a large total "
    "our own method, whose releases are few, is below PPNMF as published and may be below the non-private epochs of "
    "gradient descent; at the smallest, with the few records of the quick form, its noise is too large as well."
)
BUDGET = ("data", "method", "each", "seed")
EXPERIMENTS = (
    Experiment(
        "ppnmf", "fig2", "Learning curves on texts",
        "There is a little utility gap between private and non-private learning on all texts, and it decreases for higher ε.",
        (*TOPICS_NAMES, TUNED), learning_cases(list(TOPICS)), learning(TOPICS), learning_judge, learning_table,
        learning_figure, {Size.QUICK: 1.5, Size.FULL: 60}, CURVE, {"objective": 1e-4}, TOPICS_SETS,
        reason=START,
    ),
    Experiment(
        "ppnmf", "fig3", "Total ε and objective on texts",
        "The total ε beside the utility gap lets one choose ε_i; the gap is small throughout.",
        (*TOPICS_NAMES, TUNED), budget_cases(list(TOPICS)), budget(TOPICS), budget_judge, budget_table, budget_figure,
        {Size.QUICK: 1.5, Size.FULL: 60}, BUDGET, {"objective": 1e-4}, TOPICS_SETS,
        reason=START + TOTAL,
    ),
    *TOPICS_EXPERIMENTS,
    Experiment(
        "ppnmf", "fig5", "Learning curves on faces",
        "The utility gap is very small on faces, and smaller for higher ε.",
        (*FACES_NAMES, TUNED), learning_cases(list(FACES)), learning(FACES), learning_judge, learning_table,
        learning_figure, {Size.QUICK: 1.5, Size.FULL: 60}, CURVE, {"objective": 1e-4}, FACES_SETS,
        reason=START,
    ),
    Experiment(
        "ppnmf", "fig6", "Total ε and objective on faces",
        "The total ε beside the utility gap lets one choose ε_i.",
        (*FACES_NAMES, TUNED), budget_cases(list(FACES)), budget(FACES), budget_judge, budget_table, budget_figure,
        {Size.QUICK: 1.5, Size.FULL: 60}, BUDGET, {"objective": 1e-4}, FACES_SETS,
        reason=START + TOTAL,
    ),
    *PARTS,
    TABLE4,
)  # fmt: skip
