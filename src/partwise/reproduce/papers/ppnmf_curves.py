"""Saha & Imtiaz, Figures 2 and 5: learning curves, private and not, on texts and on faces."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from partwise.metrics import objective
from partwise.reports.figures import Figure, Panel
from partwise.reports.quantities import ratio
from partwise.reports.tables import Cells
from partwise.reproduce import curves
from partwise.reproduce.experiment import Case, Experiment, Finding, Row, Rows, Size, only, values
from partwise.reproduce.material import FACES, FACES_NAMES, FACES_SETS, TOPICS, TOPICS_NAMES, TOPICS_SETS
from partwise.reproduce.papers.ppnmf_forms import (
    CUT,
    FORMS,
    PRINTED,
    PROVED,
    VALID,
    Setting,
    at_end,
    base_of,
    cases_of,
    gaps,
    learnt,
    named,
    percents,
)
from partwise.reproduce.privately import NON_PRIVATE

LOW, HIGH = 0.5, 0.9  # ε_i
RUNS = [(form, each) for form in (PRINTED, CUT, PROVED, VALID) for each in (NON_PRIVATE, LOW, HIGH)]
NOTED = (1, 2, 3, 5, 7, 10, 15, 20, 30, 40, 60, 80, 100)
SMALL = 0.1  # a gap; the paper names no number
SHARE = "objective (15) ÷ its non-private end"


def learning_cases(data: Sequence[str]) -> Callable[[Size], list[Case]]:
    """Each form without noise, and at two ε_i."""
    return lambda size: cases_of(data, RUNS, size.pick(1, 1, 3))


def learning_measure(case: Case, size: Size) -> list[Row]:
    """The objective (15) at some epochs."""
    setting = Setting(str(case["data"]), size, str(case["form"]), float(case["each"]))
    X, _ = setting.load()
    return [
        {"t": one.t, "objective": objective(one.H, X), "total": one.total}
        for one in learnt(setting, int(case["seed"]))
        if one.t in NOTED or one.t == setting.rounds
    ]


def learning_judge(rows: Rows) -> list[Finding]:
    """The paper's three claims as it ran the experiment; then what is left of the first where the ε holds."""
    low, high = (gaps(rows, PRINTED, each) for each in (LOW, HIGH))
    proved, valid = gaps(rows, PROVED, HIGH), gaps(rows, VALID, HIGH)
    alone = gaps(rows, VALID, NON_PRIVATE)
    plain = {data: epochs_needed(rows, data, NON_PRIVATE) for data in values(rows, "data")}
    private = {data: epochs_needed(rows, data, LOW) for data in values(rows, "data")}
    return [
        Finding("“For all the data sets, there exists a little utility gap”: below 10 % of the objective, as printed.",
                max(*low.values(), *high.values()) < SMALL, f"ε_i = {LOW:g}: {percents(low)}; ε_i = {HIGH:g}: {percents(high)}"),
        Finding("“This gap decreases further for a higher privacy budget ε”.", all(high[data] < low[data] for data in low),
                f"from ε_i = {LOW:g} to {HIGH:g}: " + ", ".join(f"{data} {100 * (high[data] - low[data]):+.2g} points" for data in low)),
        Finding("“Private learning needs more epochs to reach the optimum loss point” (within 1 % of its own end).",
                all(private[data] > plain[data] for data in plain),
                ", ".join(f"{data} {plain[data]:g} → {private[data]:g}" for data in plain)),
        Finding(f"The gap is as little under the privacy that is stated: rows of length one (ε_i = {HIGH:g}).",
                max(proved.values()) < SMALL, percents(proved)),
        Finding(f"… and a start that does not look at the data (ε_i = {HIGH:g}).", max(valid.values()) < SMALL,
                f"{percents(valid)}; without any noise that start alone costs {percents(alone)}"),
    ]  # fmt: skip


