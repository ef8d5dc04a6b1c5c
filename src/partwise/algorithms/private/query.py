"""What private methods are made of: queries, each a sum over records that one record can move only so far, and what anybody may learn from
the noisy answers.

A method never sees X but through its queries. So whoever asks them may be a curator who holds all records, or a server that hears
the noisy sum of many parties; and what follows from the answers is free (post-processing).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple, Protocol, final

import numpy as np

from partwise.currency import Array, Arrays
from partwise.errors import OptionError
from partwise.privacy.accountant import Neighbours
from partwise.privacy.clip import check_limit
from partwise.protocols import Matrix
from partwise.randomness import Purpose, columns

APART = 3e-3


@final
@dataclass(frozen=True)
class Knowledge:
    """All that anybody may know before the first release: nothing of the data."""

    n: int  # records
    m: int  # features
    k: int  # components
    mu: float  # what may be spent in all, as the strength of Gaussian noise
    neighbours: Neighbours = "replace"
    row_norm: float | None = None  # rows are shortened to this length; None: every row is brought to length one
    seed: int = 0  # of starts and simulations, which need not be secret
    delta: float = 1e-5  # for the published accounting, which has no other strength than (ε, δ)

    def __post_init__(self) -> None:
        if self.row_norm is not None:
            check_limit("row_norm", self.row_norm)
        if self.k < 1 or self.m < 1:
            raise OptionError(f"{self.k} components of {self.m} features cannot be had; expected one or more of each.")


class Query(NamedTuple):
    """A sum over the records, divided by the public n."""

    what: str
    entries: int
    sensitivity: float  # L2, by how much one record can move it
    share: float  # of μ²: what its noise may cost
    answer: Callable[[Matrix], Array]  # the records of one holder → (entries,), without noise


class PrivateMethod(Protocol):
    """Asks its queries one after another; each may depend on what the answers before it taught."""

    @property
    def known(self) -> Knowledge: ...

    @property
    def rounds(self) -> int:
        """How many queries."""
        ...

    def opening(self) -> Arrays:
        """What is public before the first answer."""
        ...

    def needs(self, t: int) -> Mapping[str, tuple[int, ...]]:
        """What of `public` the query of round t is made from, with its shape: what parties must be told."""
        ...

    def entries(self, t: int) -> int:
        """How many numbers its answer has."""
        ...

    def query(self, public: Arrays, t: int) -> Query:
        """The query of round t = 1, 2, …, which must depend on nothing but what is public."""
        ...

    def learn(self, public: Arrays, noisy: Array, scale: float, t: int) -> Arrays:
        """What is public after the answer, whose noise has standard deviation `scale` in every entry."""
        ...

    def components(self, public: Arrays) -> Array:
        """H (k, m), rows of length one, from all that is public."""
        ...


def random_components(known: Knowledge) -> Array:
    """(k, m): a start that depends on nothing but a public seed, rows of length one."""
    drawn = columns(lambda rng, size: rng.random((size, known.k)), (known.k, known.m), known.seed, Purpose.START_H)
    return unit_rows(drawn, np.full(known.m, known.m**-0.5))


def unit_rows(H: Array, otherwise: Array) -> Array:
    """Rows of length one; `otherwise` (m,) or (k, m) in place of dead ones."""
    lengths = np.linalg.norm(H, axis=1, keepdims=True)
    return np.where(lengths > 0, H / np.where(lengths > 0, lengths, 1.0), otherwise)


def apart(H: Array, known: Knowledge) -> Array:
    """H (k, m), each entry changed by up to APART of itself, by public random numbers; rows of length one.

    Noisy statistics of low rank give components that depend on one another linearly: then least squares have no single solution,
    and exact methods go in circles. Zeros stay zeros.
    """
    drawn = columns(lambda rng, size: rng.uniform(-APART, APART, (size, len(H))), H.shape, known.seed, Purpose.SIMULATE)
    moved = H * (1 + drawn)
    lengths = np.linalg.norm(moved, axis=1, keepdims=True)
    return moved / np.where(lengths > 0, lengths, 1.0)
