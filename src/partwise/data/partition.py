"""Which rows go to which simulated party: alike, by label, in Dirichlet shares of the labels, or most of them to one."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from partwise.errors import DataError, OptionError
from partwise.randomness import Purpose, generator

Places = NDArray[np.intp]
EXPECTED = "'iid', 'label', 'dirichlet:ALPHA' such as 'dirichlet:0.3', or 'skewed:SHARE' such as 'skewed:0.5'"


def partition(n: int, parties: int, kind: str = "iid", *, labels: Any = None, seed: int = 0) -> list[Places]:
    """The rows of each party, in rising order; none is left without.

    iid           as many rows for each, drawn at random
    label         rows sorted by label and cut into equal stretches: a party sees one label or a few
    dirichlet:α   each label's rows go to the parties in shares drawn from Dirichlet(α): the smaller α, the less alike
    skewed:s      one party has a share s of all rows, the others the rest in equal parts, at random
    """
    if isinstance(parties, bool) or not isinstance(parties, int) or not 1 <= parties <= n:
        raise OptionError(f"parties={parties!r} cannot share {n} rows; expected a whole number from 1 to {n}.")
    name, parameter = _parsed(kind)
    rng = generator(seed, Purpose.PARTITION)
    if name == "iid":
        return _cut(rng.permutation(n), np.full(parties, 1 / parties))
    if name == "skewed":
        shares = np.full(parties, (1 - parameter) / max(parties - 1, 1))
        shares[0] = parameter if parties > 1 else 1.0
        return _cut(rng.permutation(n), shares)
    known = _labels(labels, n, kind)
    if name == "label":
        shuffled = rng.permutation(n)
        return _cut(shuffled[np.argsort(known[shuffled], kind="stable")], np.full(parties, 1 / parties))
    return _filled(_dirichlet(rng, known, parties, parameter))


def by_label(kind: str) -> bool:
    """Whether a partition goes by labels; or a sentence, if there is none of this name."""
    return _parsed(kind)[0] in ("label", "dirichlet")


def _parsed(kind: str) -> tuple[str, float]:
    name, _, number = str(kind).partition(":")
    try:
        parameter = float(number) if number else np.nan
    except ValueError:
        parameter = -1.0
    allowed = {
        "iid": not number,
        "label": not number,
        "dirichlet": 0 < parameter < np.inf,
        "skewed": 0 < parameter < 1,
    }
    if not allowed.get(name, False):
        raise OptionError(f"partition={kind!r} is not known; expected {EXPECTED}.")
    return name, parameter


def _labels(labels: Any, n: int, kind: str) -> NDArray[Any]:
    if labels is None:
        raise OptionError(f"partition={kind!r} needs the rows' labels; give them, or take 'iid' or 'skewed:0.5'.")
    known = np.asarray(labels)
    if known.shape != (n,):
        raise DataError(f"The labels have shape {known.shape}; expected ({n},), one for each row.")
    return np.unique(known, return_inverse=True)[1]


def _cut(rows: Places, shares: NDArray[np.floating]) -> list[Places]:
    """Stretches of the given shares, one row each at least."""
    sizes = np.maximum(np.diff(np.round(np.concatenate([[0.0], np.cumsum(shares)]) * len(rows)).astype(int)), 1)
    while sizes.sum() > len(rows):
        sizes[sizes.argmax()] -= 1
    return [np.sort(part) for part in np.split(rows, np.cumsum(sizes)[:-1])]


def _dirichlet(rng: np.random.Generator, labels: NDArray[Any], parties: int, alpha: float) -> list[Places]:
    held: list[list[Places]] = [[] for _ in range(parties)]
    for label in range(labels.max() + 1):
        rows = rng.permutation(np.flatnonzero(labels == label))
        ends = np.round(np.cumsum(rng.dirichlet(np.full(parties, alpha))) * len(rows)).astype(int)[:-1]
        for own, part in zip(held, np.split(rows, ends), strict=True):
            own.append(part)
    return [np.concatenate(parts) for parts in held]


def _filled(parts: list[Places]) -> list[Places]:
    """Whoever has no row gets one from whoever has most."""
    for p, part in enumerate(parts):
        if not len(part):
            rich = max(range(len(parts)), key=lambda q: len(parts[q]))
            parts[p], parts[rich] = parts[rich][:1], parts[rich][1:]
    return [np.sort(part) for part in parts]
