"""All experiments by paper."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import NamedTuple

from partwise.errors import OptionError
from partwise.reproduce.experiment import Experiment
from partwise.reproduce.papers import did, dsanls, fedmavg, fnmf, ppnmf


class Paper(NamedTuple):
    """A paper, and what is reproduced of it."""

    name: str
    reference: str
    experiments: Sequence[Experiment]


PAPERS: Mapping[str, Paper] = {
    name: Paper(name, reference, paper.EXPERIMENTS)
    for name, reference, paper in (
        ("dsanls", "Qian, Tan, Ding, Li & Mamoulis: DSANLS, fast and secure distributed NMF", dsanls),
        ("did", "Gao & Chu: DID, distributed incremental block coordinate descent for NMF", did),
        ("fnmf", "Dalleiger & Gionis: Creating Coherence in Federated NMF", fnmf),
        ("fedmavg", "Wang, Suwandi & Chang: Demystifying Model Averaging for Federated Matrix Factorization", fedmavg),
        ("ppnmf", "Saha & Imtiaz: Privacy Preserving Non-Negative Matrix Factorization with Outliers", ppnmf),
    )
}


def find(paper: str, name: str | None = None) -> list[Experiment]:
    """One experiment, or all of a paper."""
    if paper not in PAPERS:
        raise OptionError(f"There is no paper {paper!r} here. {_hint(paper, list(PAPERS))}")
    experiments = PAPERS[paper].experiments
    if name is None:
        return list(experiments)
    found = [experiment for experiment in experiments if experiment.name == name]
    if not found:
        raise OptionError(f"{paper} has no {name!r} here. {_hint(name, [one.name for one in experiments])}")
    return found


def _hint(word: str, known: list[str]) -> str:
    close = get_close_matches(word, known, 3)
    return f"Did you mean {' or '.join(close)}?" if close else f"Expected one of: {', '.join(known)}."
