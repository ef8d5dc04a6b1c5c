"""Find the parts a nonnegative matrix is made of: on one machine, on a cluster, and between organisations.

`NMF`, `MiniBatchNMF` and `FederatedNMF` are scikit-learn estimators; `factorize` is `NMF` without them, and
`factorize_on_ranks` for the processes of an MPI job, and `federate_on_ranks` for parties that are such processes.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from partwise._version import __version__

if TYPE_CHECKING:
    from partwise.estimators.factorize import factorize
    from partwise.estimators.federate_on_ranks import federate_on_ranks
    from partwise.estimators.federated import FederatedNMF
    from partwise.estimators.minibatch import MiniBatchNMF
    from partwise.estimators.nmf import NMF
    from partwise.estimators.on_ranks import factorize_on_ranks
    from partwise.estimators.private import PrivateNMF
    from partwise.estimators.robust import RobustNMF

__all__ = [
    "NMF",
    "FederatedNMF",
    "MiniBatchNMF",
    "PrivateNMF",
    "RobustNMF",
    "__version__",
    "factorize",
    "factorize_on_ranks",
    "federate_on_ranks",
]

_HOMES = {
    "FederatedNMF": "partwise.estimators.federated",
    "NMF": "partwise.estimators.nmf",
    "MiniBatchNMF": "partwise.estimators.minibatch",
    "PrivateNMF": "partwise.estimators.private",
    "RobustNMF": "partwise.estimators.robust",
    "factorize": "partwise.estimators.factorize",
    "factorize_on_ranks": "partwise.estimators.on_ranks",
    "federate_on_ranks": "partwise.estimators.federate_on_ranks",
}


def __getattr__(name: str) -> Any:
    """Import a public name when it is first asked for: `import partwise` alone loads nothing heavy."""
    if name not in _HOMES:
        raise AttributeError(f"module 'partwise' has no attribute {name!r}; it has {', '.join(__all__)}.")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
