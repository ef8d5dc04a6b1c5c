"""Saha & Imtiaz, Figures 7 and 8: parts of faces, private and not, clean and contaminated."""

from __future__ import annotations

import numpy as np

from partwise.consensus.metrics import component_similarity
from partwise.currency import Array
from partwise.metrics import objective
from partwise.randomness import Purpose, generator
from partwise.reports.figures import Figure, Tile
from partwise.reports.quantities import ratio
from partwise.reports.tables import Cells
from partwise.reproduce.experiment import Case, Experiment, Finding, Row, Rows, Size, only, values
from partwise.reproduce.material import FACES, FACES_NAMES, FACES_SETS
from partwise.reproduce.privately import NON_PRIVATE, TUNED, hexed, last, ours, pictured, total_epsilon, unit

SHOWN = 16  # parts
EACH = 0.5  # ε_i
FACE = "YaleB"
NON, PRIVATE, OURS = "non-private", f"ε_i = {EACH:g}", "ours, same total ε"
WITHOUT, WITH, PRIVATE_WITHOUT, PRIVATE_WITH = (
    "without R", "with R", f"{PRIVATE}, without R", f"{PRIVATE}, with R",
)  # fmt: skip
PENALTY = 0.05  # of rows of length one; a pixel of YaleB is 0.03 then, on average


def fig7_cases(size: Size) -> list[Case]:
    """The same start, with and without noise; and our method."""
    return [{"data": FACE, "method": method, "seed": 0} for method in (NON, PRIVATE, OURS)]


def fig7_measure(case: Case, size: Size) -> list[Row]:
    """The first parts in pictures, how like the non-private ones all are, and the objective."""
    X, k = FACES[FACE](size)
    X, rounds = unit(X), size.pick(3, 20, 200)
    plain = last(X, k, NON_PRIVATE, rounds, 0)
    if case["method"] == OURS:
        H = ours(X, k, total_epsilon(EACH, rounds), 0)
    else:
        H = plain if case["method"] == NON else last(X, k, EACH, rounds, 0)
    return shown(H, float(component_similarity(plain, H).mean()), objective(H, X))


def shown(H: Array, similarity: float, value: float) -> list[Row]:
    """A row for each of the first parts; an x keeps the pixels text."""
    return [
        {"part": part, "similarity": similarity, "objective": value, "pixels": f"x{hexed(picture)}"}
        for part, picture in enumerate(H[:SHOWN])
    ]


def fig7_judge(rows: Rows) -> list[Finding]:
    """How like, how good."""
    at = {m: only(rows, method=m)[0] for m in values(rows, "method")}
    like, value = at[PRIVATE]["similarity"], {m: row["objective"] for m, row in at.items()}
    return [
        Finding("Private parts are noisy, but still those of the non-private fit (mean cosine above 0.7).", like > 0.7,
                f"mean cosine {ratio(like)}; ours, from a private start, {ratio(at[OURS]['similarity'])}"),
        Finding("They fit nearly as well (objective within 50 %).", value[PRIVATE] < 1.5 * value[NON],
                ", ".join(f"{m} {ratio(v)}" for m, v in value.items())),
    ]  # fmt: skip


def tiles(rows: Rows) -> Figure:
    """Parts, method by method."""
    side = round((len(str(rows[0]["pixels"])) // 2) ** 0.5)
    return Figure([Tile(m, pictured(only(rows, method=m), side)) for m in values(rows, "method")])


def table(rows: Rows) -> Cells:
    """Objective and similarity."""
    cells = [["method", "objective (15)", "mean cosine with the non-private parts"]]
    for method in values(rows, "method"):
        row = only(rows, method=method)[0]
        cells.append([str(method), ratio(row["objective"]), ratio(row["similarity"])])
    return cells


def fig8_cases(size: Size) -> list[Case]:
    """Contaminated, without and with outliers in the model."""
    return [{"data": FACE, "method": m, "seed": 0} for m in (WITHOUT, WITH, PRIVATE_WITHOUT, PRIVATE_WITH)]


def contaminated(X: Array, seed: int) -> Array:
    """A tenth of the rows with noise from U[−1, 1] on 70 % of their pixels; what falls below zero becomes zero."""
    rng, spoilt = generator(seed, Purpose.SIMULATE, 9), X.copy()
    rows = rng.permutation(len(X))[: len(X) // 10]
    hit = rng.random((len(rows), X.shape[1])) < 0.7
    spoilt[rows] += np.where(hit, rng.uniform(-1, 1, hit.shape), 0)
    return np.maximum(spoilt, 0)


def fig8_measure(case: Case, size: Size) -> list[Row]:
    """Learned on contaminated faces, judged on clean ones."""
    X, k = FACES[FACE](size)
    rounds, spoilt = size.pick(3, 20, 200), unit(contaminated(X, 0))
    penalty = PENALTY if "with R" in str(case["method"]) else None
    each = EACH if str(case["method"]).startswith(PRIVATE) else NON_PRIVATE
    H = last(spoilt, k, each, rounds, 0, outlier_penalty=penalty)
    clean = last(unit(X), k, NON_PRIVATE, rounds, 0)
    return shown(H, float(component_similarity(clean, H).mean()), objective(H, unit(X)))


def fig8_judge(rows: Rows) -> list[Finding]:
    """What R is worth, and what its sensitivity costs."""
    value = {m: only(rows, method=m)[0]["objective"] for m in values(rows, "method")}
    seen = ", ".join(f"{m}: {ratio(v)}" for m, v in value.items())
    return [
        Finding("Modelling outliers lowers the objective on clean faces, without noise.", value[WITH] < value[WITHOUT], seen),
        Finding("Under noise, the doubled sensitivity of the model with outliers costs more than outliers do.",
                value[PRIVATE_WITH] > value[PRIVATE_WITHOUT], seen),
    ]  # fmt: skip


NAMES = ("data", "method", "seed", "part")
PARTS = (
    Experiment(
        "ppnmf", "fig7", "Parts of faces, non-private and private",
        "At ε_i = 0.5 the facial features are noisy, but still interpretable parts of faces.",
        (*[name for name in FACES_NAMES if name.startswith(FACE)], TUNED),
        fig7_cases, fig7_measure, fig7_judge, table, tiles, {Size.QUICK: 0.7, Size.FULL: 15}, NAMES,
        {"objective": 1e-3, "similarity": 1e-3}, FACES_SETS,
        reason="The noise of ε_i = 0.5 in every epoch is larger than the parts unless the step is so short that they stay where the "
        "leaking start put them. Our parts come from a start that is private, at the same total ε.",
    ),
    Experiment(
        "ppnmf", "fig8", "Contaminated faces",
        "With outliers in the model, parts of contaminated faces are those of clean ones; the private parts are noisier than without, "
        "because the sensitivity doubles.",
        (*[name for name in FACES_NAMES if name.startswith(FACE)],
         "a tenth of the faces with noise from U[−1, 1] on 70 % of their pixels, negative pixels then set to zero: PPNMF's proof "
         "does not cover negative data"),
        fig8_cases, fig8_measure, fig8_judge, table, tiles, {Size.QUICK: 1.0, Size.FULL: 20}, NAMES,
        {"objective": 1e-3, "similarity": 1e-3}, FACES_SETS,
        reason="Rows have length one here, as the proof of privacy needs. That bounds what a contaminated face can do, and leaves "
        "little for R to repair; noise on 70 % of the pixels of a face is no rare outlier either, and part of the face itself "
        "goes to R.",
    ),
)  # fmt: skip
