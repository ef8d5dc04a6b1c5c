"""Qian and others, Figures 2 and 4: DSANLS beside MPI-FAUN on ten nodes, over time, for six data sets and for k from 20 to 500."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil, isfinite, log2
from typing import Any

from partwise.compare.cluster import Cluster
from partwise.reports.figures import Figure
from partwise.reports.quantities import ratio
from partwise.reports.tables import Cells
from partwise.reproduce import curves
from partwise.reproduce.experiment import Case, Finding, Row, Rows, Size, on, only, values
from partwise.reproduce.material import CLUSTER as DATA
from partwise.reproduce.papers.dsanls_damping import GRID, NONE, OWN, options, tuned
from partwise.reproduce.ranks import follow

METHODS: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "DSANLS/S": ("dsanls", {"sketch": "subsample"}),
    "DSANLS/G": ("dsanls", {"sketch": "gaussian"}),
    "DSANLS/S, own damping": ("dsanls", {"sketch": "subsample"}),
    "MPI-FAUN-MU": ("hpc-anls-mu", {}),
    "MPI-FAUN-HALS": ("hpc-anls-hals", {}),
    "MPI-FAUN-ABPP": ("hpc-anls-bpp", {}),
    "DID": ("did", {}),
}
PAPERS = ("DSANLS/S", "DSANLS/G", "MPI-FAUN-MU", "MPI-FAUN-HALS", "MPI-FAUN-ABPP")  # the others are beside them
S, G, HALS = "DSANLS/S", "DSANLS/G", "MPI-FAUN-HALS"
NO_GAUSSIAN = ("RCV1", "DBLP")  # too slow, says the paper
SEVERAL = ("FACE",)  # where three seeds are affordable
EXACT = {"BOATS": 40, "FACE": 60, "MNIST": 14, "GISETTE": 20, "RCV1": 20, "DBLP": 20}  # iterations of MU, HALS and DID


def cluster(name: str, nodes: int, damping: str = NONE) -> Cluster:
    """The method on so many nodes."""
    algorithm, chosen = METHODS[name]
    return Cluster(name, algorithm, nodes, {**chosen, **options(damping)})


def follow_on(name: str, damping: str, nodes: int, X: Any, k: int, seed: int, iterations: int) -> list[Row]:
    """Rows; `norms`: the messages by which the published code of MPI-FAUN's HALS sums the norm of each component over all nodes."""
    each = 2 * k * ceil(log2(nodes)) if name == HALS else 0
    return [row | {"norms": each * row["t"]} for row in follow(cluster(name, nodes, damping), X, k, seed, iterations)]


def affordable(data: str, name: str, size: Size) -> bool:
    """Gaussian sketches of MNIST's 70,000 rows are 0.8 Tflop an iteration; those of BOATS draw 44 million numbers on every node."""
    return not (name == G and (data in NO_GAUSSIAN or (size is Size.FULL and data != "FACE")))


def dampings(data: str, name: str, size: Size) -> Sequence[str]:
    """All of the grid; with Gaussian sketches and on MNIST, which take many times as long, its first row."""
    if not name.startswith("DSANLS"):
        return (NONE,)
    if name.endswith("own damping"):
        return (OWN,)
    if size is not Size.FULL:
        return list(GRID)[:5:4]
    return list(GRID)[:3] if name == G or data == "MNIST" else list(GRID)


def fig2_cases(size: Size) -> list[Case]:
    """Ten nodes."""
    return [
        {"data": d, "method": m, "damping": damping, "seed": seed}
        for d in size.pick(("FACE",), tuple(DATA), tuple(DATA))
        for m in METHODS
        if affordable(d, m, size)
        for damping in dampings(d, m, size)
        for seed in range(size.pick(1, 1, 3 if d in SEVERAL and m != G else 1))
    ]


def iterations_of(name: str, data: str) -> int:
    """Of the full form: as many as take about as long."""
    return max(10, int(EXACT[data] * {"MPI-FAUN-ABPP": 0.4, G: 0.4}.get(name, 1)))


def fig2_measure(case: Case, size: Size) -> list[Row]:
    """Errors over time."""
    name, data, k, nodes = str(case["method"]), str(case["data"]), size.pick(3, 20, 100), size.pick(2, 10, 10)
    sketched = name.startswith("DSANLS")
    quick = 20 if name == G or not sketched else 60
    iterations = size.pick(30 if sketched else 10, quick, iterations_of(name, data))
    return follow_on(name, str(case["damping"]), nodes, DATA[data](size), k, int(case["seed"]), iterations)


def reached(rows: Rows, by: str = "data", share: float = 0.01) -> dict[Any, dict[str, float]]:
    """{data (or k): {method of the paper: seconds until `share` above the least error met}}."""
    found = {}
    for value in values(rows, by):
        here = {m: only(rows, **{by: value, "method": m}) for m in PAPERS}
        least = min(curves.least(mine) for mine in here.values() if mine)
        found[value] = {m: curves.until(mine, (1 + share) * least) for m, mine in here.items() if mine}
    return found


