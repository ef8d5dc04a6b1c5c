"""How good factors are, for people: the fit of components to data, errors of what was observed, coherence of topics, drift of parties.

Each takes arrays or sparse matrices as the estimators do. Nothing here adds noise: figures of data that need protection are for
whoever may see the data.
"""

from partwise.metrics.coherence import npmi, tc_w2v, top_features
from partwise.metrics.fit import objective, rmse
from partwise.metrics.parties import component_similarity, drift, orthogonality_gap, rmsd_sum, total_distance

__all__ = [
    "component_similarity",
    "drift",
    "npmi",
    "objective",
    "orthogonality_gap",
    "rmsd_sum",
    "rmse",
    "tc_w2v",
    "top_features",
    "total_distance",
]
