"""One fit, as real and as simulated ranks make it, and what the simulated ones made."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from partwise import factorize_on_ranks
from partwise.algorithms.distributed.methods import METHODS
from partwise.comm import simulate

K = 4
WISHES = {"init": "random", "max_iter": 8, "tol": 0}

__all__ = ["METHODS", "WISHES", "K", "fitted", "keep", "kept", "kinds"]


def kinds(ranks: int) -> tuple[str, ...]:
    """Which data so many ranks are shown."""
    return ("dense", "sparse") if ranks == 2 else ("sparse",) if ranks == 3 else ("dense",)


def fitted(source, comm, name="did", **more):
    """(W, H, relative error, trace) of this rank."""
    share = factorize_on_ranks(source, K, comm=comm, algorithm=name, **{**WISHES, **more})
    return share.W, share.H, share.relative_error, np.array([point[:4] for point in share.trace.points])


def keep(folder: Path, ranks: int) -> None:
    """What simulated ranks make of every method, in files."""
    place = folder / f"simulated-{ranks}"
    place.mkdir()
    for kind in kinds(ranks):
        for name in METHODS:
            found = simulate(lambda comm, name=name, kind=kind: fitted(folder / kind, comm, name), ranks).results
            for rank, (W, H, error, trace) in enumerate(found):
                np.savez(place / f"{name}-{kind}-{rank}.npz", W=W, H=H, error=error, trace=trace)


def kept(folder: Path, ranks: int, name: str, kind: str, rank: int):
    """Of these one rank's."""
    with np.load(folder / f"simulated-{ranks}" / f"{name}-{kind}-{rank}.npz") as held:
        return held["W"], held["H"], float(held["error"]), held["trace"]
