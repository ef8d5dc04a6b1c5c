"""One H for the many that parties send, under the names that users see."""

from collections.abc import Callable, Mapping

from partwise.consensus.barycenters.cmeans import Cmeans
from partwise.consensus.barycenters.fixed_point import FixedPoint
from partwise.consensus.barycenters.greedy import Greedy
from partwise.consensus.barycenters.kmeans import Kmeans
from partwise.consensus.barycenters.mean import Mean
from partwise.consensus.barycenters.merged import Barycenter, Merged
from partwise.consensus.barycenters.tree import Tree

BARYCENTERS: Mapping[str, Callable[..., Barycenter]] = {
    "fixed-point": FixedPoint, "kmeans": Kmeans, "cmeans": Cmeans, "tree": Tree, "greedy": Greedy, "mean": Mean,
}  # fmt: skip

__all__ = ["BARYCENTERS", "Barycenter", "Cmeans", "FixedPoint", "Greedy", "Kmeans", "Mean", "Merged", "Tree"]
