"""Qian and others, Figures 8 and 9: iterations a second of the secure methods on 2 to 16 nodes."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

from partwise.comm import Network
from partwise.compare.clock import pinned
from partwise.currency import NormalEq
from partwise.randomness import Purpose, generator
from partwise.reports.figures import Figure, Panel
from partwise.reports.quantities import duration
from partwise.reports.tables import Cells
from partwise.reproduce import curves
from partwise.reproduce.experiment import Case, Finding, Row, Rows, Size, on, only, values
from partwise.reproduce.material import SECURE
from partwise.reproduce.papers.dsanls_secure import ASYN, DATA, METHODS, STEPS, SYN, run
from partwise.reproduce.ranks import ETHERNET, FREE, over
from partwise.updates import Hals


def scale_cases(size: Size) -> list[Case]:
    """2 to 16 nodes."""
    return [
        {"data": data, "method": method, "nodes": nodes, "seed": 0}
        for data in size.pick(DATA[1:2], DATA, DATA)
        for method in METHODS
        for nodes in size.pick((2, 4), (2, 8), (2, 4, 8, 16))
    ]


def scale_measure(spread: str) -> Callable[[Case, Size], list[Row]]:
    """Iterations a second: of a round of ten, after one that is not counted."""

    def measure(case: Case, size: Size) -> list[Row]:
        k, nodes = size.pick(3, 20, 100), int(case["nodes"])
        first, last = run(str(case["data"]), str(case["method"]), nodes, spread, k, 2, 0, size, 1)
        each = {name: (last[name] - first[name]) / STEPS for name in ("seconds", "talking", "messages", "bytes")}
        return [
            {
                **each,
                "rate": 1 / each["seconds"],
                "whole": whole(SECURE[str(case["data"])](size).shape[1], k),
                "error": last["error"],
            }
        ]

    return measure


def whole(m: int, k: int) -> float:
    """Seconds of what every node does by itself in a local step, however few its rows: HHᵀ, and a sweep over all of H (k, m)."""
    H = generator(0, Purpose.SIMULATE, 11).random((k, m))
    times = []
    with pinned(1):
        for _ in range(6):  # the first may compile
            began = time.process_time()
            Hals().solve(H, NormalEq(H @ H.T, H))
            times.append(time.process_time() - began)
    return min(times)


def rates(rows: Rows, nodes: int, network: Network = ETHERNET) -> dict[str, dict[str, float]]:
    """{data: {method: iterations a second}} on so many nodes."""

    def rate(data: str, method: str) -> float:
        return 1 / over(only(rows, data=data, method=method, nodes=nodes)[0], network)["seconds"]

    return {data: {m: rate(data, m) for m in METHODS} for data in values(rows, "data")}


def gains(rows: Rows, network: Network = ETHERNET) -> dict[str, dict[str, float]]:
    """{data: {method: iterations a second with the most nodes, over those with the fewest}}."""
    few, many = (rates(rows, end(values(rows, "nodes")), network) for end in (min, max))
    return {data: {m: rate / few[data][m] for m, rate in here.items()} for data, here in many.items()}


def gains_told(gain: Mapping[str, Mapping[str, float]]) -> str:
    """By data and method."""
    return "; ".join(f"{data}: {', '.join(f'{m} {g:.2g}' for m, g in here.items())}" for data, here in gain.items())


def fastest(rows: Rows, network: Network = ETHERNET) -> dict[str, str]:
    """{data: the method with most iterations a second at the most nodes}."""
    return {d: max(here, key=lambda m: here[m]) for d, here in rates(rows, max(values(rows, "nodes")), network).items()}


def why(rows: Rows) -> str:
    """With messages that cost nothing; and the part of computing that does not shrink, beside what every node does by itself."""
    fast = ", ".join(f"{data}: {m}" for data, m in fastest(rows, FREE).items())
    stays = []
    for data in values(rows, "data"):
        spent = {m: fixed(only(rows, data=data, method=m)) for m in ("Syn-SD", "Syn-SSD-UV")}
        told = ", ".join(f"{m} {duration(part)} of {duration(all_of_it)}" for m, (part, all_of_it) in spent.items())
        stays.append(f"{data} {told} ({duration(only(rows, data=data)[0]['whole'])})")
    return (
        f"With messages that cost nothing the gains are {gains_told(gains(rows, FREE))}; most iterations a second {fast}. So it is not the "
        f"messages alone. Of what a local iteration computes on {max(values(rows, 'nodes'))} nodes, this does not shrink with more of them "
        "(a of a + b / nodes), and so much of it (in brackets, measured alone) are HHᵀ and a sweep over all of H, which every node does by "
        f"itself and no sketch shortens: {'; '.join(stays)}."
    )


def fixed(rows: Rows) -> tuple[float, float]:
    """(a, a + b / nodes): of the seconds that an iteration computes, those that do not shrink; all of them on the most nodes."""
    few, many = (min(rows, key=lambda row: sign * row["nodes"]) for sign in (1, -1))
    before, after = (row["seconds"] - row["talking"] for row in (few, many))
    part = (after * many["nodes"] - before * few["nodes"]) / (many["nodes"] - few["nodes"])
    return min(max(part, 0.0), after), after


def fig8_judge(rows: Rows) -> list[Finding]:
    """Good scaling but on FACE; Syn-SSD-UV cheapest."""
    gain, fast = gains(rows), fastest(rows)
    share = max(values(rows, "nodes")) / min(values(rows, "nodes"))
    good = [data for data, here in gain.items() if min(here.values()) > share / 2]
    return [
        Finding("All methods scale well on all data sets but FACE: half of the ideal gain and more.",
                set(good) >= set(gain) - {"FACE"}, f"of {share:g} times: {gains_told(gain)}"),
        Finding("Syn-SSD-UV has most iterations a second.", set(fast.values()) == {"Syn-SSD-UV"},
                ", ".join(f"{data}: {m}" for data, m in fast.items())),
    ]  # fmt: skip


def fig9_judge(rows: Rows) -> list[Finding]:
    """Barriers against none."""
    gain = gains(rows)
    flat = [data for data, here in gain.items() if max(here[m] for m in SYN) < 2]
    asyn = [data for data, here in gain.items() if min(here[m] for m in ASYN) > max(here[m] for m in SYN)]
    return [
        Finding("Synchronous methods hardly gain from more nodes: less than twice, on all data sets.", len(flat) == len(gain),
                gains_told(gain)),
        Finding("Asynchronous methods gain more than all synchronous ones, on all data sets.", len(asyn) == len(gain),
                on(asyn, len(gain))),
    ]  # fmt: skip


def scale_table(rows: Rows) -> Cells:
    """Iterations a second."""
    cells = [["data, nodes", *METHODS]]
    for data in values(rows, "data"):
        cells += [
            [f"{data}, {line[0]}", *line[1:]] for line in curves.grid(only(rows, data=data), "rate", by="nodes")[1:]
        ]
    return cells


def scale_figure(rows: Rows) -> Figure:
    """Iterations a second over nodes."""
    panels = [
        Panel(
            data,
            curves.over(only(rows, data=data), "nodes", "rate"),
            "nodes",
            "iterations a second",
            "linear",
            "linear",
        )
        for data in values(rows, "data")
    ]
    return Figure(panels, order=list(METHODS))
