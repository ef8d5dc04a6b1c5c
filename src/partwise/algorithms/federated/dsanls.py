"""Modified DSANLS (Qian, Tan, Ding, Li & Mamoulis, section 4.1): sketches of the data themselves are shown.

    paper            here                                             held by
    M_{:J_r} S^t     (S_pᵀ X_p)ᵀ, S_p being the party's rows of S     party, sent
    V_{J_r}ᵀ S^t     W_pᵀ S_p                                         party, sent
    U_{I_r}          H                                                server
    V_{J_r}          W_p, updated on features sketched by S'          party, never sent

The paper's Theorem 2 is no privacy statement, and by its Theorem 3 the data are recovered after n_p / d rounds. So every sketch
goes by the leak ledger (`privacy.leakage`), which refuses all of them unless the user writes an allowance down.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import final

import numpy as np

from partwise.algorithms.federated.sketching import Local
from partwise.algorithms.federated.study import Federated
from partwise.currency import Arrays, Disclosure, Exchange, Field, NormalEq, Reply, total
from partwise.errors import OptionError
from partwise.protocols import Matrix, Sketch
from partwise.updates import Proximal


@final
@dataclass(frozen=True)
class ModifiedDsanls(Federated):
    """Message: (m + k) d numbers up, m k down. With `sketches`, so many S are used in turn instead of a new one each round."""

    local: Local = field(default_factory=Local)
    allowance: float = 0.0
    sketches: int | None = None

    def __post_init__(self) -> None:
        if self.study.sizes is None:
            raise OptionError("method='modified-dsanls' draws for each party its rows of one S, so the parties must publish how many "
                              "rows they have.")  # fmt: skip

    @property
    def starts(self) -> list[int]:
        """Where in S each party's rows begin; the last number is n."""
        return [0, *np.cumsum(self.study.sizes or ()).tolist()]

    def declare(self, t: int, p: int) -> Exchange:
        d, dtype = self._samples(t).shape[1], np.dtype(self.study.dtype)
        up = {"SX": Field((d, self.study.m), dtype), "SW": Field((d, self.study.k), dtype)}
        return Exchange(self.study.model, up)

    def disclosure(self, t: int, p: int) -> Disclosure | None:
        rows = self.starts[p + 1] - self.starts[p]
        return Disclosure(self.local.kind, f"sketch {self._drawn(t)}", self._samples(t).shape[1], rows, self.allowance)

    def party(self, X: Matrix, private: Arrays, down: Arrays, t: int, p: int) -> tuple[Arrays, Arrays]:
        Wt = private["Wt"]
        if t > 1:
            HS = self.local.features(self.study.m, self.study.k, t - 1).apply(down["H"])
            Wt = self.local.move_W_sketched(X, HS, Wt, t - 1)
        S, start = self._samples(t), self.starts[p]
        SX, SW = X.T.sketched(S, start).T, S.apply(Wt, start).T
        dtype = self.study.dtype
        return {"Wt": Wt}, {"SX": np.ascontiguousarray(SX, dtype), "SW": np.ascontiguousarray(SW, dtype)}

    def server(self, public: Arrays, replies: Sequence[Reply], t: int) -> Arrays:
        said = total(replies).arrays
        eq = NormalEq(said["SW"].T @ said["SW"], said["SW"].T @ said["SX"])
        H, _ = Proximal(self.local.update, self.local.damping.weight(eq.gram, t))(public["H"], eq, ())
        return {"H": H}

    def _samples(self, t: int) -> Sketch:
        """S (n, d) of round t; party p draws its own rows of it."""
        return self.local.samples(self.starts[-1], self.study.k, self._drawn(t))

    def _drawn(self, t: int) -> int:
        return t if self.sketches is None else 1 + (t - 1) % self.sketches
