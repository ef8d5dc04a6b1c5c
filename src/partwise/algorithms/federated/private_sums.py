"""A private method whose records lie at several parties: each round the server learns one noisy sum, as a curator would.

    party p      v_p ← the query's answer over its own records;   says round(v_p / g) + its share of the noise, in whole steps g
    server       Σ_p of it, times g: the noisy answer;   everything that follows from it is free

With unit "party" v_p is the mean over the party's records, so that every party counts the same however many it has. As each record is
clipped, a mean of records lies in their convex hull, and two such means are no farther apart than two records can be: the
sensitivity is that of P records.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

from partwise.algorithms.federated.noised import FLOAT64, SAID, Noised
from partwise.algorithms.private.query import PrivateMethod, Query, random_components
from partwise.currency import Arrays, Exchange, Field, Reply
from partwise.privacy.ledger import Release
from partwise.privacy.mechanisms import LatticeGaussian
from partwise.protocols import Matrix

ROUNDING = 1e-6  # of the sensitivity: what float64 means over a party's records, up to 10⁹ of them, may be off by


@final
@dataclass(frozen=True)
class PrivateSums(Noised):
    """Message: what the query is made from down, the query's entries up."""

    asked: PrivateMethod

    sums = True

    def declare(self, t: int, p: int) -> Exchange:
        down = {name: Field(shape, FLOAT64) for name, shape in self.asked.needs(t).items()}
        return Exchange(down, {SAID: Field((self.asked.entries(t),), FLOAT64)})

    def opening(self) -> Arrays:
        return {"H": random_components(self.asked.known), **self.asked.opening()}

    def down(self, public: Arrays, t: int, p: int) -> Arrays:
        return {name: public[name] for name in self.asked.needs(t)}

    def release(self, down: Arrays, t: int, p: int) -> Release:
        query, mechanism = self._asked(down, t)
        return self.told(query.what, mechanism)

    def party(self, X: Matrix, private: Arrays, down: Arrays, t: int, p: int) -> tuple[Arrays, Arrays]:
        query, mechanism = self._asked(down, t)
        vector = query.answer(X)
        if self.terms.unit == "party":
            vector = vector / X.shape[0]
        return private, {SAID: self.shares.said(vector, mechanism, self.noise(t, p))}

    def server(self, public: Arrays, replies: Sequence[Reply], t: int) -> Arrays:
        _, mechanism = self._asked(public, t)
        noisy, scale, parties = self.heard(replies, mechanism)
        missed = self._missed(parties)
        learned = {**public, **self.asked.learn(public, noisy * missed, scale * missed, t)}
        return learned if t < self.asked.rounds else {**learned, "H": self.asked.components(learned)}

    def _asked(self, public: Arrays, t: int) -> tuple[Query, LatticeGaussian]:
        query = self.asked.query(public, t)
        strength = self.asked.known.mu * query.share**0.5
        rounding = ROUNDING if self.terms.unit == "party" else 0.0  # else it is part of the query's
        return query, LatticeGaussian.of_strength(strength, query.sensitivity * (1 + rounding), query.entries)

    def _missed(self, parties: tuple[int, ...]) -> float:
        """What makes up for parties that vanished: a mean is over those that are there."""
        weights = self.study.weights()
        return float(weights.sum() / weights[list(parties)].sum())
