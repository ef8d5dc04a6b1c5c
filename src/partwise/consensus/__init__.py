"""Merges several H (k, m): alignments say whose component is whose, barycenters make one H of many, metrics measure."""

from partwise.consensus.align import ALIGNMENTS
from partwise.consensus.barycenters import BARYCENTERS

__all__ = ["ALIGNMENTS", "BARYCENTERS"]
