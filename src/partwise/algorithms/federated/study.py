"""What all federated methods share: what everyone knows of a study, and the parts of a `Round` that most leave as they are."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, final

import numpy as np

from partwise.algorithms.single.exact import exact_W
from partwise.algorithms.single.methods import Problem
from partwise.currency import Array, Arrays, Disclosure, Exchange, Field, Reply
from partwise.protocols import Matrix
from partwise.randomness import Purpose, columns


@final
@dataclass(frozen=True)
class Study:
    """What everyone knows before the first round: sizes and a seed, nothing of the data."""

    k: int
    m: int
    parties: int
    rounds: int = 30
    seed: int = 0
    dtype: Any = field(default=np.dtype(np.float64))
    sizes: tuple[int, ...] | None = None  # rows of each party, where the parties publish them
    H: Array | None = None  # a start (k, m) that all agree on; None: drawn from the seed

    def start(self) -> Array:
        """(k, m): the common start, the same for all parties. Its scale does not matter: W is fitted to it."""
        if self.H is not None:
            return np.array(self.H, self.dtype, order="C")
        drawn = columns(
            lambda rng, size: rng.standard_normal((size, self.k)), (self.k, self.m), self.seed, Purpose.START_H
        )
        return np.abs(drawn).astype(self.dtype)

    @property
    def model(self) -> dict[str, Field]:
        """The declaration of H."""
        return {"H": Field((self.k, self.m), np.dtype(self.dtype), nonnegative=True)}

    def weights(self) -> Array:
        """(P,): each party's share of the rows, or equal shares where the sizes are not published; sums to one."""
        sizes = np.ones(self.parties) if self.sizes is None else np.asarray(self.sizes, np.float64)
        return sizes / sizes.sum()


@dataclass(frozen=True)
class Federated(ABC):
    """A method that sends H down, keeps W at the parties, and ends with the exact W for the last H."""

    study: Study

    first = 1
    exchanges = 1
    sums = False
    asynchronous = False
    promise = None

    def declare(self, t: int, p: int) -> Exchange:
        """H goes down, H comes up."""
        return Exchange(self.study.model, self.study.model)

    def reach(self, public: Arrays, t: int) -> Mapping[str, float]:
        raise NotImplementedError("only a method that needs no more than sums is asked for their range")

    def disclosure(self, t: int, p: int) -> Disclosure | None:
        return None

    def release(self, down: Arrays, t: int, p: int) -> Any | None:
        return None

    def opening(self) -> Arrays:
        return {"H": self.study.start()}

    def begin(self, X: Matrix, p: int) -> Arrays:
        """The exact W for the common start."""
        return {"Wt": fitted_W(X, self.study.start())}

    def down(self, public: Arrays, t: int, p: int) -> Arrays:
        return {"H": public["H"]}

    def closing(self, public: Arrays, p: int) -> Arrays:
        return {"H": public["H"]}

    @property
    def rounds(self) -> int:
        """As the study has it."""
        return self.study.rounds

    @abstractmethod
    def party(self, X: Matrix, private: Arrays, down: Arrays, t: int, p: int) -> tuple[Arrays, Arrays]: ...

    @abstractmethod
    def server(self, public: Arrays, replies: Sequence[Reply], t: int) -> Arrays: ...

    def finish(self, X: Matrix, private: Arrays, down: Arrays, p: int) -> Arrays:
        return {**private, "Wt": fitted_W(X, down["H"], private["Wt"])}

    def measure(self, X: Matrix, private: Arrays, down: Arrays, p: int) -> Arrays:
        """Of the exact W for the H that the server sends."""
        H = down["H"]
        Wt = fitted_W(X, H, private["Wt"])
        return {"sq_error": np.array(X.sq_error(Wt, H)), "sq_norm": np.array(X.sq_norm())}

    def known_error(self, public: Arrays) -> float | None:
        return None


def fitted_W(X: Matrix, H: Array, first: Array | None = None) -> Array:
    """(k, n): the exact nonnegative W for H (k, m), `first` being a guess."""
    return exact_W(X, H, Problem(X.shape, X.nnz, len(H)), first=first)
