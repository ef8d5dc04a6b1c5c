"""What sketching gives: seconds from one start to errors near the best known, `sketched` and its rivals in turn.

`python -m benchmarks.sketching -h`. The table is in docs/sketching.md.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median

from benchmarks.store import Row, Store
from benchmarks.workloads import WORKLOADS, given
from partwise.compare.clock import judge, pinned, reached, until
from partwise.compare.contestants import Ours
from partwise.reports.tables import markdown

LEVELS = {"5%": 1.05, "1%": 1.01, "0.2%": 1.002}
TABLE = "sketching"
# workload, k, seconds that each method gets
CASES = (
    ("mnist", 20, 5), ("mnist", 100, 12), ("fashion", 20, 3), ("fashion", 50, 4), ("fashion", 100, 6), ("cbcl", 20, 0.6),
    ("cbcl", 50, 1.2), ("cbcl", 100, 2), ("yaleb", 20, 0.6), ("yaleb", 50, 1.2), ("yaleb", 100, 2), ("tdt2", 20, 1), ("tdt2", 100, 3),
    ("20news", 20, 1), ("20news", 100, 3), ("gowalla", 20, 1), ("gowalla", 100, 3),
)  # fmt: skip
ALL = ("hals", "sketched", "randomized", "sanls")


def race(store: Store, name: str, k: int, seconds: float, dtype: str, seed: int, methods: Sequence[str]) -> None:
    """One start, every method in turn; the best known error is the lowest that any of them met."""
    key = {"workload": name, "k": k, "dtype": dtype, "seed": seed}
    if any({a: str(b) for a, b in key.items()}.items() <= row.items() for row in store.rows(TABLE)):
        return
    made = next(w for w in WORKLOADS if w.name == name).make(0)
    X, W, H = given(made, k, seed, dtype)
    error = judge(X)
    with pinned(1):
        for method in methods:
            Ours(method, method).run(X, W, H, error, until(0.0, 0.01), seed)  # compiles, where nothing is cached yet
        curves = {method: Ours(method, method).run(X, W, H, error, until(0.0, seconds), seed) for method in methods}
    best = min(point.error for curve in curves.values() for point in curve)
    for method, curve in curves.items():
        hits = {level: reached(curve, part * best) for level, part in LEVELS.items()}
        times = {f"seconds_{level}": hit[0] if hit else "" for level, hit in hits.items()}
        end = min(point.error for point in curve)
        row = {**key, "method": method, **times, "end": end, "best": best, "seconds": seconds}
        store.add(TABLE, row)
        print(*row.values(), flush=True)


def table(rows: Sequence[Row]) -> Iterator[list[str]]:
    """A line for each case: hals's seconds, and how many times sooner each rival was there; medians over the starts."""
    yield [
        "data",
        "k",
        "dtype",
        *(f"hals, s to {level}" for level in LEVELS),
        *(f"{m}: times sooner" for m in ALL[1:]),
        "end, %",
    ]
    for case in dict.fromkeys((row["workload"], row["k"], row["dtype"]) for row in rows):
        own = [row for row in rows if (row["workload"], row["k"], row["dtype"]) == case]
        hals = {row["seed"]: row for row in own if row["method"] == "hals"}
        line = [*case, *(_seconds([row[f"seconds_{level}"] for row in hals.values()]) for level in LEVELS)]
        for method in ALL[1:]:
            theirs = [row for row in own if row["method"] == method]
            line.append(" / ".join(_times_sooner(level, hals, theirs) for level in LEVELS) if theirs else "")
        ends = {m: median(_gap(row) for row in own if row["method"] == m) for m in ALL[:2]}
        yield [*line, " / ".join(f"{gap:.2f}" for gap in ends.values())]


def _gap(row: Row) -> float:
    return 100 * (float(row["end"]) / float(row["best"]) - 1)


def _seconds(found: Sequence[str]) -> str:
    known = sorted(float(seconds) for seconds in found if seconds)
    return f"{known[(len(found) - 1) // 2]:.3g}" if len(known) > len(found) / 2 else "–"


def _times_sooner(level: str, hals: dict[str, Row], theirs: Sequence[Row]) -> str:
    """The median ratio; "–" where the rival did not get there from most starts, "only" where hals did not."""
    column = f"seconds_{level}"
    pairs = [(hals[row["seed"]][column], row[column]) for row in theirs]
    ratios = sorted(
        (float(a) / float(b) if float(b) else 1.0) if a and b else 0.0 if a or not b else float("inf") for a, b in pairs
    )
    middle = ratios[(len(ratios) - 1) // 2]
    return "–" if middle == 0 else "only" if middle == float("inf") else f"{middle:.2f}"


def main() -> None:
    """Measure what is not stored yet; tell all."""
    words = argparse.ArgumentParser("python -m benchmarks.sketching", description=__doc__)
    words.add_argument("--out", type=Path, default=Path(__file__).parent / "results-sketching")
    words.add_argument("--only", default="", help="workloads, as in mnist,cbcl")
    words.add_argument("--show", action="store_true", help="measure nothing")
    asked = words.parse_args()
    store = Store(asked.out)
    only = asked.only.split(",") if asked.only else [name for name, *_ in CASES]
    if not asked.show:
        for dtype, seeds in (("float32", (0, 1, 2)), ("float64", (0,))):
            for seed in seeds:
                for name, k, seconds in CASES:
                    if name in only:
                        longer = seconds * (2 if dtype == "float64" else 1)
                        race(store, name, k, longer, dtype, seed, ALL if seed == 0 and dtype == "float32" else ALL[:2])
    print(markdown(list(table(store.rows(TABLE)))))


if __name__ == "__main__":
    main()
