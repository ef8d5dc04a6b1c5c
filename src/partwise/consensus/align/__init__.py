"""Which components of one H are which of another: the alignments of FNMF, under the names that users see."""

from collections.abc import Callable, Mapping

from partwise.consensus.align.knn import Knn
from partwise.consensus.align.lap import Lap
from partwise.consensus.align.lap_rho import LapRho
from partwise.consensus.align.sinkhorn import Sinkhorn
from partwise.consensus.align.sinkhorn_rho import SinkhornRho
from partwise.consensus.plans import Alignment

ALIGNMENTS: Mapping[str, Callable[..., Alignment]] = {
    "lap": Lap, "lap-rho": LapRho, "sinkhorn": Sinkhorn, "sinkhorn-rho": SinkhornRho, "knn": Knn,
}  # fmt: skip
PERSONALISED = ("lap-rho", "sinkhorn-rho")  # may leave components of a party unaligned

__all__ = ["ALIGNMENTS", "PERSONALISED", "Alignment", "Knn", "Lap", "LapRho", "Sinkhorn", "SinkhornRho"]
