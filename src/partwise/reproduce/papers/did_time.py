"""Gao & Chu, Figure 1 and Table 2: convergence over time, what of it is communication, iterations until the rule stops."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from partwise.comm import Network
from partwise.compare.clock import Point, Stop
from partwise.compare.cluster import ETHERNET
from partwise.reports.figures import Figure, Line, Panel
from partwise.reports.quantities import duration, ratio
from partwise.reports.tables import Cells
from partwise.reproduce import curves
from partwise.reproduce.experiment import Case, Finding, Row, Rows, Size, on, only, values
from partwise.reproduce.material import pictures, texts
from partwise.reproduce.papers.did_methods import ALONE, BLOCKS, NODES, PRINTED, TOGETHER, K, one, synthetic
from partwise.reproduce.ranks import FREE, INFINIBAND, follow, over

BCD = BLOCKS[0]


def fig1_cases(size: Size) -> list[Case]:
    """One node, then sixteen."""
    return [{"data": "synthetic", "method": m, "seed": 0} for m in (*ALONE, *TOGETHER)]


def fig1_measure(case: Case, size: Size) -> list[Row]:
    """Errors over time, and what of the time was communication."""
    X, iterations = synthetic(size, 1_000_000), size.pick(10, 100, 100)
    return follow(one(str(case["method"])), X, K, 0, iterations)


def fig1_judge(rows: Rows) -> list[Finding]:
    """Who needs how long, and what for."""
    end = {m: only(rows, method=m)[-1] for m in values(rows, "method")}
    goal = 1.01 * max(end["DID"]["error"], end["DBCD"]["error"])
    reached = {m: curves.until(only(rows, method=m), goal) for m in TOGETHER}
    talk = {m: end[m]["talking"] for m in TOGETHER}
    gain = speedup(rows)
    return [
        Finding("DID is the first of the distributed methods to the error it ends with.", min(reached, key=lambda m: reached[m]) == "DID",
                ", ".join(f"{m} {seconds:.3g} s" for m, seconds in reached.items())),
        Finding("DID communicates much less than DBCD: less than half of the time.", talk["DID"] < 0.5 * talk["DBCD"],
                ", ".join(f"{m} {seconds:.3g} s of {end[m]['seconds']:.3g} s" for m, seconds in talk.items())),
        Finding(f"DID on {NODES} nodes is ten times as fast as BCD on one.", gain >= 10, f"{gain:.3g} times"),
    ]  # fmt: skip


def speedup(rows: Rows, network: Network = ETHERNET) -> float:
    """DID on sixteen nodes over BCD on one, as many iterations."""
    together = over(only(rows, method="DID")[-1], network)["seconds"]
    return only(rows, method=BCD)[-1]["seconds"] / together


def fig1_reason(rows: Rows) -> str:
    """By the iterations' own times, here and in the paper's table; by other networks."""
    each = {m: (end := only(rows, method=m)[-1])["seconds"] / end["t"] for m in (*ALONE, *TOGETHER)}
    theirs = {m: seconds / iterations for m, (iterations, seconds) in PRINTED.items()}
    dear = ", ".join(
        f"{m} {each[m] / each['DID']:.2g} ({theirs[m] / theirs['DID']:.2g})" for m in ("HPC-ANLS", "DADMM", "DBCD")
    )
    quick = ", ".join(f"{speedup(rows, network):.3g} {where}" for network, where in NETWORKS)
    end = only(rows, method="DID")[-1]
    early = curves.until(only(rows, method="HPC-ANLS"), end["error"], "t")
    printed = PRINTED["HPC-ANLS"][0], PRINTED["DID"][0]
    return (
        f"HPC-ANLS is after {early:g} iterations where DID is after {end['t']}; in the paper (Table 2, 10⁶ samples) they stop after "
        f"{printed[0]} and {printed[1]}: such data, without noise, are easy for exact least squares. Iterations cost, in units of DID's, "
        f"here and (in that table): {dear}. One of BCD takes {duration(each[BCD])} here and {duration(theirs[BCD])} there, in C "
        f"without BLAS, so messages weigh more here. Sixteen nodes are {quick} times as fast as one: the rest is the part of an iteration "
        "that all nodes make."
    )


NETWORKS = ((ETHERNET, "over 1 Gb/s"), (INFINIBAND, "over 100 Gb/s"), (FREE, "with messages that cost nothing"))


def fig1_figure(rows: Rows) -> Figure:
    """(a) one node, (b) sixteen, (c) communication in b."""
    lines = {m: (only(rows, method=m)) for m in values(rows, "method")}

    def line(m: str, y: str) -> Line:
        return Line(m, [row["seconds"] for row in lines[m]], [row[y] for row in lines[m]])

    return Figure([
        Panel("one node", [line(m, "error") for m in ALONE], "seconds", curves.ERROR, "log", "log"),
        Panel(f"{NODES} nodes", [line(m, "error") for m in TOGETHER], "seconds", curves.ERROR, "log", "log"),
        Panel(f"{NODES} nodes: communication", [line(m, "talking") for m in TOGETHER], "seconds", "seconds of communication", "log", "log"),
    ], order=[*TOGETHER, *ALONE])  # fmt: skip


def fig1_table(rows: Rows) -> Cells:
    """At the end."""
    cells = [["method", "iterations", "relative error", "seconds", "of which communication"]]
    for method in values(rows, "method"):
        row = only(rows, method=method)[-1]
        cells.append(
            [str(method), str(row["t"]), ratio(row["error"]), f"{row['seconds']:.3g}", f"{row['talking']:.3g}"]
        )
    return cells


TABLE2: Mapping[str, Callable[[Size], Any]] = {
    "10⁵": lambda size: synthetic(size, 100_000),
    "MNIST": lambda size: pictures("mnist", size, quick=1_000),
    "20News": lambda size: texts("20news_bydate_counts", size, quick=800),
    "UMist": lambda size: pictures("umist_28x23", size, quick=575),
    "YaleB": lambda size: pictures("yaleb_32x32", size, quick=800),
}
SPARSE = ("MNIST", "20News")
PLANTED = ("10⁵",)


def converged(limit: int, change: float) -> Stop:
    """‖E‖² ≤ 10⁻⁶ ‖E₀‖²; or the error has changed by less than `change` of itself in an iteration; or the limit."""

    def stop(points: Sequence[Point]) -> bool:
        now = points[-1]
        if now.t >= limit or now.error <= 1e-3 * points[0].error:
            return True
        return len(points) > 2 and abs(points[-2].error - now.error) < change * now.error

    return stop


def table2_cases(size: Size) -> list[Case]:
    """Every data set with every method."""
    data = size.pick(("10⁵",), tuple(TABLE2), tuple(TABLE2))
    return [{"data": d, "method": m, "seed": 0} for d in data for m in (*ALONE, *TOGETHER)]


def table2_measure(case: Case, size: Size) -> list[Row]:
    """Iterations and time until the rule stops, from k-means on real data as in the paper."""
    name, planted = str(case["data"]), case["data"] in PLANTED
    k, limit = size.pick((3, 10), (K, 300) if planted else (10, 60), (K, 1500) if planted else (10, 1000))
    X = TABLE2[name](size)
    if (
        X.shape[0] < X.shape[1]
    ):  # cut along its longer side by all methods, as DID would of itself: else the order of updates differs
        X = sp.csr_array(X.T) if sp.issparse(X) else np.ascontiguousarray(X.T)
    init = "random" if planted or size is Size.TINY else "kmeans"
    rows = follow(one(str(case["method"])), X, k, 0, limit, stop=converged(limit, 0.0 if planted else 1e-4), init=init)
    return [{name: rows[-1][name] for name in ("t", "seconds", "talking", "messages", "error")}]


def table2_judge(rows: Rows) -> list[Finding]:
    """Equal counts; times."""
    at = {d: {m: only(rows, data=d, method=m)[0] for m in values(rows, "method")} for d in values(rows, "data")}
    equal = [d for d, here in at.items() if len({here[m]["t"] for m in BLOCKS}) == 1]
    ahead = [d for d, here in at.items() if here["DID"]["seconds"] < here["DBCD"]["seconds"]]
    first = [d for d, here in at.items() if min(TOGETHER, key=lambda m: here[m]["seconds"]) == "DID"]
    fast = [d for d, here in at.items() if here[BCD]["seconds"] >= 10 * here["DID"]["seconds"]]
    fewer = [d for d, here in at.items() if here["ANLS"]["t"] < here[BCD]["t"]]
    sparse = [d for d in at if d in SPARSE]
    least = [d for d in sparse if min(TOGETHER, key=lambda m: at[d][m]["seconds"]) == "HPC-ANLS"]
    counts = "; ".join(f"{d}: {', '.join(str(here[m]['t']) for m in BLOCKS)}" for d, here in at.items())
    spent = {d: ", ".join(f"{m} {ratio(here[m]['seconds'])} s" for m in TOGETHER) for d, here in at.items()}
    times = "; ".join(f"{d}: {said}" for d, said in spent.items())
    gained = ", ".join(f"{d} {here[BCD]['seconds'] / here['DID']['seconds']:.3g}" for d, here in at.items())
    return [
        Finding("BCD, DBCD and DID make the same number of iterations everywhere.", len(equal) == len(at), counts),
        Finding("DID is faster than DBCD everywhere.", len(ahead) == len(at), times),
        Finding("DID is the fastest of the distributed methods on most data sets.", 2 * len(first) > len(at), on(first, len(at))),
        Finding("DID is ten times as fast as BCD on most data sets.", 2 * len(fast) > len(at), f"times: {gained}"),
        Finding("ANLS needs fewer iterations than BCD on most data sets.", 2 * len(fewer) > len(at), on(fewer, len(at))),
        Finding("HPC-ANLS is the fastest on the sparse MNIST and 20News.", len(least) == len(sparse), on(least, len(sparse))),
    ]  # fmt: skip


def table2_reason(rows: Rows) -> str:
    """Over other networks; and what an iteration takes here and there."""
    said = []
    for network, where in NETWORKS:
        at = {
            d: {m: over(only(rows, data=d, method=m)[0], network)["seconds"] for m in (BCD, *TOGETHER)}
            for d in values(rows, "data")
        }
        gained = ", ".join(f"{d} {here[BCD] / here['DID']:.2g}" for d, here in at.items())
        first = ", ".join(f"{d} {min(TOGETHER, key=lambda m: here[m])}" for d, here in at.items())
        said.append(f"{where} {gained} (first: {first})")
    each = "".join(
        f" One node takes {duration(row['seconds'] / row['t'])} for an iteration of BCD on MNIST here and {duration(MNIST_PRINTED)} in the "
        "paper, so messages and the update that all nodes make weigh more."
        for row in only(rows, data="MNIST", method=BCD)
    )
    return f"So many times as fast as BCD is DID {'; '.join(said)}.{each}"


MNIST_PRINTED = 942.68 / 492  # seconds of an iteration of BCD in the paper's table


def table2_table(rows: Rows) -> Cells:
    """Iterations / seconds."""
    methods = values(rows, "method")
    cells = [["iterations / seconds", *methods]]
    for data in values(rows, "data"):
        here = {m: only(rows, data=data, method=m)[0] for m in methods}
        cells.append([str(data), *(f"{row['t']} / {row['seconds']:.3g}" for row in here.values())])
    return cells