def winners(times: Mapping[Any, Mapping[str, float]], among: Sequence[str] = (S,)) -> list[Any]:
    """Where one of these is first."""
    return [value for value, here in times.items() if min(here, key=lambda m: here[m]) in among]


def told(times: Mapping[Any, Mapping[str, float]]) -> str:
    """By data (or k) and method."""
    spoken = {value: ", ".join(f"{m} {_when(seconds)}" for m, seconds in here.items()) for value, here in times.items()}
    return "; ".join(f"{value}: {said}" for value, said in spoken.items())


def _when(seconds: float) -> str:
    return f"{seconds:.2g} s" if isfinite(seconds) else "never"


def per_iteration(rows: Rows) -> dict[str, tuple[float, float]]:
    """{data: errors of DSANLS/G and /S after the same iterations, each with the best of the dampings that both have}."""
    found = {}
    for data in values(only(rows, method=G), "data"):
        both = [only(rows, data=data, method=m, seed=0) for m in (G, S)]
        t = max({row["t"] for row in both[0]} & {row["t"] for row in both[1]})
        shared = values(both[0], "damping")
        found[data] = tuple(min(r["error"] for r in mine if r["t"] == t and r["damping"] in shared) for mine in both)
    return found


def fig2_judge(rows: Rows) -> list[Finding]:
    """Who is first to 5 % and to 1 % above the best error met."""
    best = tuned(rows)
    times, early = reached(best), winners(reached(best, share=0.05), (S, G))
    won, alike = winners(times), per_iteration(rows)
    faster = [data for data, (gaussian, subsampled) in alike.items() if gaussian < subsampled]
    mu = [d for d, here in times.items() if here["MPI-FAUN-MU"] > here[HALS]]
    bpp = [d for d, here in times.items() if here["MPI-FAUN-ABPP"] > here[HALS]]
    errors = ", ".join(f"{d} {ratio(g)} and {ratio(s)}" for d, (g, s) in alike.items())
    return [
        Finding("DSANLS/S is first to 1 % above the best error on all data sets.", len(won) == len(times),
                f"{on(won, len(times))}. {told(times)}"),
        Finding("A sketched method is first to 5 % above the best error on all data sets.", len(early) == len(times),
                on(early, len(times))),
        Finding("DSANLS/G is below DSANLS/S after the same iterations.", len(faster) == len(alike), errors),
        Finding("MU converges more slowly than HALS everywhere.", len(mu) == len(times), on(mu, len(times))),
        Finding("ANLS/BPP is slower than HALS everywhere.", len(bpp) == len(times), on(bpp, len(times))),
    ]  # fmt: skip


def over_time(rows: Rows) -> Figure:
    """Error over time."""
    return curves.figure(tuned(rows), "seconds")


def ends(rows: Rows) -> Cells:
    """Errors at the end."""
    return curves.ends(tuned(rows))


def fig4_cases(size: Size) -> list[Case]:
    """k, on RCV1; of the grid of dampings, the slowest growth."""
    return [
        {"data": "RCV1", "method": m, "damping": damping, "k": k, "seed": 0}
        for k in size.pick((3,), (10, 40), (20, 50, 100, 200, 500))
        for m in METHODS
        if m != G
        for damping in (list(GRID)[: size.pick(2, 2, 3)] if m == S else dampings("RCV1", m, size))
    ]


def fig4_measure(case: Case, size: Size) -> list[Row]:
    """Ten nodes."""
    name, k = str(case["method"]), int(case["k"])
    exact = size.pick(10, 20, 16 if k < 500 else 8)
    share = 1.5 if name.startswith("DSANLS") else 0.5 if name.endswith("ABPP") and size is Size.FULL else 1
    X = DATA["RCV1"](size)
    return follow_on(name, str(case["damping"]), size.pick(2, 10, 10), X, k, 0, int(exact * share))


def fig4_judge(rows: Rows) -> list[Finding]:
    """For each k as in Figure 2; and errors over k."""
    best = tuned(rows, ("k", "method"))
    times = reached(best, "k")
    won = winners(times)
    least = [min(row["error"] for row in only(best, k=k) if row["method"] in PAPERS) for k in times]
    return [
        Finding(
            "DSANLS/S is first to 1 % above the best error for all k.", len(won) == len(times), f"k: {told(times)}"
        ),
        Finding("The error falls as k grows.", least == sorted(least, reverse=True), " → ".join(map(ratio, least))),
    ]


def fig4_figure(rows: Rows) -> Figure:
    """A panel for each k."""
    return curves.figure(tuned(rows, ("k", "method")), "seconds", by="k", title="k = {}")


def fig4_table(rows: Rows) -> Cells:
    """Errors at the end."""
    return curves.ends(tuned(rows, ("k", "method")), by="k")
