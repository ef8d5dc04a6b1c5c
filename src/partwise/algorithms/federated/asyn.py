"""Asyn-SD and Asyn-SSD-V (Qian, Tan, Ding, Li & Mamoulis, Algorithms 6 and 7): nobody waits for anybody.

    paper            here                                       held by
    U^t              H, after t replies                         server
    U_(r), V_{J_r}   H_p, W_p                                   party
    ρ, ω^t           relaxation, ρ / (ρ + t)
    T                local_steps
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import final

from partwise.algorithms.federated.sketching import Local
from partwise.algorithms.federated.study import Federated
from partwise.currency import Arrays, Reply
from partwise.protocols import Matrix


@final
@dataclass(frozen=True)
class Asyn(Federated):
    """Message: m k numbers up and down, whenever a party is ready. The server sees each party's H_p."""

    relaxation: float = 10.0  # ρ
    local_steps: int = 10  # T
    samples: bool = False  # Asyn-SSD-V
    local: Local = field(default_factory=Local)

    asynchronous = True

    def party(self, X: Matrix, private: Arrays, down: Arrays, t: int, p: int) -> tuple[Arrays, Arrays]:
        Wt, H = private["Wt"], down["H"]                                            # Alg. 7, 3: and 4:
        for step in range(1, self.local_steps + 1):                                 # 5:
            Wt = self.local.move_W(X, H, Wt)                                        # 6:
            if self.samples:
                H = self.local.move_H_sketched(X, Wt, H, (t - 1) * self.local_steps + step)
            else:
                H = self.local.move_H(X, Wt, H)                                     # 7:
        return {"Wt": Wt, "H": H}, {"H": H}                                         # 8:

    def server(self, public: Arrays, replies: Sequence[Reply], t: int) -> Arrays:
        H = public["H"]
        for reply in replies:                                                       # Alg. 6, 4:
            weight = H.dtype.type(self.relaxation / (self.relaxation + t))          # 5:
            H = (1 - weight) * H + weight * reply.arrays["H"]                       # 6:
        return {"H": H}                                                             # 7:
