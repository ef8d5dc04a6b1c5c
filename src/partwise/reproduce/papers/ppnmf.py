"""Saha & Imtiaz: Privacy Preserving Non-Negative Matrix Factorization with Outliers."""

from partwise.reproduce.papers.ppnmf_budget import FIG3, FIG6
from partwise.reproduce.papers.ppnmf_curves import FIG2, FIG5
from partwise.reproduce.papers.ppnmf_parts import PARTS
from partwise.reproduce.papers.ppnmf_ratings import TABLE4
from partwise.reproduce.papers.ppnmf_topics import FIG4, TABLE3

EXPERIMENTS = (FIG2, FIG3, FIG4, TABLE3, FIG5, FIG6, *PARTS, TABLE4)
