"""What privacy costs: the objective of private parts at the same total ε, ours beside PPNMF, and what no privacy would give.

`python -m benchmarks.privacy -h`. What is stored is not measured again; docs/privacy-benchmarks.md has the tables and figures.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, final

import numpy as np
import scipy.sparse as sp

from benchmarks.store import Store
from partwise import NMF, PrivateNMF
from partwise.compare.clock import pinned
from partwise.datasets import load
from partwise.metrics import npmi, objective

DELTA = 1e-5
EPSILONS = (0.25, 0.5, 1.0, 2.0, 3.0, 8.0)
TENFOLD = (10.0, 20.0, 30.0, 80.0)  # ten times the ε of ours: what a claim is held against
TABLE = "privacy"
PUBLISHED = "ppnmf-as-published"


@final
@dataclass(frozen=True)
class Case:
    """A data set, and the number of components that the papers take, or took of its like."""

    data: str
    k: int
    first: int | None = None  # only the rows from here on

    def rows(self) -> Any:
        """X (n, m), every row of length one: what all methods do to it first. Texts are plain counts: idf would look at all rows."""
        X = load(self.data).X
        if sp.issparse(X):
            X = sp.csr_array(X, dtype=np.float64)
            return sp.csr_array(sp.diags_array(1 / np.maximum(np.sqrt(X.multiply(X).sum(axis=1)), 1e-300)) @ X)
        X = np.asarray(X, np.float64)[self.first :]
        return X / np.maximum(np.linalg.norm(X, axis=1, keepdims=True), 1e-300)


CASES = {
    "CBCL": Case("cbcl_faces", 50), "YaleB": Case("yaleb_32x32", 38), "MNIST": Case("mnist", 20, 60_000),
    "TDT2": Case("tdt2_top30", 30), "20 Newsgroups": Case("20news_bydate_counts", 20),
}  # fmt: skip


@final
@dataclass(frozen=True)
class Contestant:
    """A private method; of several settings the one that does best on the first seed counts, and nobody is charged for looking."""

    name: str
    method: str
    settings: tuple[dict[str, Any], ...] = ({},)
    epsilons: tuple[float, ...] = EPSILONS
    fixed: dict[str, Any] = field(default_factory=dict)


STEPS = tuple({"rounds": 30, "step": step} for step in (0.3, 1.0, 10.0, 100.0))
CONTESTANTS = (
    Contestant("partwise", "auto"),
    Contestant("PPNMF, valid start", PUBLISHED, STEPS, EPSILONS + TENFOLD),
    Contestant("PPNMF, repaired", "ppnmf", STEPS),
    Contestant("PPNMF, leaking start (not private)", PUBLISHED, STEPS, fixed={"start": "nndsvd"}),
    Contestant("partwise residual", "residual"),
    Contestant("partwise plain", "plain"),
)
REFERENCES = ("no privacy", "random components")


def measure(
    store: Store, names: Iterable[str], seeds: Iterable[int], contestants: Iterable[str], epsilons: Iterable[float]
) -> None:
    """What is not stored yet, a seed after the other."""
    chosen, epsilons = [who for who in CONTESTANTS if who.name in contestants], set(epsilons)
    held = {name: CASES[name].rows() for name in names}
    for seed in seeds:
        for name, X in held.items():
            for reference in REFERENCES:
                if not _stored(store, data=name, method=reference, seed=seed):
                    H = _reference(reference, X, CASES[name].k, seed)
                    store.add(TABLE, _row(name, reference, seed, "", "", 0.0, H, X))
            for who in chosen:
                for epsilon in sorted(set(who.epsilons) & epsilons):
                    for setting in _settings(store, who, name, epsilon, seed):
                        _compete(store, who, name, X, epsilon, setting, seed)


def _compete(
    store: Store, who: Contestant, name: str, X: Any, epsilon: float, setting: dict[str, Any], seed: int
) -> None:
    told = _told(setting)
    if _stored(store, data=name, method=who.name, seed=seed, epsilon=epsilon, setting=told):
        return
    model = private(who.method, CASES[name].k, epsilon, seed, setting | who.fixed).fit(X)
    row = _row(name, who.name, seed, epsilon, told, model.epsilon_spent_, model.components_, X)
    store.add(TABLE, row)
    print(*row.values(), flush=True)


def private(method: str, k: int, epsilon: float, seed: int, options: dict[str, Any]) -> PrivateNMF:
    """Repeatable, so not for earnest use; warnings that a start leaks are what the name says already."""
    warnings.filterwarnings("ignore", "These components are not private")
    return PrivateNMF(
        k, epsilon=epsilon, delta=DELTA, method=method, method_options=options, random_state=seed, insecure_seed=seed
    )


def _settings(store: Store, who: Contestant, name: str, epsilon: float, seed: int) -> Iterator[dict[str, Any]]:
    """All on the first seed, then the one that was best there."""
    first = [row for row in store.rows(TABLE) if _is(row, data=name, method=who.name, seed=0, epsilon=epsilon)]
    if seed == 0 or len(first) < len(who.settings):
        yield from who.settings
    else:
        best = min(first, key=lambda row: float(row["objective"]))["setting"]
        yield next(setting for setting in who.settings if _told(setting) == best)


def _reference(reference: str, X: Any, k: int, seed: int) -> Any:
    if reference == "no privacy":
        return NMF(k, init="random", random_state=seed, max_iter=100, tol=0).fit(X).components_
    return np.random.default_rng(seed).random((k, X.shape[1]))


def _row(data: str, method: str, seed: int, epsilon: Any, setting: str, spent: float, H: Any, X: Any) -> dict[str, Any]:
    coherence = float(npmi(H, X).mean()) if sp.issparse(X) else ""
    return {
        "data": data, "method": method, "seed": seed, "epsilon": epsilon, "setting": setting, "spent": spent,
        "objective": objective(H, X), "npmi": coherence,
    }  # fmt: skip


def _told(setting: dict[str, Any]) -> str:
    return ", ".join(f"{name} {value:g}" for name, value in setting.items())


def _is(row: dict[str, str], **wanted: Any) -> bool:
    return all(
        row[name] == (f"{value:g}" if isinstance(value, float) else str(value)) for name, value in wanted.items()
    )


def _stored(store: Store, **wanted: Any) -> bool:
    return any(_is(row, **wanted) for row in store.rows(TABLE))


def main() -> None:
    """Measure, or tell."""
    words = argparse.ArgumentParser("python -m benchmarks.privacy", description=__doc__)
    words.add_argument("--out", type=Path, default=Path(__file__).parent / "results-privacy")
    words.add_argument("--only", default=",".join(CASES), help="data sets, as in CBCL,TDT2")
    words.add_argument("--methods", default=";".join(who.name for who in CONTESTANTS), help="names with ; between them")
    words.add_argument("--seeds", type=int, default=3)
    words.add_argument("--epsilons", default=",".join(f"{epsilon:g}" for epsilon in EPSILONS + TENFOLD))
    words.add_argument("--docs", action="store_true", help="measure nothing: draw, and fill docs/privacy-benchmarks.md")
    asked = words.parse_args()
    store = Store(asked.out)
    if asked.docs:
        from benchmarks import privacy_page

        privacy_page.fill(store)
        return
    with pinned(1):
        measure(store, asked.only.split(","), range(asked.seeds), asked.methods.split(";"),
                map(float, asked.epsilons.split(",")))  # fmt: skip


if __name__ == "__main__":
    main()
