"""Dalleiger & Gionis, Figure 4: the noise of differential privacy on what clients send."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from partwise.currency import Arrays
from partwise.data.simulate_blocks import blocks
from partwise.randomness import Purpose, generator
from partwise.reports.figures import Figure, Panel
from partwise.reports.quantities import ratio
from partwise.reports.tables import Cells
from partwise.reproduce import curves
from partwise.reproduce.experiment import Case, Experiment, Finding, Row, Rows, Size, only, values
from partwise.reproduce.papers.fnmf_methods import BLOCKS, FNMF, METHODS, PLAIN, run
from partwise.reproduce.parties import Saying, shared

PRIVATE = ("iPALM", "FedAvg", "FedProx", "FNMF-LAP", "FNMF-SK")
DELTA = 1e-5


def fig4_cases(size: Size) -> list[Case]:
    """Two mechanisms, and levels of ε for one upload."""
    levels = size.pick((1.0, 100.0), (0.1, 1.0, 10.0, 100.0, 1e3, 1e4), (0.1, 0.3, 1.0, 3.0, 10.0, 100.0, 1e4))
    return [
        {"data": mechanism, "method": method, "epsilon": epsilon, "seed": seed}
        for mechanism in ("Gaussian", "Laplace")
        for epsilon in levels
        for method in PRIVATE
        for seed in range(size.pick(1, 1, 3))
    ]


def noisy(mechanism: str, epsilon: float, seed: int) -> Saying:
    """V ⊕ N: σ = Δ/ε √(2 ln(5/4δ)), or Laplace of scale Δ/ε, for Δ = 1; what falls below zero becomes zero."""
    scale = math.sqrt(2 * math.log(1.25 / DELTA)) / epsilon if mechanism == "Gaussian" else 1 / epsilon

    def say(arrays: Arrays, t: int, p: int) -> Arrays:
        rng = generator(seed, Purpose.NOISE, t, p)
        draw = rng.normal if mechanism == "Gaussian" else rng.laplace
        return {name: np.maximum(A + draw(0, scale, A.shape), 0) for name, A in arrays.items()}

    return say


def fig4_measure(case: Case, size: Size) -> list[Row]:
    """The last round, ten clients."""
    clients, n, m, k, rounds, steps = size.pick(
        (3, 45, 20, 3, 2, 3), (10, 1_000, 100, 10, 6, 20), (10, 2_000, 100, 10, 6, 20)
    )
    seed = int(case["seed"])
    Xs = shared(blocks(n, m, k, seed=seed).X, clients, seed=seed)
    saying = noisy(str(case["data"]), float(case["epsilon"]), seed)
    last = run(Xs, str(case["method"]), k, rounds, steps, seed, every=rounds, saying=saying)[-1]
    return [{"error": last["error"], "rmsd": last["rmsd"]}]


def fig4_judge(rows: Rows) -> list[Finding]:
    """The shape of the curves."""
    levels = sorted(values(rows, "epsilon"))
    at = {mechanism: {m: [curves.median(only(rows, data=mechanism, method=m, epsilon=e), "rmsd") for e in levels]
                      for m in PRIVATE} for mechanism in values(rows, "data")}  # fmt: skip
    ends = {f"{mechanism} {m}": (y[0], y[-1]) for mechanism, here in at.items() for m, y in here.items()}
    low = {
        mechanism: {m: reached(levels, y, 1.1 * here["iPALM"][-1]) for m, y in here.items()}
        for mechanism, here in at.items()
    }
    ratios = {f"{name}, ε = {e:g}": min(here[m][i] for m in FNMF if m in here) / min(here[m][i] for m in PLAIN)
              for name, here in at.items() for i, e in enumerate(levels)}  # fmt: skip
    worst = max(ratios, key=lambda where: ratios[where])
    return [
        Finding("“A proportional relationship between deviation and privacy level until the RMSD has converged”: it falls as ε grows.",
                all(high < low for low, high in ends.values()),
                "; ".join(f"{name} {ratio(low)} → {ratio(high)}" for name, (low, high) in ends.items())),
        Finding("FNMF “achieves low deviation, much earlier than iPALM”: it is where iPALM ends (within 10 %) at a third of the ε or less.",
                all(3 * max(one[m] for m in FNMF if m in one) <= one["iPALM"] for one in low.values()),
                "; ".join(f"{name}: {', '.join(f'{m} from ε = {e:g}' for m, e in one.items())}" for name, one in low.items())),
        Finding("Its resilience is “at least on par with the differentially-private FedProx and FedAvg”: within 2 % at every level.",
                ratios[worst] <= 1.02, f"FNMF's best has {ratio(ratios[worst])} times their RMSD at worst ({worst}), "
                f"{ratio(min(ratios.values()))} times at best"),
    ]  # fmt: skip


def reached(levels: Sequence[float], deviations: Sequence[float], goal: float) -> float:
    """The least ε from which on the deviation is at most this."""
    above = [level for level, deviation in zip(levels, deviations, strict=True) if deviation > goal]
    return next((level for level in levels if not above or level > above[-1]), math.inf)


def fig4_figure(rows: Rows) -> Figure:
    """RMSD over ε."""
    x_label = "ε of one upload, if Δ were 1"
    panels = [
        Panel(
            f"{name} noise", curves.over(only(rows, data=name), "epsilon", "rmsd"), x_label, "mean RMSD", "log", "log"
        )
        for name in values(rows, "data")
    ]
    return Figure(panels, order=list(METHODS))


def fig4_table(rows: Rows) -> Cells:
    """RMSD by ε."""
    cells = [["", *PRIVATE]]
    for mechanism in values(rows, "data"):
        cells += [
            [f"{mechanism}, ε = {line[0]}", *line[1:]]
            for line in curves.grid(only(rows, data=mechanism), "rmsd", by="epsilon")[1:]
        ]
    return cells


FIG4 = Experiment(
    "fnmf", "fig4", "Noise of differential privacy on what clients send",
    "“A proportional relationship between deviation and privacy level until the RMSD has converged”; FNMF “achieves low deviation, much "
    "earlier than iPALM”, and “exhibits resilience at least on par with the differentially-private FedProx and FedAvg”.",
    (BLOCKS, "ten clients, 2,000 rows, m = 100, k = 10, 6 rounds of 20 local steps; noise as the paper states it with Δ = 1, for the "
     "paper gives no Δ: these ε are no guarantee"),
    fig4_cases, fig4_measure, fig4_judge, fig4_table, fig4_figure, {Size.QUICK: 0.5, Size.FULL: 2},
    ("data", "method", "epsilon", "seed"), {"rmsd": 1e-4},
    reason="At the largest noise FNMF-LAP is 4 % above FedAvg (SK: 1 %), and that is its proximity, not its alignment. Tried at ε = 0.1 "
    "(Gaussian, two seeds, γ = 0.1), LAP was hardly better than no alignment or a random one, so that nothing was left to align; "
    "with γ = 0 FNMF-LAP was below FedAvg, by 1 and 2 %, and at ε = 0.3 by 8 and 11 %: what local steps are drawn to is the noise "
    "of the round before. γ = 0.01 here; the paper does not give its own. What is called ε is that of one upload, and assumes a "
    "sensitivity of one, which components that nobody clips do not have.",
)  # fmt: skip
