"""The private methods between parties: from a study's method and its promise to a `Round`, or the sentence why not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np

from partwise.algorithms.federated.averaging import FedAvg
from partwise.algorithms.federated.fnmf import Fnmf
from partwise.algorithms.federated.methods import method as open_method
from partwise.algorithms.federated.noised import Noised
from partwise.algorithms.federated.private_local import PrivateLocal
from partwise.algorithms.federated.private_sums import PrivateSums
from partwise.algorithms.federated.private_updates import PrivateUpdates
from partwise.algorithms.federated.study import Study
from partwise.algorithms.private.methods import choose, within
from partwise.algorithms.private.methods import method as private_method
from partwise.algorithms.private.query import Knowledge
from partwise.errors import OptionError
from partwise.privacy.accountant import Budget, Neighbours
from partwise.privacy.sharing import NoiseShares
from partwise.privacy.terms import Terms

MERGED = ("fedavg", "fedprox", "fnmf")
ROUNDS = 10  # of methods whose every round costs, where nobody says how many
SPARSE = 0.1


@final
@dataclass(frozen=True)
class Promised:
    """What is promised to whom, and what of the data is public."""

    budget: Budget
    unit: str
    neighbours: Neighbours
    shares: NoiseShares
    n_records: int | None
    row_norm: float | None
    density: float | None
    insecure_seed: int | None

    def count(self, sizes: Sequence[int]) -> int | None:
        """The public number of units."""
        if self.unit == "party":
            return self.shares.parties
        if self.neighbours == "replace":
            if self.n_records not in (None, sum(sizes)):
                raise OptionError(f"n_records={self.n_records}, and the parties have {sum(sizes)} rows; with neighbours='replace' they "
                                  "must agree.")  # fmt: skip
            return sum(sizes)
        return self.n_records

    def terms(self, sizes: Sequence[int], name: str) -> Terms:
        """For the ledgers."""
        return Terms(self.budget.delta, self.count(sizes), self.budget.epsilon, self.unit, self.neighbours,
                     self.shares.adversary, name, self.insecure_seed)  # fmt: skip

    def public_sizes(self, sizes: Sequence[int]) -> tuple[int, ...] | None:
        """Where a record only ever becomes another one, how many a party has is no secret."""
        return tuple(sizes) if self.unit == "record" and self.neighbours == "replace" else None


@final
@dataclass(frozen=True)
class Asked:
    """A study as it was wished for."""

    name: str
    k: int
    m: int
    sizes: Sequence[int]
    rounds: int | None
    seed: int
    options: Mapping[str, Any]


def private_round(asked: Asked, statistics: str, clip: float, promised: Promised) -> Noised:
    """The method for this promise."""
    if asked.name == "exact":
        return _sums(asked, statistics, promised)
    if asked.name not in MERGED:
        raise OptionError(f"method={asked.name!r} has no private form: what its parties say has no sensitivity that could be known. Take "
                          f"'exact' (sums of clipped statistics), or {', '.join(MERGED)}.")  # fmt: skip
    if promised.unit == "party":
        return _updates(asked, clip, promised)
    return _local(asked, statistics, promised)


def _sums(asked: Asked, statistics: str, promised: Promised) -> PrivateSums:
    terms = promised.terms(asked.sizes, "")
    assert terms.count is not None, "terms refuse to be without it"
    known = _knowledge(asked, promised, terms.count)
    name, options = _statistics(statistics, known, promised), dict(asked.options)
    if asked.rounds is not None and name != "moments":
        options.setdefault("rounds", asked.rounds)
    chosen = private_method(name, known, options)
    study = _study(asked, promised, chosen.rounds)
    return PrivateSums(study, promised.shares, replace(terms, method=f"exact, {name}"), chosen)


def _updates(asked: Asked, clip: float, promised: Promised) -> PrivateUpdates:
    study = _study(asked, promised, asked.rounds or ROUNDS)
    inner = _inner(asked, study)
    if promised.shares.secure and not isinstance(inner, FedAvg):
        raise OptionError("FNMF's server aligns what each party says, so it must see it: give secure_sum=False (each party adds all of the "
                          "noise), or take method='fedavg'.")  # fmt: skip
    mu = promised.budget.mu * (1 - 1e-9)
    terms = promised.terms(asked.sizes, asked.name)
    return PrivateUpdates(study, promised.shares, terms, inner, mu, within(clip, "clip", 0, 1e3))


def _local(asked: Asked, statistics: str, promised: Promised) -> PrivateLocal:
    if promised.shares.secure:
        raise OptionError(
            f"With method={asked.name!r} and unit='record' each party says what follows from noisy statistics of its own, which no sum "
            "hides: give secure_sum=False, or take method='exact', whose noise is √P times less."
        )
    if promised.neighbours != "replace":
        raise OptionError(f"With method={asked.name!r} and unit='record' each party divides by its own number of records, which is then "
                          "public: take neighbours='replace', or method='exact'.")  # fmt: skip
    if statistics not in ("auto", "plain"):
        raise OptionError(f"statistics={statistics!r}; with method={asked.name!r} expected 'plain'.")
    study = _study(asked, promised, asked.rounds or ROUNDS)
    each = (_knowledge(asked, promised, n) for n in asked.sizes)
    methods = tuple(private_method("plain", known, {"rounds": study.rounds}) for known in each)
    return PrivateLocal(study, promised.shares, promised.terms(asked.sizes, asked.name), _inner(asked, study), methods)


def _knowledge(asked: Asked, promised: Promised, n: int) -> Knowledge:
    mu = promised.budget.mu * (1 - 1e-9)  # a little less: sums of shares are rounded
    return Knowledge(n, asked.m, asked.k, mu, promised.neighbours, promised.row_norm, asked.seed, promised.budget.delta)


def _statistics(name: str, known: Knowledge, promised: Promised) -> str:
    """Which of the private methods, by what is public."""
    if name != "auto":
        return name
    sparse = promised.density is not None and promised.density < SPARSE
    return choose(known, sparse=sparse, why="by density, if it was given").name


def _study(asked: Asked, promised: Promised, rounds: int) -> Study:
    sizes = promised.public_sizes(asked.sizes)
    return Study(asked.k, asked.m, len(asked.sizes), rounds, asked.seed, np.dtype(np.float64), sizes)


def _inner(asked: Asked, study: Study) -> FedAvg | Fnmf:
    """The method without privacy; parties begin each round as the server has it, since noise may have turned their order."""
    ordered = {"own_order": False} if asked.name == "fnmf" else {}
    inner = open_method(asked.name, study, {**ordered, **asked.options})
    assert isinstance(inner, (FedAvg, Fnmf))
    if inner.own_starts:
        raise OptionError("own_starts=True: parties that begin apart say what has no common H to be clipped around.")
    return inner
