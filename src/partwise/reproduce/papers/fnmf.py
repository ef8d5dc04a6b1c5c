"""Dalleiger & Gionis: Creating Coherence in Federated Non-Negative Matrix Factorization."""

from partwise.reproduce.papers.fnmf_barycenters import FIG1
from partwise.reproduce.papers.fnmf_clients import FIG2
from partwise.reproduce.papers.fnmf_data import TABLE1_RMSD
from partwise.reproduce.papers.fnmf_drift import FIG3
from partwise.reproduce.papers.fnmf_noise import FIG4

EXPERIMENTS = (FIG1, FIG2, FIG3, FIG4, TABLE1_RMSD)
