"""docs/privacy-benchmarks.md: tables, figures, words and faces, from stored results and a few fits that are repeated for the pictures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import mean
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment

from benchmarks.page import BEGIN, END
from benchmarks.privacy import CASES, CONTESTANTS, EPSILONS, PUBLISHED, REFERENCES, TABLE, TENFOLD, private
from benchmarks.store import Row, Store
from partwise import NMF
from partwise.datasets import fetch
from partwise.metrics import top_features
from partwise.reports.figures import Figure, Line, Panel, Tile, draw
from partwise.reports.tables import markdown

PAGE = Path(__file__).parent.parent / "docs" / "privacy-benchmarks.md"
BEGIN, END = BEGIN.replace("benchmarks --docs", "benchmarks.privacy --docs"), END
OURS, RIVAL = CONTESTANTS[0].name, CONTESTANTS[1].name
PICTURED = (0.5, 1.0, 3.0, 8.0)
FACE = (19, 19)


def fill(store: Store) -> None:
    """Draw, and replace what is between the markers."""
    draw(curves(store.rows(TABLE)), store.folder / "curves")
    draw(faces(), store.folder / "faces")
    before, rest = PAGE.read_text(encoding="utf-8").split(BEGIN)
    PAGE.write_text(before + BEGIN + "\n\n" + results(store) + "\n\n" + END + rest.split(END)[1], encoding="utf-8")


def results(store: Store) -> str:
    """The part of the page that is made."""
    rows = store.rows(TABLE)
    seeds = {
        name: len({row["seed"] for row in rows if row["data"] == name and row["method"] == OURS}) for name in CASES
    }
    told = ", ".join(f"{name} {count}" for name, count in seeds.items())
    pieces = [
        "### A tenth of the ε of PPNMF", markdown(list(claims(rows))), "### Objectives", f"Means over seeds ({told}).",
        markdown(list(objectives(rows))), "![Objective over the total ε](../benchmarks/results-privacy/curves.svg)",
        "### Coherence of topics", markdown(list(coherence(rows))), "### Faces",
        "![Parts of faces, private and not](../benchmarks/results-privacy/faces.png)", "### Words", markdown(list(words())),
    ]  # fmt: skip
    return "\n\n".join(pieces)


def value(rows: Sequence[Row], data: str, method: str, epsilon: float | None = None, what: str = "objective") -> float:
    """The mean over seeds, each with the setting that was best on the first; nan where nothing is stored."""
    asked = "" if epsilon is None else f"{epsilon:g}"
    here = [row for row in rows if (row["data"], row["method"], row["epsilon"]) == (data, method, asked)]
    first = [row for row in here if row["seed"] == "0"]
    if not first:
        return float("nan")
    setting = min(first, key=lambda row: float(row["objective"]))["setting"]
    return mean(float(row[what]) for row in here if row["setting"] == setting)


def claims(rows: Sequence[Row]) -> Iterator[list[str]]:
    """Ours at ε beside PPNMF with a valid start at 10 ε."""
    yield ["data", *(f"ours at {epsilon / 10:g} / PPNMF at {epsilon:g}" for epsilon in TENFOLD), "reached"]
    for data in CASES:
        pairs = [(value(rows, data, OURS, epsilon / 10), value(rows, data, RIVAL, epsilon)) for epsilon in TENFOLD]
        known = [ours <= theirs for ours, theirs in pairs if ours == ours and theirs == theirs]
        yield [data, *(f"{_short(ours)} / {_short(theirs)}" for ours, theirs in pairs), f"{sum(known)} of {len(known)}"]


def objectives(rows: Sequence[Row]) -> Iterator[list[str]]:
    """A line for each method and data set."""
    columns = EPSILONS + TENFOLD
    yield ["data", "method", *(f"ε = {epsilon:g}" for epsilon in columns)]
    for data in CASES:
        for reference in REFERENCES:
            yield [data, reference, _short(value(rows, data, reference)), *[""] * (len(columns) - 1)]
        for who in CONTESTANTS:
            line = [_short(value(rows, data, who.name, epsilon)) for epsilon in columns]
            if any(line):
                yield [data, who.name, *line]


def coherence(rows: Sequence[Row]) -> Iterator[list[str]]:
    """NPMI of the ten first words, counted in the texts themselves."""
    columns = EPSILONS + TENFOLD
    yield ["data", "method", *(f"ε = {epsilon:g}" for epsilon in columns)]
    for data in CASES:
        if any(row["npmi"] for row in rows if row["data"] == data):
            yield [
                data,
                REFERENCES[0],
                _short(value(rows, data, REFERENCES[0], what="npmi")),
                *[""] * (len(columns) - 1),
            ]
            for who in CONTESTANTS:
                line = [_short(value(rows, data, who.name, epsilon, "npmi")) for epsilon in columns]
                if any(line):
                    yield [data, who.name, *line]


def curves(rows: Sequence[Row]) -> Figure:
    """A panel for each data set."""
    panels = []
    for data in CASES:
        lines = []
        for who in CONTESTANTS:
            points = [(epsilon, value(rows, data, who.name, epsilon)) for epsilon in who.epsilons]
            points = [(epsilon, found) for epsilon, found in points if found == found]
            if points:
                lines.append(Line(who.name, *map(list, zip(*points, strict=True))))
        levels = [(reference, value(rows, data, reference)) for reference in REFERENCES]
        panels.append(
            Panel(f"{data}, k = {CASES[data].k}", lines, "total ε (δ = 1e-5)", "½ mean ‖x − wH‖²", "log", "log", levels)
        )
    return Figure(panels)


def fitted(data: str, method: str, epsilon: float, X: Any) -> Any:
    """H of the first seed; without ε: no privacy."""
    k = CASES[data].k
    if not epsilon:
        return NMF(k, init="random", random_state=0, max_iter=100, tol=0).fit(X).components_
    return private(method, k, epsilon, 0, {"rounds": 30} if method == PUBLISHED else {}).fit(X).components_


def faces() -> Figure:
    """The parts of CBCL that resemble the parts found without privacy, in their order."""
    X = CASES["CBCL"].rows()
    best = fitted("CBCL", "auto", 0.0, X)
    shown = [("no privacy", best)]
    shown += [(f"ours, ε = {epsilon:g}", fitted("CBCL", "auto", epsilon, X)) for epsilon in PICTURED]
    shown.append(("PPNMF, valid start, ε = 8", fitted("CBCL", PUBLISHED, 8.0, X)))
    tiles = [Tile(name, ordered(H, best)[:49].reshape(-1, *FACE).transpose(0, 2, 1)) for name, H in shown]
    return Figure(tiles)


def words() -> Iterator[list[str]]:
    """The first words of some topics of 20 Newsgroups, side by side."""
    data = "20 Newsgroups"
    X = CASES[data].rows()
    with np.load(fetch(CASES[data].data), allow_pickle=False) as arrays:
        vocabulary = arrays["vocab"]
    best = fitted(data, "auto", 0.0, X)
    shown = [
        ("no privacy", best),
        *((f"ours, ε = {epsilon:g}", fitted(data, "auto", epsilon, X)) for epsilon in (1.0, 8.0)),
    ]
    shown.append(("PPNMF, valid start, ε = 8", fitted(data, PUBLISHED, 8.0, X)))
    yield [name for name, _ in shown]
    tops = [top_features(ordered(H, best), 6) for _, H in shown]
    for topic in range(min(8, len(best))):
        yield [" ".join(str(vocabulary[word]) for word in top[topic]) for top in tops]


def ordered(H: Any, like: Any) -> Any:
    """Each component in the place of that of `like` which it resembles, all together matched best."""
    H, like = (A / np.maximum(np.linalg.norm(A, axis=1, keepdims=True), 1e-300) for A in (H, like))
    return H[linear_sum_assignment(-like @ H.T)[1]]


def _short(number: float) -> str:
    return "" if number != number else f"{number:.4f}" if abs(number) < 0.1 else f"{number:.3f}"
