"""Saha & Imtiaz, Algorithm 2, in the forms that are set beside one another: as their experiments ran it, and as their proof covers it.

Their experiments bring the largest entry of each row to one; their proof adds noise for rows of length one. A face of 361 such pixels has
length 12: the noise is that many times too small for the ε that is stated. `PRINTED` is Algorithm 2 on such rows, line by line; `CUT`
shortens columns of their H to one too, as section 3.2 has it and Algorithm 2 has not; `PROVED` has rows of length one; `VALID` starts
without looking at the data as well, so that the total ε holds; `OURS` is our method at that ε.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from partwise.compare.clock import pinned
from partwise.currency import Array, NormalEq
from partwise.data import as_matrix
from partwise.data.outliers import soft_threshold
from partwise.metrics import objective
from partwise.privacy.clip import clip_scales
from partwise.randomness import Purpose, generator
from partwise.reproduce import curves
from partwise.reproduce.experiment import Case, Row, Rows, Size, only, values
from partwise.reproduce.material import FACES, TOPICS
from partwise.reproduce.privately import DELTA, NON_PRIVATE, Epoch, epochs, ours, total_epsilon, unit
from partwise.start import start
from partwise.updates import Bpp, Pgd
from partwise.updates.ball import ball

PRINTED, CUT = "as printed", "as printed, ‖h‖ ≤ 1"
PROVED, VALID, OURS = "rows of length one", "length one, valid start", "ours"
STEPS = (1.0, 0.1, 0.01)  # η_W in units of 1/mean ‖x‖², which is at least the trace of A where nothing is cut
INNER = 5  # alternations of H and R in line 2, from where the last epoch left them
FORMS = (
    "as printed: rows whose largest entry is one, noise as for rows of length one, NNDSVD of the data as start, the step that ends "
    "lowest of 1, 0.1 and 0.01 (found with one seed); 100 epochs (--quick: 20), for the paper does not say how many"
)


class Setting(NamedTuple):
    """What is learned from, and how."""

    data: str
    size: Size
    form: str
    each: float  # ε_i of an epoch

    @property
    def rounds(self) -> int:
        """Epochs; the paper does not say how many."""
        return self.size.pick(3, 20, 100)

    @property
    def total(self) -> float:
        """The total ε by the paper's formula."""
        return total_epsilon(self.each, self.rounds) if self.each < NON_PRIVATE else NON_PRIVATE

    def load(self) -> tuple[Any, int]:
        """(X, k), rows scaled as the form has them."""
        X, k = {**TOPICS, **FACES}[self.data](self.size)
        return scaled(X, self.form), k


def scaled(X: Any, form: str) -> Any:
    """Rows whose largest entry is one as printed, rows of length one where the proof covers them."""
    return largest_one(X) if form in (PRINTED, CUT) else unit(X)


def largest_one(X: Any) -> Any:
    """Rows of nothing are left out."""
    top = X.max(axis=1).toarray().ravel() if sp.issparse(X) else X.max(axis=1)
    kept = np.flatnonzero(top)
    return sp.csr_array(sp.diags_array(1 / top[kept]) @ X[kept]) if sp.issparse(X) else X[kept] / top[kept, None]


def learnt(setting: Setting, seed: int) -> list[Epoch]:
    """All epochs, with the step that the search found; of our own method what it publishes."""
    X, k = setting.load()
    if setting.form == OURS:
        return [Epoch(setting.rounds, ours(X, k, setting.total, seed), setting.total)]
    return list(made(setting, X, k, seed, searched(setting)))


@cache
def searched(setting: Setting) -> float:
    """η_W: the step that ends lowest with the first seed, found as the paper does, at no cost in ε: not private either."""
    if setting.each == NON_PRIVATE:
        return STEPS[0]
    X, k = setting.load()
    ends = {step: objective([*made(setting, X, k, 0, step)][-1].H, X) for step in STEPS}
    return min(ends, key=lambda step: ends[step])


