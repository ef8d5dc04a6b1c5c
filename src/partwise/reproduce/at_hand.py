"""Which data an experiment finds on this machine: what cannot be had is left out, and said."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from partwise import datasets
from partwise.drivers.checkpoint import file_digest
from partwise.errors import DataError
from partwise.reproduce.experiment import Case, Experiment, Size, values


class At(NamedTuple):
    """The runs that can be made."""

    cases: Sequence[Case]
    digests: Mapping[str, str]  # data set → SHA-256 of its file
    left_out: Mapping[str, str]  # `data` of cases → why


def at_hand(experiment: Experiment, size: Size) -> At:
    """Fetch what is needed; a sentence if there is nothing at all."""
    cases, digests, left_out = list(experiment.cases(size)), dict[str, str](), dict[str, str]()
    for label in values(cases, "data") if size is not Size.TINY else []:
        name = experiment.sets.get(label)
        if name is None:
            continue
        try:
            digests[name] = digest(name)
        except DataError as error:
            left_out[label] = str(error)
    kept = [case for case in cases if case["data"] not in left_out]
    if not kept:
        raise DataError(
            f"None of the data of {experiment.paper} {experiment.name} can be had. {next(iter(left_out.values()))}"
        )
    return At(kept, digests, left_out)


def digest(name: str) -> str:
    """Of the file that holds a data set."""
    return file_digest(datasets.fetch(name))