def epochs_needed(rows: Rows, data: str, each: float) -> float:
    """Until within 1 % of the own end, as printed; the median over seeds."""
    needed = []
    for seed in values(only(rows, data=data, form=PRINTED, each=each), "seed"):
        mine = only(rows, data=data, form=PRINTED, each=each, seed=seed)
        needed.append(min(row["t"] for row in mine if row["objective"] <= 1.01 * mine[-1]["objective"]))
    return float(np.median(needed))


def learning_figure(rows: Rows) -> Figure:
    """Objective over epochs, in units of the non-private end of the same rows."""
    shares = [{**row, "share": row["objective"] / base(rows, row)} for row in rows]
    shown = [row for row in shares if row["form"] == PRINTED or row["each"] == LOW]
    panels = [
        Panel(data, curves.over(only(shown, data=data), "t", "share"), "epochs", SHARE, "log", "log")
        for data in values(rows, "data")
    ]
    return Figure(panels, order=values(shown, "method"))


def base(rows: Rows, row: Row) -> float:
    """The non-private end of the same rows of X."""
    return curves.median(at_end(rows, row["data"], base_of(row["form"]), NON_PRIVATE), "objective")


def learning_table(rows: Rows) -> Cells:
    """At the end."""
    cells = [["objective (15) at the end", *values(rows, "data")]]
    return cells + [
        [named(form, each), *(ratio(curves.median(at_end(rows, data, form, each), "objective")) for data in cells[0][1:])]
        for form, each in RUNS
    ]  # fmt: skip


KEY = ("data", "method", "seed", "t")
FIG2 = Experiment(
    "ppnmf", "fig2", "Learning curves on texts",
    "“For all the data sets, there exists a little utility gap [between private and non-private], and this gap decreases further for a "
    "higher privacy budget ε”; “private learning needs more epochs to reach the optimum loss point”.",
    (*TOPICS_NAMES, FORMS), learning_cases(list(TOPICS)), learning_measure, learning_judge, learning_table, learning_figure,
    {Size.QUICK: 0.2, Size.FULL: 3}, KEY, {"objective": 1e-4}, TOPICS_SETS,
    reason="The gap is small on texts because little is learned: from the first epoch to the non-private end the objective falls by 1.3, "
    "5.1, 0.6 and 4.1 % (in the order of the table), for NNDSVD of the data is nearly there. On Guardian and RCV1 the search takes "
    "the shortest steps and private learning stays at its start (within 0.2 %), which is why it is at its own optimum at once; with "
    "1,000 epochs, tried, it was the same on RCV1, and 1.2 % above the non-private end on Guardian. From a start that does not look "
    "at the data the noise leaves nothing to learn from but on UCI-news, whose 93 words are few. The steps that the search takes "
    "are the paper's reason for more epochs; where it takes the longest (UCI-news) private learning is as fast as the other.",
)  # fmt: skip
FIG5 = Experiment(
    "ppnmf", "fig5", "Learning curves on faces",
    "“All the characteristics of the simulation result are similar to the text data sets result. The utility gap is very small and is "
    "even smaller for higher privacy budget”.",
    (*FACES_NAMES, FORMS), learning_cases(list(FACES)), learning_measure, learning_judge, learning_table, learning_figure,
    {Size.QUICK: 0.2, Size.FULL: 4}, KEY, {"objective": 1e-4}, FACES_SETS,
    reason="The gap is that small because the noise is: rows whose largest entry is one have a mean squared length of 171 (YaleB) and 135 "
    "(CBCL), and noise is added as for length one, so that the stated ε does not hold. With rows of length one and nothing else "
    "changed the gap is 35 to 45 %, with a valid start as well 63 to 210 %, of which the start alone costs 11 and 97 %. Section 3.2 "
    "also brings columns of H to length one, which Algorithm 2 does not show: then the gap is 18 to 29 %, the search takes a "
    "shorter step on CBCL, and parts look as in the paper's Figure 7. No reading gives a gap as small, a slower start and a "
    "guarantee at once. Without much noise private learning takes the same steps as non-private, and needs as many epochs.",
)  # fmt: skip
