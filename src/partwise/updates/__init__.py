"""Everything that changes a factor: (F, pair, carry) → (F, carry). Columns of F are independent of one another."""

from partwise.updates.admm import Admm
from partwise.updates.box import BoxHals
from partwise.updates.bpp import Bpp
from partwise.updates.edits import AsRatio, Fixed, Penalised, Proximal
from partwise.updates.gradient import Nesterov, Palm, Pgd
from partwise.updates.hals import BallHals, Hals
from partwise.updates.mu import Mu
from partwise.updates.refit import Refit

__all__ = [
    "Admm",
    "AsRatio",
    "BallHals",
    "BoxHals",
    "Bpp",
    "Fixed",
    "Hals",
    "Mu",
    "Nesterov",
    "Palm",
    "Penalised",
    "Pgd",
    "Proximal",
    "Refit",
]
