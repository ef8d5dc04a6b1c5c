"""Qian and others, Figures 8 and 9: iterations a second of the secure methods on 2 to 16 nodes."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from partwise.comm import Network
from partwise.reports.figures import Figure, Panel
from partwise.reports.tables import Cells
from partwise.reproduce import curves
from partwise.reproduce.experiment import Case, Finding, Row, Rows, Size, on, only, values
from partwise.reproduce.papers.dsanls_secure import ASYN, DATA, METHODS, STEPS, SYN, run
from partwise.reproduce.ranks import ETHERNET, FREE, over


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
        parts = ("seconds", "server", "talking", "messages", "bytes")
        each = {name: (last[name] - first[name]) / STEPS for name in parts}
        return [{**each, "rate": 1 / each["seconds"], "error": last["error"]}]

    return measure


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


SHRINKS = "What parties do shrinks"
STAYS = "Where all wait for all, the node with half of the rows is waited for, however many there are"


def why(rows: Rows, parties: str) -> str:
    """With messages, and a server, that cost nothing; and what a local iteration is made of, on few nodes and on many."""
    few, many = (end(values(rows, "nodes")) for end in (min, max))
    alone = [{**row, "seconds": row["seconds"] - row["server"]} for row in rows]
    fast = ", ".join(f"{data}: {m}" for data, m in fastest(alone, FREE).items())
    made = []
    for data in values(rows, "data"):
        told = []
        for m in ("Syn-SD", "Syn-SSD-UV"):
            ends = (parts(only(rows, data=data, method=m, nodes=nodes)[0]) for nodes in (few, many))
            told.append(f"{m} {' → '.join(ends)}")
        made.append(f"{data} {', '.join(told)}")
    return (
        f"Milliseconds of a local iteration, parties + server + messages, on {few} → {many} nodes: {'; '.join(made)}. {parties}; "
        "what the server does for all of them, one after another, grows, where the paper has an all-reduce; and methods that "
        "sketch features (-U, -UV) come to the server in every local iteration instead of every tenth. With messages that cost nothing the "
        f"gains are {gains_told(gains(rows, FREE))}; with a server that costs nothing as well, {gains_told(gains(alone, FREE))}, and most "
        f"iterations a second have {fast}."
    )


def parts(row: Row) -> str:
    """Milliseconds of the parties, of the server, of messages."""
    mine = row["seconds"] - row["server"] - row["talking"]
    return " + ".join(f"{1e3 * part:.2g}" for part in (mine, row["server"], row["talking"]))


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
