"""From stored rows to tables that one can read, on a terminal and in the documentation."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from statistics import median

from benchmarks.fits import LEVELS
from benchmarks.methods import DEFAULT, PARTWISE
from partwise.reports.tables import Cells, Row, markdown, text

__all__ = ["fits", "markdown", "parts", "text"]


def fits(rows: Sequence[Row]) -> Cells:
    """One line a case: our seconds, then how many times as long each peer took, to each level."""
    rows = [row for row in rows if row["method"] != "end"]
    names = [
        name
        for name in dict.fromkeys((*DEFAULT, *(r["method"] for r in rows)))
        if any(r["method"] == name for r in rows)
    ]
    others = [name for name in names if name != PARTWISE.name]
    table = [["workload", "k", "dtype", "threads", "partwise, s", *others, "first"]]
    for case in dict.fromkeys((r["workload"], r["k"], r["dtype"], r["threads"]) for r in rows):
        here = [r for r in rows if (r["workload"], r["k"], r["dtype"], r["threads"]) == case]
        ours = _times(here, PARTWISE.name)
        line = [*case, " / ".join(_seconds(ours, level) for level in LEVELS)]
        line += [" / ".join(_ratio(here, ours, name, level) for level in LEVELS) for name in others]
        table.append([*line, " / ".join(_first(here, names, level) for level in LEVELS)])
    return table


def _times(rows: Sequence[Row], method: str) -> dict[tuple[str, str], float]:
    """(seed, level) → the least seconds over repeats."""
    times: dict[tuple[str, str], float] = {}
    for row in rows:
        for level in LEVELS if row["method"] == method else ():
            if row[f"seconds_{level}"]:
                at = (row["seed"], level)
                times[at] = min(times.get(at, float("inf")), float(row[f"seconds_{level}"]))
    return times


def _seconds(times: dict[tuple[str, str], float], level: str) -> str:
    found = [seconds for (_, at), seconds in times.items() if at == level]
    return f"{median(found):.2g}" if found else "never"


def _ratio(rows: Sequence[Row], ours: dict[tuple[str, str], float], method: str, level: str) -> str:
    """The median over seeds of peer / ours; `>` where the peer was given up on the way, `–` where it was not run."""
    tried = [row for row in rows if row["method"] == method]
    if not any(float(row["seconds"]) > 0 for row in tried):
        return "–"
    theirs, ratios, bound = _times(rows, method), [], False
    for seed in dict.fromkeys(row["seed"] for row in tried):
        if (seed, level) not in ours:
            return "ours never" if (seed, level) in theirs else "neither"
        spent = max(float(row["seconds"]) for row in tried if row["seed"] == seed)
        bound |= (seed, level) not in theirs
        ratios.append(theirs.get((seed, level), spent) / max(ours[seed, level], 1e-6))
    ratio = median(ratios)
    return f"{'>' if bound else ''}{ratio:{'.2g' if ratio < 10 else '.0f'}}"


def _first(rows: Sequence[Row], names: Iterable[str], level: str) -> str:
    """Who got there first, by the median over seeds."""
    found = {name: [s for (_, at), s in _times(rows, name).items() if at == level] for name in names}
    reached = {name: median(seconds) for name, seconds in found.items() if seconds}
    return min(reached, key=lambda name: reached[name]) if reached else "nobody"


def parts(rows: Sequence[Row]) -> Cells:
    """One line a measurement: ours, the other, their ratio, the goal."""
    table = [
        ["what", "case", "threads", "ours", "other", "against", "ours / other", "goal", "scikit-learn, PLANC elsewhere"]
    ]
    for row in rows:
        known = f"{row['known']}, {row['planc']}" if row["known"] else ""
        ours, other = (f"{float(row[name]):.3g} {row['unit']}" for name in ("ours", "other"))
        goal = f"≤ {row['goal']}{'' if _met(row) else ' MISSED'}" if row["goal"] else ""
        ratio = f"{float(row['ratio']):.2f}"
        table.append([row["what"], row["case"], row["threads"], ours, other, row["against"], ratio, goal, known])
    return table


def _met(row: Row) -> bool:
    """Whether a goal is reached: of the ratio, or of our time where it has a unit."""
    amount, *unit = row["goal"].split()
    return float(row["ours" if unit else "ratio"]) <= float(amount)
