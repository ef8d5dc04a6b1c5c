"""What a party does by itself in a round: some iterations on its own data. A value, so that methods differ only in what they add."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import final

import numpy as np

from partwise.currency import Array, Carry, NormalEq
from partwise.protocols import Matrix, Update
from partwise.updates import AsRatio, Hals, Mu, Palm, Pgd, Proximal

LOCAL_SOLVERS: Mapping[str, Update] = {"ipalm": Palm(), "pgd": Pgd(), "hals": Hals(), "mu": AsRatio(Mu())}

Edit = Callable[[Array], Array]


@final
@dataclass(frozen=True)
class Local:
    """`steps` times: one update of W_p, one of H_p. What updates remember, such as inertia, lasts for the round."""

    update_W: Update
    update_H: Update
    steps: int

    def __call__(self, X: Matrix, Wt: Array, H: Array, edit: Edit | None = None) -> tuple[Array, Array]:
        """(Wt, H) after the steps; `edit` has the last word on H in each of them."""
        carry_W, carry_H = self.update_W.init(Wt), self.update_H.init(H)
        for _ in range(self.steps):
            Wt, carry_W = self.update_W(Wt, X.normal_eq(H, Wt), carry_W)
            H, carry_H = self.update_H(H, X.T.normal_eq(Wt, H), carry_H)
            if edit is not None:
                H = edit(H)
        return Wt, H


@final
@dataclass(frozen=True)
class Anchored:
    """The objective plus ½ proximity · mean(diag gram) · ‖F − anchor‖²: relative, so that no party's size or unit matters."""

    update: Update
    proximity: float
    anchor: Array

    def init(self, F: Array) -> Carry:
        return self.update.init(F)

    def __call__(self, F: Array, eq: NormalEq, carry: Carry) -> tuple[Array, Carry]:
        weight = self.proximity * float(np.trace(eq.gram)) / len(eq.gram)
        return Proximal(self.update, weight, self.anchor)(F, eq, carry)
