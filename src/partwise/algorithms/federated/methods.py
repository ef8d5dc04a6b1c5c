"""The methods between organisations by name: what `method=` and `--method` take, and the options of each."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from partwise.algorithms.federated.asyn import Asyn
from partwise.algorithms.federated.dsanls import ModifiedDsanls
from partwise.algorithms.federated.exact import Exact
from partwise.algorithms.federated.merging import MERGING, flag
from partwise.algorithms.federated.sketching import Local
from partwise.algorithms.federated.study import Study
from partwise.algorithms.federated.syn import SynSD, SynSSD
from partwise.algorithms.single.methods import numbers, whole
from partwise.algorithms.single.sanls import Damping
from partwise.errors import OptionError
from partwise.privacy.leakage import EXACT
from partwise.protocols import Round
from partwise.sketches import KINDS

Damped = tuple[float, float]  # (α, β) of μ_t = α + β t, relative to the gram
CAREFUL: Damped = (0.1, 0.003)


def exact(study: Study, *, sweeps: int = 20, extrapolate: bool = True) -> Round:
    """The pooled fit through sums alone; `sweeps` of HALS on each pair, pushed ahead if `extrapolate`."""
    return Exact(study, sweeps=whole(sweeps, "sweeps"), extrapolate=flag(extrapolate, "extrapolate"))


def syn_sd(study: Study, *, local_steps: int = 10) -> Round:
    """Syn-SD: local iterations, then the mean of the H_p."""
    return SynSD(study, local_steps=whole(local_steps, "local_steps"))


def syn_ssd_v(
    study: Study, *, local_steps: int = 10, sketch: str = "count", sketch_size: float = 0.1, damping: Damped = CAREFUL
) -> Round:
    """Syn-SSD-V: Syn-SD on sketched samples."""
    local = sketched(study, sketch, sketch_size, damping)
    return SynSD(study, local_steps=whole(local_steps, "local_steps"), samples=True, local=local)


def syn_ssd_u(
    study: Study, *, local_steps: int = 10, sketch: str = "count", sketch_size: float = 0.1, damping: Damped = CAREFUL
) -> Round:
    """Syn-SSD-U: sketched features, whose mean the parties share in every local iteration."""
    local = sketched(study, sketch, sketch_size, damping)
    return SynSSD(study, local_steps=whole(local_steps, "local_steps"), local=local)


def syn_ssd_uv(
    study: Study, *, local_steps: int = 10, sketch: str = "count", sketch_size: float = 0.1, damping: Damped = CAREFUL
) -> Round:
    """Syn-SSD-UV: both."""
    local = sketched(study, sketch, sketch_size, damping)
    return SynSSD(study, local_steps=whole(local_steps, "local_steps"), samples=True, local=local)


def asyn_sd(study: Study, *, local_steps: int = 10, relaxation: float = 10.0) -> Round:
    """Asyn-SD: the server folds each reply as it comes, with weight relaxation / (relaxation + t)."""
    return Asyn(study, positive(relaxation, "relaxation"), whole(local_steps, "local_steps"))


def asyn_ssd_v(
    study: Study, *, local_steps: int = 10, relaxation: float = 10.0, sketch: str = "count", sketch_size: float = 0.1,
    damping: Damped = CAREFUL,
) -> Round:  # fmt: skip
    """Asyn-SSD-V: Asyn-SD on sketched samples."""
    local = sketched(study, sketch, sketch_size, damping)
    return Asyn(study, positive(relaxation, "relaxation"), whole(local_steps, "local_steps"), samples=True, local=local)


def modified_dsanls(
    study: Study, *, allowance: float = 0.0, sketches: int | None = None, sketch: str = "count", sketch_size: float = 0.1,
    damping: Damped = CAREFUL,
) -> Round:  # fmt: skip
    """Modified DSANLS: sketches of the data are shown, up to an `allowance` (share of a party's rows); 0 refuses them all.

    `sketches`: use so many in turn, instead of a new one in each round.
    """
    if isinstance(allowance, bool) or not isinstance(allowance, (int, float)) or not 0 <= allowance <= 1:
        raise OptionError(f"allowance={allowance!r}; expected a share of the rows between 0 and 1, such as 0.05.")
    if sketch == EXACT:
        raise OptionError(
            "sketch='subsample' shows entries of the data as they are; take 'count', 'gaussian' or 'srht'."
        )
    turns = None if sketches is None else whole(sketches, "sketches")
    return ModifiedDsanls(study, sketched(study, sketch, sketch_size, damping), float(allowance), turns)


METHODS: Mapping[str, Callable[..., Round]] = {
    "exact": exact,
    "syn-sd": syn_sd,
    "syn-ssd-u": syn_ssd_u,
    "syn-ssd-v": syn_ssd_v,
    "syn-ssd-uv": syn_ssd_uv,
    "asyn-sd": asyn_sd,
    "asyn-ssd-v": asyn_ssd_v,
    "modified-dsanls": modified_dsanls,
    **MERGING,
}


def sketched(study: Study, kind: str, share: float, damping: Damped) -> Local:
    """How parties move on sketches."""
    if not isinstance(kind, str) or kind not in KINDS:
        raise OptionError(f"sketch={kind!r} is not known; expected one of: {', '.join(KINDS)}.")
    if isinstance(share, bool) or not isinstance(share, (int, float)) or not 0 < share <= 1:
        raise OptionError(f"sketch_size={share!r}; expected a fraction of the side, in (0, 1].")
    return Local(kind, float(share), Damping(*numbers(damping, "damping")), seed=study.seed)


def positive(value: float, name: str) -> float:
    """A positive number, or a sentence."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value < float("inf"):
        raise OptionError(f"{name}={value!r}; expected a positive number.")
    return float(value)


def method(name: str, study: Study, options: Mapping[str, Any]) -> Round:
    """The named method for a study, or the sentence why not."""
    if name not in METHODS:
        raise OptionError(f"method={name!r} is not known; expected one of: {', '.join(METHODS)}.")
    known = options_of(name)
    unknown = sorted(set(options) - set(known))
    if unknown:
        can = f"its options are: {', '.join(known)}" if known else "it has no options"
        raise OptionError(f"method={name!r} does not know {', '.join(unknown)}; {can}.")
    return METHODS[name](study, **options)


def options_of(name: str) -> list[str]:
    """The options that a method has."""
    return [p.name for p in inspect.signature(METHODS[name]).parameters.values() if p.kind is p.KEYWORD_ONLY]
