"""Syn-SD (Qian, Tan, Ding, Li & Mamoulis, Algorithm 4): local iterations from the common H, then the mean of the H_p.

    paper            here                      held by
    M_{:J_r}         X_pᵀ                      party
    U_(r)            H_p, begins a round as H  party, sent
    V_{J_r}          W_p                       party, never sent
    T_1, T_2         rounds, local_steps
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import final

from partwise.algorithms.federated.study import Federated
from partwise.currency import Arrays, Reply, total
from partwise.protocols import Matrix, Update
from partwise.updates import Hals


@final
@dataclass(frozen=True)
class SynSD(Federated):
    """Message: m k numbers up and down."""

    local_steps: int = 10  # T₂
    update: Update = field(default_factory=Hals)

    sums = True

    def party(self, X: Matrix, private: Arrays, down: Arrays, t: int, p: int) -> tuple[Arrays, Arrays]:
        Wt, H = private["Wt"], down["H"]
        for _ in range(self.local_steps):                               # 3:
            H, _ = self.update(H, X.T.normal_eq(Wt, H), ())             # 5:
            Wt, _ = self.update(Wt, X.normal_eq(H, Wt), ())             # 6:
        return {"Wt": Wt, "H": H}, {"H": H}

    def server(self, public: Arrays, replies: Sequence[Reply], t: int) -> Arrays:
        said = total(replies)
        return {"H": (said.arrays["H"] / len(said.parties)).astype(self.study.dtype)}  # 7:
