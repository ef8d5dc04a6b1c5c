"""`factorize`: from data and wishes to factors, whole. The estimators and the command line both call it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, NamedTuple, final

import numpy as np

from partwise.algorithms.single.auto import Choice, choose
from partwise.algorithms.single.exact import exact_W
from partwise.algorithms.single.methods import WINDOWS, Problem, method
from partwise.algorithms.single.shuffled import Shuffled
from partwise.comm import OWN
from partwise.currency import Array, State
from partwise.data import as_matrix
from partwise.data.validate import Missing, Negative
from partwise.drivers import checkpoint
from partwise.drivers.checkpoint import Checkpointer
from partwise.drivers.checkpoint_parts import Part
from partwise.drivers.iterate import Observer, begin, iterate
from partwise.drivers.stopping import Reason, Rule
from partwise.drivers.trace import Traced
from partwise.errors import DataError, OptionError
from partwise.estimators.settings import LATER, NORMS, Settings
from partwise.protocols import Comm, Iteration, Matrix
from partwise.start import start
from partwise.updates.gradient import simplex

ORDERED = ("hals", "cd")  # solvers that visit the components one after another


@final
@dataclass(frozen=True, kw_only=True)
class Factorization(Traced):
    """X ≈ W H, and how it came about."""

    W: Array  # (n, k)
    H: Array  # (k, m)
    loss: float  # ½‖X − WH‖², or the β-divergence, of these W and H
    relative_error: float  # ‖X − WH‖ / ‖X‖ over what is observed; NaN for other losses
    reason: Reason
    choice: Choice  # the solver, and why if it was picked here
    problem: Problem


class Keep(NamedTuple):
    """Where checkpoints go, how often, and whether to go on from one."""

    folder: Path
    every: int | None = None  # iterations
    resume: bool = False
    also: Mapping[str, Any] = {}
    urgent: Callable[[], bool] = lambda: False  # save after this iteration: an observer is about to end the run
    seconds: float | None = (
        None  # instead of iterations; neither: every half minute, more seldom where saving takes long
    )

    def keeper(self, identity: Mapping[str, Any], comm: Comm = OWN, part: Part | None = None) -> Checkpointer:
        """The observer that does it."""
        who = {**identity, **self.also}
        return Checkpointer(self.folder, who, self.every, self.urgent, self.seconds, comm=comm, part=part)


class Prepared(NamedTuple):
    """A factorization that could begin."""

    X: Matrix
    settings: Settings
    problem: Problem
    choice: Choice
    method: Iteration


def factorize(
    X: Any,
    n_components: int | str | None = "auto",
    *,
    missing: Missing = "error",
    mask: Any = None,
    sample_weight: Any = None,
    negative: Negative = "error",
    dtype: Any = None,
    W: Any = None,
    H: Any = None,
    keep: Keep | None = None,
    rules: Sequence[Rule] = (),
    observers: Sequence[Observer] = (),
    **wishes: Any,
) -> Factorization:
    """Find W (n, k) and H (k, m), nonnegative, with X ≈ W H.

    X is an array, a memory map, a scipy sparse array, or anything that gives blocks of rows; `data.as_matrix` says what `missing`,
    `mask`, `sample_weight`, `negative` and `dtype` mean. `wishes` are the fields of `Settings` (solver, init, tol, alpha_W, ...).
    W and H are a start of one's own, with init="custom". `keep` names where checkpoints go and whether to resume from there;
    `rules` may stop the run for reasons of one's own, `observers` watch it.
    """
    unknown = sorted(set(wishes) - {f.name for f in fields(Settings)})
    if unknown:
        known = ", ".join(f.name for f in fields(Settings))
        raise OptionError(f"factorize() does not know {', '.join(unknown)}; expected some of: {known}.")
    entries = as_matrix(X, missing=missing, mask=mask, sample_weight=sample_weight, negative=negative, dtype=dtype)
    prepared = prepare(entries, Settings(n_components=n_components, **wishes), H)
    return run(prepared, W, H, keep=keep, rules=rules, observers=observers)


def prepare(X: Matrix, settings: Settings, H: Any = None) -> Prepared:
    """Check the wishes against the data, and choose the method."""
    problem = settings.problem(X, settings.components(X.shape, H))
    refuse_zeros(X, problem.beta)
    choice = choose(problem) if settings.solver == "auto" else Choice(settings.solver, "as asked")
    chosen = method(choice.solver, problem, settings.options)
    if settings.shuffle and choice.solver in ORDERED:
        chosen = Shuffled(chosen, problem.seed, problem.fixed)
    return Prepared(X, settings, problem, choice, chosen)


def refuse_zeros(X: Matrix, beta: float) -> None:
    """With β ≤ 0 the divergence from an entry that is zero is infinite."""
    if beta <= 0 and X.has_zeros():
        raise DataError(
            "When beta_loss <= 0 and X contains zeros, the solver may diverge: the divergence is infinite there. Please add "
            "small values to X, or use a positive beta_loss."
        )


def run(
    prepared: Prepared, W: Any = None, H: Any = None, *,
    keep: Keep | None = None, rules: Sequence[Rule] = (), observers: Sequence[Observer] = (),
) -> Factorization:  # fmt: skip
    """Start or resume, iterate, and finish: W exactly for the final H, components of the wished norm."""
    X, settings, problem, choice, method = prepared
    keeper = None
    if keep is not None:
        keeper = keep.keeper(identity(prepared))
    if keep is not None and keeper is not None and keep.resume:
        state, trace = checkpoint.load(keep.folder, keeper.identity)
    else:
        state, trace = begin(method, X, *initial(prepared, W, H), relative=problem.beta == 2)
    watching = observers if keeper is None else (keeper, *observers)  # first: whoever ends the run finds it saved
    outcome = iterate(method, X, state, trace, (*rules, *settings.rules(WINDOWS.get(choice.solver))), watching)
    if keeper is not None:
        keeper.save(outcome.state, outcome.trace)
    Wt, H = finish(X, outcome.state, settings, problem)
    loss = X.divergence(Wt, H, problem.beta)
    error = trace.relative_error(loss) if problem.beta == 2 else float("nan")
    return Factorization(
        W=Wt.T, H=H, loss=loss, relative_error=error, trace=outcome.trace, reason=outcome.reason, choice=choice, problem=problem
    )  # fmt: skip


def identity(prepared: Prepared) -> dict[str, Any]:
    """What must be the same for a checkpoint to be of this run; how long to go on may differ."""
    X, settings = prepared.X, prepared.settings
    wishes = {f.name: getattr(settings, f.name) for f in fields(settings) if f.name not in LATER}
    held = float(settings.held(X).sum(dtype=np.float64))
    data = {"shape": list(X.shape), "dtype": X.dtype.name, "sq_norm": X.sq_norm(), "fixed": held}
    return json.loads(json.dumps({**wishes, **data, "solver": prepared.choice.solver}))


def initial(prepared: Prepared, W: Any, H: Any) -> tuple[Array, Array]:
    """The initial factors, with the fixed components in place, and inside the ball or on the simplex where that is asked."""
    X, settings, problem = prepared.X, prepared.settings, prepared.problem
    Wt, H = start(X, problem.k, settings.init, settings.seed, W=W, H=H)
    H[: problem.fixed] = settings.held(X)
    if problem.bounded == "H":
        H, Wt = rescaled(H, Wt, 2, problem.fixed)
    elif problem.bounded == "W":
        Wt, H = rescaled(Wt, H, 2, 0)
    if problem.rows_sum_to_one:
        Wt = simplex(Wt)
    return Wt, H


def rescaled(F: Array, other: Array, order: int, fixed: int) -> tuple[Array, Array]:
    """Rows of F (k, r) of norm one, their lengths given to `other`; rows of zeros and the first `fixed` stay."""
    lengths = np.linalg.norm(F.astype(np.float64), ord=order, axis=1)
    lengths[:fixed] = 1
    lengths[lengths == 0] = 1
    scale = lengths[:, None].astype(F.dtype)
    return F / scale, other * scale


def finish(X: Matrix, state: State, settings: Settings, problem: Problem) -> tuple[Array, Array]:
    """(Wt, H): the components with the wished norm, and W exactly for them, found as `transform` does, so that the two agree."""
    Wt, H = state.Wt.astype(X.dtype, copy=False), state.H.astype(X.dtype, copy=False)  # as `Halved` may leave them
    if settings.normalize is not None:
        H, Wt = rescaled(H, Wt, NORMS[settings.normalize], 0)
    if problem.beta == 2:
        Wt = exact_W(X, H, problem)
    return Wt, H
