"""The methods that merge what parties send, by name, with their options: averages, FNMF, FedMAvg, SFMF."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from partwise.algorithms.federated.averaging import FedAvg
from partwise.algorithms.federated.fedmavg import FedMAvg
from partwise.algorithms.federated.fnmf import Fnmf
from partwise.algorithms.federated.local import LOCAL_SOLVERS, Local
from partwise.algorithms.federated.sfmf import Sfmf
from partwise.algorithms.federated.study import Study
from partwise.algorithms.single.methods import whole
from partwise.consensus import ALIGNMENTS, BARYCENTERS
from partwise.consensus.align import PERSONALISED
from partwise.errors import OptionError
from partwise.protocols import Round
from partwise.updates.ball import ball
from partwise.updates.gradient import orthant, simplex

PROJECTIONS = {"orthant": orthant, "simplex": simplex, "ball": ball}
ONE_ROUND = ("ipalm-once", "mur-once")  # average once: further rounds would make them FedAvg


def fedavg(study: Study, *, local_steps: int = 10, local_solver: str = "ipalm", own_starts: bool = False) -> Round:
    """Local steps from the common H, then the mean of the H_p, weighted by size where sizes are published."""
    return FedAvg(study, local(local_steps, local_solver), own_starts=flag(own_starts, "own_starts"))


def fedprox(
    study: Study, *, proximity: float = 0.1, local_steps: int = 10, local_solver: str = "ipalm",
    own_starts: bool = False,
) -> Round:  # fmt: skip
    """FedAvg with ½ `proximity` · mean(diag W_pᵀW_p) · ‖H_p − H‖² added to the parties' objectives."""
    apart = flag(own_starts, "own_starts")
    return FedAvg(study, local(local_steps, local_solver), at_least_zero(proximity, "proximity"), apart)


def ipalm_once(study: Study, *, local_steps: int = 200) -> Round:
    """Every party fits its own data by iPALM from a start of its own; one mean of what they found."""
    return FedAvg(study, local(local_steps, "ipalm"), own_starts=True)


def mur_once(study: Study, *, local_steps: int = 200) -> Round:
    """The same by multiplicative updates."""
    return FedAvg(study, local(local_steps, "mu"), own_starts=True)


def fnmf(
    study: Study, *, alignment: str = "lap", barycenter: str = "fixed-point", proximity: float = 0.1,
    local_steps: int = 10, local_solver: str = "ipalm", own_starts: bool = False, own_order: bool = True,
    alignment_options: Mapping[str, Any] | None = None,
) -> Round:  # fmt: skip
    """Parties are pulled towards their own alignment of H; the server takes a barycenter of the H_p."""
    align = named(ALIGNMENTS, alignment, "alignment", alignment_options or {})
    wanted = inspect.signature(known(BARYCENTERS, barycenter, "barycenter")).parameters
    given = {name: value for name, value in {"align": align, "seed": study.seed}.items() if name in wanted}
    center = BARYCENTERS[barycenter](**given)
    return Fnmf(
        study, local(local_steps, local_solver), align, center, at_least_zero(proximity, "proximity"),
        flag(own_starts, "own_starts"), flag(own_order, "own_order"), alignment in PERSONALISED,
    )  # fmt: skip


def fedmavg(
    study: Study, *, w_steps: int = 10, h_steps: int = 50, participation: int | None = None, w_margin: float = 2.0,
    h_margin: float = 1.0, project_W: str = "orthant", project_H: str = "orthant",
) -> Round:  # fmt: skip
    """Ever fewer local gradient steps on H, and `participation` parties drawn with replacement to be heard (None: all, once)."""
    if not at_least_zero(w_margin, "w_margin") > 1 or not at_least_zero(h_margin, "h_margin") > 0:
        raise OptionError(f"w_margin={w_margin!r}, h_margin={h_margin!r}; expected numbers above 1 and above 0.")
    return FedMAvg(
        study, whole(w_steps, "w_steps"), whole(h_steps, "h_steps"),
        None if participation is None else whole(participation, "participation"), w_margin, h_margin,
        known(PROJECTIONS, project_W, "project_W"), known(PROJECTIONS, project_H, "project_H"),
    )  # fmt: skip


def sfmf(study: Study, *, w_steps: int = 10) -> Round:
    """The server takes gradient steps on H along the sum of the parties' gradients, which is all that it sees of them."""
    return Sfmf(study, whole(w_steps, "w_steps"))


def local(steps: int, solver: str) -> Local:
    """What a party does by itself in a round."""
    update = known(LOCAL_SOLVERS, solver, "local_solver")
    return Local(update, update, whole(steps, "local_steps"))


def known(choices: Mapping[str, Any], name: str, what: str) -> Any:
    """What goes by a name, or a sentence."""
    if not isinstance(name, str) or name not in choices:
        raise OptionError(f"{what}={name!r} is not known; expected one of: {', '.join(choices)}.")
    return choices[name]


def named(choices: Mapping[str, Callable[..., Any]], name: str, what: str, options: Mapping[str, Any]) -> Any:
    """The same, made with its options."""
    build = known(choices, name, what)
    fields = inspect.signature(build).parameters
    if not isinstance(options, Mapping):
        raise OptionError(f"{what}_options={options!r}; expected options by name, of: {', '.join(fields) or 'none'}.")
    unknown = sorted(set(options) - set(fields))
    if unknown:
        can = f"its options are: {', '.join(fields)}" if fields else "it has no options"
        raise OptionError(f"{what}={name!r} does not know {', '.join(unknown)}; {can}.")
    try:
        return build(**options)
    except TypeError:  # text where numbers are compared
        raise OptionError(f"{what}_options={dict(options)!r}; expected numbers.") from None


def flag(value: Any, name: str) -> bool:
    """True or False, or a sentence."""
    if not isinstance(value, bool):
        raise OptionError(f"{name}={value!r}; expected True or False.")
    return value


def at_least_zero(value: Any, name: str) -> float:
    """A finite number ≥ 0, or a sentence."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value < float("inf"):
        raise OptionError(f"{name}={value!r}; expected a number ≥ 0.")
    return float(value)


MERGING: Mapping[str, Callable[..., Round]] = {
    "ipalm-once": ipalm_once, "mur-once": mur_once, "fedavg": fedavg, "fedprox": fedprox, "fnmf": fnmf,
    "fedmavg": fedmavg, "sfmf": sfmf,
}  # fmt: skip
