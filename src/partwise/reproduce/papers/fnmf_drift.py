"""Dalleiger & Gionis, Figure 3: convergence, and drift with many local steps."""

from __future__ import annotations

import math

from partwise.data.simulate_blocks import blocks
from partwise.reports.figures import Figure, Panel
from partwise.reports.tables import Cells
from partwise.reproduce import curves
from partwise.reproduce.experiment import Case, Experiment, Finding, Row, Rows, Size, only, values
from partwise.reproduce.papers.fnmf_methods import BLOCKS, FNMF, METHODS, ONCE, OURS, PLAIN, run, told
from partwise.reproduce.parties import shared


def fig3_cases(size: Size) -> list[Case]:
    """Left: rounds of 100 local steps. Right: as many local steps in all, in fewer and fewer rounds, two at least."""
    methods = [m for m in METHODS if m not in ONCE]
    total = size.pick(20, 200, 300)
    steps = [s for s in (1, 10, 30, 100) if 2 * s <= total]
    left = [{"data": "rounds", "steps": size.pick(5, 100, 100), "rounds": size.pick(3, 10, 10)}]
    right = [{"data": "local steps", "steps": s, "rounds": max(1, total // s)} for s in steps]
    return [
        {**setting, "method": method, "seed": seed}
        for setting in (*left, *right)
        for method in methods
        for seed in range(size.pick(1, 1, 3))
        if not (method == OURS and setting["data"] == "local steps")
    ]


def fig3_measure(case: Case, size: Size) -> list[Row]:
    """Ten clients; every round on the left, the last on the right."""
    clients, n, m, k = size.pick((3, 45, 20, 3), (10, 1_000, 100, 10), (10, 2_000, 100, 10))
    seed, rounds = int(case["seed"]), int(case["rounds"])
    Xs = shared(blocks(n, m, k, seed=seed).X, clients, seed=seed)
    every = 1 if case["data"] == "rounds" else rounds
    rows = run(Xs, str(case["method"]), k, rounds, int(case["steps"]), seed, every=every)
    return [{"t": row["t"], "error": row["error"], "rmsd": row["rmsd"], "drift": row["drift"]} for row in rows]


def fig3_judge(rows: Rows) -> list[Finding]:
    """Where they end, how soon; and what many local steps do."""
    left, right = only(rows, data="rounds"), only(rows, data="local steps")
    ends = {m: curves.end(only(left, method=m)) for m in values(left, "method")}
    third = max(row["t"] for row in left) // 3 or 1
    soon = {m: curves.median(only(left, method=m, t=third), "error") / ends[m] for m in (*PLAIN, *FNMF)}
    few, many = 10 if 10 in values(right, "steps") else min(values(right, "steps")), max(values(right, "steps"))
    at = {s: {m: curves.end(only(right, method=m, steps=s)) for m in (*PLAIN, *FNMF)} for s in (few, many)}
    grew = {m: at[many][m] / at[few][m] for m in (*PLAIN, *FNMF)}
    return [
        Finding("“Almost all methods converge quickly”: after a third of the rounds within 10 % of their ends, all but one.",
                sum(times > 1.1 for times in soon.values()) <= 1, f"after {third} rounds: {told(soon, ' times')}"),
        Finding("“FedAvg and FedProx converge to a subpar solution and are outperformed by FNMF”, every one, with 100 local steps a round.",
                min(ends[m] for m in PLAIN) > max(ends[m] for m in FNMF), told(ends)),
        Finding(f"“All methods achieve about the same performance at approximately 10” local steps (here {few}): within a quarter.",
                max(at[few].values()) < 1.25 * min(at[few].values()), told(at[few])),
        Finding(f"With more ({many}) “FedAvg and FedProx deteriorate significantly”: by a quarter and more.",
                all(grew[m] > 1.25 for m in PLAIN), told({m: grew[m] for m in PLAIN}, " times")),
        Finding("“While FNMF stays low”: every one within a quarter.", all(grew[m] < 1.25 for m in FNMF),
                told({m: grew[m] for m in FNMF}, " times")),
    ]  # fmt: skip


def fig3_figure(rows: Rows) -> Figure:
    """Errors over rounds, over local steps, and the drift."""
    left, right = only(rows, data="rounds"), only(rows, data="local steps")
    last = [row for row in right if row["t"] == row["rounds"]]
    seen = [row for row in left if not math.isnan(row["drift"])]
    return Figure([
        Panel("100 local steps a round", curves.over(left, "t", "error"), "rounds", curves.ERROR, "linear", "log"),
        Panel("as many steps in fewer rounds", curves.over(last, "steps", "error"), "local steps a round", curves.ERROR, "log", "log"),
        Panel("drift, 100 local steps a round", curves.over(seen, "t", "drift"), "rounds", "√mean ‖H_p − H‖² / ‖H‖", "linear", "log"),
    ], order=list(METHODS))  # fmt: skip


def fig3_table(rows: Rows) -> Cells:
    """Errors at the end by local steps."""
    right = [row for row in only(rows, data="local steps") if row["t"] == row["rounds"]]
    left = only(rows, data="rounds")
    most = max(row["t"] for row in left)
    cells = curves.grid(right, "error", by="steps", line="method")
    cells[0][0] = "local steps a round"
    ends = curves.grid([row for row in left if row["t"] == most], "error", by="steps")[1]
    return [*cells, [f"{ends[0]}, {most} rounds", *ends[1 : len(cells[0])]]]


FIG3 = Experiment(
    "fnmf", "fig3", "Convergence, and drift with many local steps",
    "With 100 local iterations a round “almost all methods converge quickly and smoothly, FedAvg and FedProx converge to a subpar solution "
    "and are outperformed by FNMF”; all “achieve about the same performance at approximately 10” local steps, and with more “FedAvg and "
    "FedProx deteriorate significantly, while FNMF stays low”.",
    (BLOCKS, "ten clients, 2,000 rows, m = 100, k = 10; 10 rounds of 100 local steps, and 300 local steps in ever fewer rounds; the paper "
     "does not say its sizes"),
    fig3_cases, fig3_measure, fig3_judge, fig3_table, fig3_figure, {Size.QUICK: 0.6, Size.FULL: 4},
    ("data", "method", "steps", "seed", "t"), {"error": 1e-4},
    reason="What decides is γ, which the paper's text does not give. With 0.01, as here, FNMF holds what the paper says of drift; with "
    "0.1, our default, FNMF-LAP ends no lower than FedAvg with 100 local steps a round, and deteriorates by 2.3 times: the pull is "
    "taken at every local step (Algorithm 2) and adds up, so that parties cannot leave what their first rounds agreed on. γ = 0, "
    "tried, did as well as 0.01 (0.066 and 0.068 after 10 and 3 rounds of 100 steps). Ten rounds are few for “quickly”: after 3, "
    "FNMF is 8 to 14 % above its end. SK is not like the others at 10 local steps because each round's barycenter blends "
    "components: its error is 0.130 with 300 rounds, 0.095 with 30 and 0.074 with 10. Exact federated HALS has no local steps, and "
    "no drift.",
)  # fmt: skip
