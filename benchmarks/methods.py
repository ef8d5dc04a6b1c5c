"""Who takes part: name, library, how to run it, and how long it is waited for."""

from __future__ import annotations

from partwise.compare.contestants import Ours, Peer, missing, unfit
from partwise.compare.names import PEERS

__all__ = ["DEFAULT", "METHODS", "PARTWISE", "SKLEARN", "Method", "missing", "unfit"]

Method = Ours | Peer
PARTWISE = Ours("partwise", "auto")
SKLEARN = PEERS["sklearn-cd"]
METHODS: tuple[Method, ...] = (
    PARTWISE,
    *PEERS.values(),
    *(
        Ours(f"partwise {solver}", solver)
        for solver in ("hals", "bpp", "mu", "nesterov", "randomized", "sketched", "sanls")
    ),
)
DEFAULT = tuple(method.name for method in METHODS[:9])
