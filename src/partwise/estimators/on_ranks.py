"""`factorize_on_ranks`: `factorize` for the processes of an MPI job, each of which holds its part of X, of W and of H."""

from __future__ import annotations

import traceback
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, final

from partwise.algorithms.distributed.methods import entry_of
from partwise.algorithms.distributed.spread import Spread
from partwise.algorithms.single.auto import Choice
from partwise.algorithms.single.problem import Problem
from partwise.comm import as_comm, one_fate
from partwise.currency import Array
from partwise.data import Layout
from partwise.drivers import checkpoint
from partwise.drivers.agreement import all_or_none
from partwise.drivers.checkpoint_parts import Part
from partwise.drivers.iterate import Observer, begin, iterate
from partwise.drivers.stopping import Reason, Rule
from partwise.drivers.trace import Traced
from partwise.errors import OptionError
from partwise.estimators.exact_on_ranks import finish, rescaled, sq_error
from partwise.estimators.factorize import Keep
from partwise.estimators.preparing import Prepared, identity, opened, prepare
from partwise.estimators.settings import Settings
from partwise.launch import let_rank_0_speak
from partwise.start import Products, over, start
from partwise.updates.gradient import simplex


@final
@dataclass(frozen=True, kw_only=True)
class Share(Traced):
    """What one rank has of X ≈ W H in the end, and how it came about; the numbers are the same on all ranks."""

    W: Array  # (n_p, k): rows `part.W` of W
    H: Array  # (k, m_p): columns `part.H` of H
    part: Part
    layout: Layout
    loss: float  # ½‖X − WH‖² over all of X
    relative_error: float
    reason: Reason
    choice: Choice  # the algorithm, and why if it was picked here
    problem: Problem


def factorize_on_ranks(
    X: Any,
    n_components: int,
    *,
    comm: Any = None,
    algorithm: str = "auto",
    grid: tuple[int, int] | None = None,
    key: str | None = None,
    negative: str = "error",
    dtype: Any = None,
    keep: Keep | None = None,
    rules: Sequence[Rule] = (),
    observers: Sequence[Observer] = (),
    **wishes: Any,
) -> Share:
    """Find W and H, nonnegative, with X ≈ W H, together with the other ranks of an MPI job: a call that all of them make.

    X is the path of shards (`partwise shard`), of an .npy, HDF5 or zarr file that all ranks can read, each its part; or this rank's own
    rows, an array or scipy sparse array, of as many columns as the others'. `comm` is an mpi4py communicator (None: the whole job).
    `algorithm` and `grid` are as on the command line, `wishes` the fields of `Settings`, as for `factorize`, `options` being the
    algorithm's. An error in X or in the wishes is raised on all ranks; one on the way ends the job on all of them, with its traceback.
    """
    ranks = as_comm(comm)
    unknown = sorted(set(wishes) - {f.name for f in fields(Settings)} | ({"solver"} & set(wishes)))
    if unknown:
        raise OptionError(
            f"factorize_on_ranks() does not know {', '.join(unknown)}; say algorithm= and the fields of Settings."
        )
    settings = Settings(n_components=n_components, **wishes)
    source = opened(X, ranks, key, negative, dtype)
    prepared = prepare(source, settings, algorithm, grid, ranks)
    with one_fate(ranks, _tell):
        return run(prepared, keep=keep, rules=rules, observers=observers)


def _tell(error: BaseException) -> int:
    let_rank_0_speak()
    traceback.print_exception(error)
    return 1


def run(
    prepared: Prepared, *, keep: Keep | None = None, rules: Sequence[Rule] = (), observers: Sequence[Observer] = ()
) -> Share:
    """Read this rank's part, start or resume, iterate, and finish: W exactly for the final H. A collective call."""
    source, settings, problem, choice, method, comm = prepared
    with all_or_none(comm):
        shard = source.shard(method.layout, comm.rank)
    X, sides, part = Spread(shard, comm), over(shard, comm), Part(shard.part_W, shard.part_H)
    keeper = None if keep is None else keep.keeper(identity(prepared, X), comm, part)
    if keep is not None and keeper is not None and keep.resume:
        with all_or_none(comm):
            state, trace = checkpoint.load(keep.folder, keeper.identity, comm.rank, part)
    else:
        state, trace = begin(method, X, *_initial(prepared, sides, part), relative=True)
    watching = observers if keeper is None else (keeper, *observers)  # first: whoever ends the run finds it saved
    all_rules = (*rules, *settings.rules(entry_of(choice.solver).window))
    outcome = iterate(method, X, state, trace, all_rules, watching, comm)
    if keeper is not None:
        keeper.save(outcome.state, outcome.trace)
    Wt, H = finish(sides, outcome.state.Wt, outcome.state.H, settings.normalize, problem)
    loss = 0.5 * sq_error(X, sides, Wt, H)
    error = trace.relative_error(loss)
    return Share(
        W=Wt.T, H=H, part=part, layout=method.layout, loss=loss, relative_error=error, trace=outcome.trace,
        reason=outcome.reason, choice=choice, problem=problem,
    )  # fmt: skip


def _initial(prepared: Prepared, sides: Products, part: Part) -> tuple[Array, Array]:
    """This rank's part of the initial factors, with the fixed components in place."""
    settings, problem = prepared.settings, prepared.problem
    Wt, H = start(sides, problem.k, settings.init, settings.seed)
    H[: problem.fixed] = settings.held(prepared.source)[:, part.H]
    if problem.bounded == "H":
        H, Wt = rescaled(sides, H, Wt, 2, problem.fixed)
    return simplex(Wt) if problem.rows_sum_to_one else Wt, H
