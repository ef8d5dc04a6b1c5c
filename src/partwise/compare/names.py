"""Who can be asked for, by name: our own methods, other libraries, and methods that other packages bring.

A package brings a method by an entry point of the group `partwise.methods`, in its pyproject.toml:

    [project.entry-points."partwise.methods"]
    my-method = "my_package:my_method"

    def my_method(X, W, H, *, seed=0):
        \"\"\"X (n, m), an array or scipy csr_array; W (n, k) and H (k, m), not to be written to.\"\"\"
        yield W, H                  # the start, unchanged: what comes before it is not timed
        while True:
            W, H = ...              # one iteration; the time it takes is measured
            yield W, H              # or: yield W, H, bytes_sent_so_far

`seed` may be left out of the signature. The errors of what it yields are evaluated outside its time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from partwise.algorithms.distributed.methods import METHODS as CLUSTER
from partwise.algorithms.single.methods import ALIASES, SOLVERS
from partwise.compare import peers
from partwise.compare.cluster import Cluster
from partwise.compare.contestants import Contestant, Ours, Peer, missing
from partwise.errors import OptionError, RunError
from partwise.reports.quantities import value_of

GROUP = "partwise.methods"
PEERS: Mapping[str, Peer] = {
    "sklearn-cd": Peer("scikit-learn cd", peers.sklearn_cd, ("scikit-learn",), patience=25.0),
    "sklearn-mu": Peer("scikit-learn mu", peers.sklearn_mu, ("scikit-learn",)),
    "nmf-torch-hals": Peer("nmf-torch hals", peers.nmf_torch("hals"), ("nmf-torch", "torch"), dense_only=True),
    "nmf-torch-halsvar": Peer("nmf-torch halsvar", peers.nmf_torch("halsvar"), ("nmf-torch", "torch"), dense_only=True),
    "nmf-torch-bpp": Peer("nmf-torch bpp", peers.nmf_torch("bpp"), ("nmf-torch", "torch"), dense_only=True),
    "torchnmf-mu": Peer("torchnmf mu", peers.torchnmf_mu, ("torchnmf", "torch")),
    "nimfa-lsnmf": Peer("nimfa lsnmf", peers.nimfa_lsnmf, ("nimfa",)),
    "nimfa-mu": Peer("nimfa mu", peers.nimfa_mu, ("nimfa",)),
}
LIBRARIES = ("sklearn", "nmf-torch", "torchnmf", "nimfa")


def method(word: str) -> Contestant:
    """The method that `--methods` names: `hals`, with options `sanls:sketch=gaussian:inner=pgd`, or for a cluster `did:ranks=8`."""
    name, *options = word.split(":")
    if name in ("auto", *SOLVERS, *ALIASES):
        return Ours(word, name, _options(word, options))
    if name in CLUSTER:
        return _cluster(word, name, _options(word, options))
    if name in PEERS:
        return _present(PEERS[name], name)
    outside = _outside()
    if name not in outside:
        known = ["auto", *SOLVERS, *CLUSTER, *PEERS, *outside]
        close = get_close_matches(name, known, 3)
        hint = f"Did you mean {' or '.join(close)}?" if close else f"Expected some of: {', '.join(known)}."
        raise OptionError(f"There is no method {name!r}. {hint}")
    if options:
        raise OptionError(f"{word!r}: {name} comes from another package and takes no options here.")
    return Peer(name, _loaded(outside[name]))


def _cluster(word: str, name: str, options: dict[str, Any]) -> Cluster:
    """`did`, or `did:ranks=8`: on simulated ranks, four unless said otherwise."""
    ranks = options.pop("ranks", 4)
    if isinstance(ranks, bool) or not isinstance(ranks, int) or ranks < 1:
        raise OptionError(f"{word!r}: ranks={ranks!r}; expected a positive whole number.")
    return Cluster(word, name, ranks, options)


def peers_of(word: str) -> list[Contestant]:
    """What `--peers` names: a library, with all that it has, or one of its methods."""
    names = [name for name in PEERS if name == word or (word in LIBRARIES and name.rpartition("-")[0] == word)]
    if not names:
        raise OptionError(f"There is no peer {word!r}; expected some of: {', '.join((*LIBRARIES, *PEERS))}.")
    return [_present(PEERS[name], name) for name in names]


def alone(contestants: Sequence[Contestant]) -> list[Contestant]:
    """Each once, in the order of first mention."""
    return list({contestant.name: contestant for contestant in contestants}.values())


def _present(peer: Peer, word: str) -> Peer:
    package = missing(peer)
    if package is not None:
        raise RunError(f"{word} needs {package}, which is not installed: pip install {package}, or leave {word} out.")
    return peer


def _options(word: str, pairs: Sequence[str]) -> dict[str, Any]:
    options: dict[str, Any] = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not (name and equals and value):
            raise OptionError(f"{word!r}: {pair!r} is not of the form name=value, as in hals:acceleration=3.")
        options[name.replace("-", "_")] = value_of(value)
    return options


def _outside() -> dict[str, EntryPoint]:
    return {point.name: point for point in entry_points(group=GROUP)}


def _loaded(point: EntryPoint) -> Any:
    try:
        function = point.load()
    except Exception as error:  # whatever another package does when it is imported
        raise RunError(
            f"The method {point.name} ({point.value}) cannot be loaded: {type(error).__name__}: {error}."
        ) from None
    if not callable(function):
        raise RunError(f"The method {point.name} ({point.value}) is not a function but a {type(function).__name__}.")
    return function
