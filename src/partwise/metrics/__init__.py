"""How good factors are, for people: the fit of components to data, errors of what was observed, coherence of topics.

Each takes arrays or sparse matrices as the estimators do. Nothing here adds noise: figures of data that need protection are for
whoever may see the data.
"""

from partwise.metrics.coherence import npmi, tc_w2v, top_features
from partwise.metrics.fit import objective, rmse

__all__ = ["npmi", "objective", "rmse", "tc_w2v", "top_features"]