def made(setting: Setting, X: Any, k: int, seed: int, step: float) -> Iterator[Epoch]:
    """Algorithm 2 in one of its forms."""
    if setting.form in (PRINTED, CUT):
        return printed(X, k, setting.each, setting.rounds, seed, step=step, cut=setting.form == CUT)
    begun = "random" if setting.form == VALID else "nndsvd"
    return epochs(X, k, setting.each, setting.rounds, seed, start=begun, step=step)


def printed(
    X: Any, k: int, each: float, rounds: int, seed: int, *, step: float = 1.0, cut: bool = False,
    outliers: tuple[float, float] | None = None,
) -> Iterator[Epoch]:  # fmt: skip
    """Algorithm 2 word for word, X (n, m) being Vᵀ, H (k, m) their Wᵀ and W (k, n) their H; `outliers` are λ and M."""
    entries, n = as_matrix(X), X.shape[0]
    if not cut:
        step /= float(X.multiply(X).sum() if sp.issparse(X) else np.vdot(X, X)) / n
    tau = 2 / n / each * math.sqrt(2 * math.log(1.25 / DELTA))
    with pinned(1):
        H = ball(np.ascontiguousarray(start(entries, k, "nndsvd", seed)[1]))
        W, Y = np.zeros((k, n)), X
        for t in range(1, rounds + 1):  # 1:
            W, Y = coefficients(X, W, Y, H, outliers, 1 if outliers is None else INNER)  # 2:
            h = W * clip_scales(np.linalg.norm(W, axis=0), 1.0) if cut else W
            rng = generator(seed, Purpose.NOISE, t)
            A = h @ h.T / n + tau * rng.standard_normal((k, k))  # 3:
            B = product(h, Y.T) / n + tau * (1 if outliers is None else 2) * rng.standard_normal(H.shape)
            H, _ = Pgd(1, step, ball)(H, NormalEq(A.T, B), ())  # 4: and 5:
            yield Epoch(t, H, total_epsilon(each, t) if each < NON_PRIVATE else NON_PRIVATE)  # 7:


def coefficients(
    X: Any, W: Array, Y: Any, H: Array, outliers: tuple[float, float] | None, times: int
) -> tuple[Array, Any]:
    """(W, Y = X − R): (8), taken to its end, and (9) in turn."""
    for _ in range(times):
        W, _ = Bpp()(W, NormalEq(H @ H.T, product(H, Y)), ())
        Y = X if outliers is None else X - soft_threshold(X - W.T @ H, *outliers)
    return W, Y


def product(F: Array, X: Any) -> Array:
    """(k, r): F Xᵀ, of arrays and of sparse matrices."""
    return np.ascontiguousarray((X @ F.T).T)


def base_of(form: str) -> str:
    """The form whose non-private end a gap is measured against: that of the same rows and columns."""
    return form if form in (PRINTED, CUT) else PROVED


def named(form: str, each: float) -> str:
    """as printed, ε_i = 0.5."""
    return f"{form}, non-private" if each == NON_PRIVATE else f"{form}, ε_i = {each:g}"


def cases_of(data: Sequence[str], runs: Sequence[tuple[str, float]], seeds: int) -> list[Case]:
    """Nothing of a non-private run from NNDSVD is drawn by chance: one seed."""
    return [
        {"data": name, "method": named(form, each), "form": form, "each": each, "seed": seed}
        for name in data
        for form, each in runs
        for seed in range(seeds if each < NON_PRIVATE or form == VALID else 1)
    ]


def gaps(rows: Rows, form: str, each: float) -> dict[str, float]:
    """data → the objective at the end beside the non-private one of the same rows: 0.1 is a tenth above it; the median over seeds."""
    return {
        data: curves.median(at_end(rows, data, form, each), "objective")
        / curves.median(at_end(rows, data, base_of(form), NON_PRIVATE), "objective") - 1
        for data in values(rows, "data")
    }  # fmt: skip


def at_end(rows: Rows, data: str, form: str, each: float) -> list[Row]:
    """The rows of the last epoch."""
    here = only(rows, data=data, form=form, each=each)
    last = max((row["t"] for row in here), default=0)
    return [row for row in here if row["t"] == last]


def percents(gap: Mapping[str, float]) -> str:
    """Guardian 3 %, TDT2 12 %."""
    return ", ".join(f"{name} {100 * value:.3g} %" for name, value in gap.items())
