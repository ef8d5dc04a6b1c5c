"""Syn-SD and Syn-SSD (Qian, Tan, Ding, Li & Mamoulis, Algorithms 4 and 5): local iterations, then the mean of the H_p.

    paper            here                                  held by
    M_{:J_r}         X_pᵀ                                  party
    U_(r)            H_p, begins a round as H              party, sent
    V_{J_r}          W_p                                   party, never sent
    T_1, T_2         rounds, local_steps
    S_1, S_2         S₁ of samples, S₂ of features         drawn where they are needed, never sent

-V sketches samples in the H-update, -U features in the W-update, for which the parties share the mean of their H_p S₂ in
every iteration. All that is shared is summed, so a secure sum can hide what each party says.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import final

import numpy as np

from partwise.algorithms.federated.bounded import Bounded
from partwise.algorithms.federated.sketching import Local, limit
from partwise.currency import Array, Arrays, Exchange, Field, Reply
from partwise.protocols import Matrix


@final
@dataclass(frozen=True)
class SynSD(Bounded):
    """Algorithm 4; with `samples`, Syn-SSD-V. Message: m k numbers up and down."""

    local_steps: int = 10  # T₂
    samples: bool = False  # -V
    local: Local = field(default_factory=Local)

    def move(self, X: Matrix, private: Arrays, down: Arrays, t: int) -> tuple[Arrays, Arrays]:
        Wt, H = private["Wt"], down["H"]
        for step in range(1, self.local_steps + 1):                                 # 3:
            now = (t - 1) * self.local_steps + step                                 # 4:
            if self.samples:
                H = self.local.move_H_sketched(X, Wt, H, now)                       # Alg. 5, 5: and 6:
            else:
                H = self.local.move_H(X, Wt, H)                                     # 5:
            Wt = self.local.move_W(X, H, Wt)                                        # 6:
        return {"Wt": Wt, "H": H}, {"H": H}

    def step(self, public: Arrays, said: Reply, t: int) -> Arrays:
        return {**public, "H": mean(said, "H").astype(self.study.dtype)}            # 7:

    def exchange(self, t: int) -> Exchange:
        return Exchange(self.study.model, self.study.model)

    def ranges(self, public: Arrays, most: float) -> Mapping[str, float]:
        return {"H": largest_H(public, most)}

    def send(self, public: Arrays, t: int) -> Arrays:
        return {"H": public["H"]}


@final
@dataclass(frozen=True)
class SynSSD(Bounded):
    """Algorithm 5: Syn-SSD-U; with `samples`, Syn-SSD-UV. An exchange is an inner iteration.

    Message: k d numbers up and down, and m k in the last exchange of a round. There the mean of the H_p S₂ follows from the mean
    of the H_p, so one message serves lines 8 and 10. The W-update of line 9 is made when the next message has come.
    """

    local_steps: int = 10  # T₂
    samples: bool = False
    local: Local = field(default_factory=Local)

    @property
    def exchanges(self) -> int:  # type: ignore[override]
        return self.local_steps

    def exchange(self, t: int) -> Exchange:
        return Exchange(self._message(t - 1), self._message(t))

    def ranges(self, public: Arrays, most: float) -> Mapping[str, float]:
        m, k = self.study.m, self.study.k
        return {"H": largest_H(public, most), "HS": m * self.local.largest(m, k) * largest_H(public, most)}

    def send(self, public: Arrays, t: int) -> Arrays:
        return {name: public[name] for name in self._message(t - 1)}

    def move(self, X: Matrix, private: Arrays, down: Arrays, t: int) -> tuple[Arrays, Arrays]:
        Wt, H = private["Wt"], down.get("H", private.get("H"))
        assert H is not None, "the first message of a round is H"
        if t > 1:
            HS = down["HS"] if "HS" in down else self._features(t - 1).apply(H)
            Wt = self.local.move_W_sketched(X, HS, Wt, t - 1)                       # 9: of the iteration before
        if self.samples:
            H = self.local.move_H_sketched(X, Wt, H, t)                             # 5: and 6:
        else:
            H = self.local.move_H(X, Wt, H)
        return {"Wt": Wt, "H": H}, {"H": H} if self._ends_round(t) else {"HS": self._features(t).apply(H)}  # 7:

    def step(self, public: Arrays, said: Reply, t: int) -> Arrays:
        name = "H" if self._ends_round(t) else "HS"
        return {**public, name: mean(said, name).astype(self.study.dtype)}          # 10:, 8:

    def _message(self, t: int) -> Mapping[str, Field]:
        """What parties say in exchange t, and the server passes on before t + 1; in exchange 0 it gives the start."""
        if self._ends_round(t):
            return self.study.model
        k, m = self.study.k, self.study.m
        return {"HS": Field((k, self.local.size(m, k)), np.dtype(self.study.dtype))}

    def _features(self, t: int):
        return self.local.features(self.study.m, self.study.k, t)

    def _ends_round(self, t: int) -> bool:
        return t % self.local_steps == 0


def mean(said: Reply, name: str) -> Array:
    """The mean over parties, from the sum of what they said."""
    return said.arrays[name] / len(said.parties)


def largest_H(public: Arrays, most: float) -> float:
    """A bound on the entries of every H_p: parties hold them below a limit of their own, or where they were."""
    return max(limit(most), float(public["H"].max(initial=0.0)) * (1 + 1e-6))
