"""Wang, Suwandi & Chang: Demystifying Model Averaging for Communication-Efficient Federated Matrix Factorization."""

from partwise.reproduce.papers.fedmavg_clustering import CLUSTERING
from partwise.reproduce.papers.fedmavg_recommendation import RECOMMENDATION

EXPERIMENTS = (CLUSTERING, RECOMMENDATION)
