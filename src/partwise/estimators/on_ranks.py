"""`factorize_on_ranks`: `factorize` for the processes of an MPI job, each of which holds its part of X, of W and of H."""

from __future__ import annotations

import json
import traceback
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from os import PathLike
from typing import Any, NamedTuple, Protocol, final

import numpy as np

from partwise._version import __version__
from partwise.algorithms.distributed.auto import choose
from partwise.algorithms.distributed.methods import METHODS, Distributed, entry_of, layout_for, method
from partwise.algorithms.distributed.spread import Spread
from partwise.algorithms.single.auto import Choice
from partwise.algorithms.single.problem import Problem
from partwise.comm import Network, as_comm, one_fate
from partwise.currency import Array
from partwise.data import Layout, Shard
from partwise.data.opening import Opened, open_parts
from partwise.drivers import checkpoint
from partwise.drivers.agreement import agree, all_or_none
from partwise.drivers.checkpoint_parts import Part
from partwise.drivers.iterate import Observer, begin, iterate
from partwise.drivers.stopping import Reason, Rule
from partwise.drivers.trace import Traced
from partwise.errors import OptionError
from partwise.estimators.exact_on_ranks import finish, rescaled, sq_error
from partwise.estimators.factorize import Keep
from partwise.estimators.own_rows import OwnRows, own_rows
from partwise.estimators.settings import LATER, Settings
from partwise.launch import let_rank_0_speak
from partwise.protocols import Comm
from partwise.start import Products, over, start
from partwise.updates.gradient import simplex

DIGITS = 8  # of ‖X‖² on which all orders of adding it up agree


class Source(Protocol):
    """X (n, m), of which this rank can get its part."""

    @property
    def shape(self) -> tuple[int, int]: ...

    @property
    def dtype(self) -> np.dtype[Any]: ...

    @property
    def nnz(self) -> int: ...

    def shard(self, cut: Layout, rank: int) -> Shard: ...


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


class Prepared(NamedTuple):
    """A factorization on ranks that could begin; nothing but headers of X has been read."""

    source: Source
    settings: Settings
    problem: Problem
    choice: Choice
    method: Distributed
    comm: Comm


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


def opened(X: Any, comm: Comm, key: str | None, negative: str, dtype: Any) -> Opened | OwnRows:
    """X, of which nothing has been read that other ranks need. A collective call."""
    if not isinstance(X, str | PathLike):
        return own_rows(X, comm, negative=negative, dtype=dtype)
    with all_or_none(comm):
        return open_parts(X, key=key, negative=negative, dtype=dtype)  # type: ignore[arg-type]


def problem_of(source: Any, settings: Settings) -> Problem:
    """What is to be factorized, as far as it is known before anything of X has been read."""
    (n, m), k = source.shape, settings.components(source.shape)
    return Problem(
        source.shape, source.nnz, k, settings.beta, settings.penalty(source.shape), len(settings.held(source)),
        settings.rows_sum_to_one, settings.seed, sparse=source.nnz < n * m,
    )  # fmt: skip


def prepare(
    source: Any,
    settings: Settings,
    algorithm: str,
    grid: tuple[int, int] | None,
    comm: Comm,
    network: Network | None = None,
) -> Prepared:
    """Check that all ranks wish the same of the same X, that it can be done, and say how. A collective call."""
    problem = problem_of(source, settings)
    agree(
        comm,
        {"version": __version__, "algorithm": algorithm, "grid": grid, **_known_again(source), **_wishes(settings)},
    )
    choice, options = _chosen(source, problem, algorithm, grid, comm.size, network)
    settings = replace(settings, options={**options, **settings.options})
    if isinstance(source, OwnRows):
        cut = source.cut(choice.solver, entry_of(choice.solver).kind, grid)
    else:
        cut = layout_for(choice.solver, problem, comm.size, grid)
    return Prepared(source, settings, problem, choice, method(choice.solver, problem, cut, settings.options), comm)


def _chosen(
    source: Source, problem: Problem, algorithm: str, grid: tuple[int, int] | None, ranks: int, network: Network | None
) -> tuple[Choice, Mapping[str, Any]]:
    """The algorithm, and how it is set beside what the user says."""
    if algorithm != "auto":
        if network is not None:
            raise OptionError(
                f"--latency and --bandwidth are for auto's choice; with algorithm={algorithm!r} leave them out."
            )
        return Choice(algorithm, "as asked"), {}
    among = [name for name, entry in METHODS.items() if grid is None or entry.kind in ("grid", "shared")]
    if isinstance(source, OwnRows):
        grid = grid or (ranks, 1)
        wide = problem.shape[1] > problem.shape[0]
        among = [  # who brings rows of X gets the rows of W that belong to them
            name for name in among if METHODS[name].kind in ("rows", "grid") and not (wide and METHODS[name].turns)
        ]
    made = choose(problem, ranks, source.dtype.itemsize, network, grid=grid, among=among)
    return Choice(made.algorithm, made.why), made.options


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


def _known_again(source: Source) -> dict[str, Any]:
    """By what ranks and runs know that X is the same."""
    facts = {"shape": list(source.shape), "dtype": source.dtype.name, "stored": source.nnz}
    return facts | ({"bytes": source.bytes, "manifest": source.manifest} if isinstance(source, Opened) else {})


def _wishes(settings: Settings) -> dict[str, Any]:
    return {f.name: getattr(settings, f.name) for f in fields(settings) if f.name != "fixed_components"}


def identity(prepared: Prepared, X: Spread) -> dict[str, Any]:
    """What must be the same for a checkpoint to be of this run; the number of ranks, their grid and how long to go on may differ."""
    wishes = {name: wish for name, wish in _wishes(prepared.settings).items() if name not in (*LATER, "solver")}
    held = float(prepared.settings.held(prepared.source).sum(dtype=np.float64))
    data = {
        "shape": list(X.shard.shape),
        "dtype": X.dtype.name,
        "sq_norm": f"{X.sq_norm():.{DIGITS - 1}e}",
        "fixed": held,
    }
    return json.loads(json.dumps({**wishes, **data, "algorithm": prepared.choice.solver}))
