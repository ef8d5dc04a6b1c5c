"""The methods between organisations by name: what `method=` and `--method` take, and the options of each."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from partwise.algorithms.federated.exact import Exact
from partwise.algorithms.federated.study import Study
from partwise.algorithms.federated.syn import SynSD
from partwise.algorithms.single.methods import whole
from partwise.errors import OptionError
from partwise.protocols import Round


def exact(study: Study, *, sweeps: int = 10) -> Round:
    """The pooled fit through sums alone; `sweeps` of HALS on each pair."""
    return Exact(study, sweeps=whole(sweeps, "sweeps"))


def syn_sd(study: Study, *, local_steps: int = 10) -> Round:
    """Local iterations, then the mean of the H_p (Syn-SD)."""
    return SynSD(study, local_steps=whole(local_steps, "local_steps"))


METHODS: Mapping[str, Callable[..., Round]] = {
    "exact": exact,
    "syn-sd": syn_sd,
}


def method(name: str, study: Study, options: Mapping[str, Any]) -> Round:
    """The named method for a study, or the sentence why not."""
    if name not in METHODS:
        raise OptionError(f"method={name!r} is not known; expected one of: {', '.join(METHODS)}.")
    build = METHODS[name]
    known = [p.name for p in inspect.signature(build).parameters.values() if p.kind is p.KEYWORD_ONLY]
    unknown = sorted(set(options) - set(known))
    if unknown:
        can = f"its options are: {', '.join(known)}" if known else "it has no options"
        raise OptionError(f"method={name!r} does not know {', '.join(unknown)}; {can}.")
    return build(study, **options)
