"""Qian and others, Figure 3: iterations a second of DSANLS and MPI-FAUN on 2 to 16 nodes."""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil, log2

from partwise.comm import Network
from partwise.compare.cluster import ETHERNET
from partwise.reports.figures import Figure, Panel
from partwise.reports.quantities import ratio
from partwise.reports.tables import Cells
from partwise.reproduce import curves
from partwise.reproduce.experiment import Case, Finding, Row, Rows, Size, on, only, values
from partwise.reproduce.papers.dsanls_cluster import DATA, HALS, METHODS, PAPERS, G, S, affordable, cluster
from partwise.reproduce.ranks import follow, over

MEASURED = tuple(name for name in METHODS if not name.endswith("own damping"))  # damping takes no time
Rates = Mapping[str, Mapping[str, float]]  # {data: {method: …}}


def cases(size: Size) -> list[Case]:
    """2 to 16 nodes."""
    nodes = size.pick((2, 4), (2, 16), (2, 4, 8, 16))
    return [
        {"data": d, "method": m, "nodes": n, "seed": 0}
        for d in size.pick(("FACE",), tuple(DATA), tuple(DATA))
        for m in MEASURED
        if affordable(d, m, size)
        for n in nodes
    ]


def measure(case: Case, size: Size) -> list[Row]:
    """An iteration's seconds and messages, the mean over some (which sketched methods do not interrupt to measure their error)."""
    name, data, nodes = str(case["method"]), str(case["data"]), int(case["nodes"])
    k, iterations = size.pick((3, 5), (20, 9), (100, 4))
    end = follow(cluster(name, nodes), DATA[data](size), k, 0, iterations)[-1]
    each = {what: end[what] / end["t"] for what in ("seconds", "talking", "messages", "bytes")}
    return [{**each, "norms": 2 * k * ceil(log2(nodes)) if name == HALS else 0, "rate": 1 / each["seconds"]}]


def rates(rows: Rows, nodes: int, network: Network = ETHERNET, published: bool = False) -> dict[str, dict[str, float]]:
    """{data: {method: iterations a second}} over a network; `published`: HALS with the messages of MPI-FAUN's code."""
    return {
        data: {
            m: 1 / over(mine[0], network, mine[0]["norms"] if published else 0)["seconds"]
            for m in PAPERS
            if (mine := only(rows, data=data, nodes=nodes, method=m))
        }
        for data in values(rows, "data")
    }


def gains(rows: Rows, network: Network = ETHERNET) -> dict[str, dict[str, float]]:
    """{data: {method: iterations a second with the most nodes, over those with the fewest}}."""
    few, many = (rates(rows, end(values(rows, "nodes")), network) for end in (min, max))
    return {d: {m: rate / few[d][m] for m, rate in here.items() if m in few[d]} for d, here in many.items()}


def scaling(gain: Rates, ideal: float) -> list[str]:
    """Where all methods gain half of the ideal and more."""
    return [d for d, here in gain.items() if min(here.values()) > ideal / 2]


def cheapest(many: Rates, name: str = S) -> list[str]:
    """Where this method has most iterations a second."""
    return [d for d, here in many.items() if max(here, key=lambda m: here[m]) == name]


def judge(rows: Rows) -> list[Finding]:
    """Gains, and who is cheapest and dearest."""
    least, most = min(values(rows, "nodes")), max(values(rows, "nodes"))
    many, gain = rates(rows, most), gains(rows)
    good, cheap = scaling(gain, most / least), cheapest(many)
    dear = [d for d, here in many.items() if min(here, key=lambda m: here[m]) == "MPI-FAUN-ABPP"]
    with_gaussian = {d: here for d, here in many.items() if G in here}
    similar = [d for d, here in with_gaussian.items() if here[G] > min(here["MPI-FAUN-MU"], here[HALS]) / 2]
    told = "; ".join(f"{d}: {', '.join(f'{m} {g:.2g}' for m, g in here.items())}" for d, here in gain.items())
    return [
        Finding("All algorithms scale well on all data sets but FACE: half of the ideal gain and more.",
                set(good) >= set(gain) - {"FACE"}, f"of {most / least:g} times: {told}"),
        Finding("DSANLS/S has the lowest cost per iteration.", len(cheap) == len(many), on(cheap, len(many))),
        Finding("ANLS/BPP has the highest cost per iteration.", len(dear) == len(many), on(dear, len(many))),
        Finding("DSANLS/G costs about as much as MU and HALS: twice as much, at most.", len(similar) == len(with_gaussian),
                on(similar, len(with_gaussian))),
    ]  # fmt: skip


def figure(rows: Rows) -> Figure:
    """Iterations a second over nodes."""
    panels = [
        Panel(
            data, curves.over(only(rows, data=data), "nodes", "rate"), "nodes", "iterations a second", "linear", "log"
        )
        for data in values(rows, "data")
    ]
    return Figure(panels, order=list(MEASURED))


def table(rows: Rows) -> Cells:
    """Iterations a second."""
    cells = [["data, nodes", *MEASURED]]
    for data in values(rows, "data"):
        for nodes in values(only(rows, data=data), "nodes"):
            here = only(rows, data=data, nodes=nodes)
            numbers = (ratio(curves.median(only(here, method=m), "rate")) for m in MEASURED)
            cells.append([f"{data}, {nodes}", *numbers])
    return cells
