"""What ranks settle before anything of X is read: that all wish the same of the same X, that it can be done, and how."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields, replace
from os import PathLike
from typing import Any, NamedTuple, Protocol

import numpy as np

from partwise._version import __version__
from partwise.algorithms.distributed.auto import choose
from partwise.algorithms.distributed.methods import METHODS, Distributed, entry_of, layout_for, method
from partwise.algorithms.distributed.spread import Spread
from partwise.algorithms.single.auto import Choice
from partwise.algorithms.single.problem import Problem
from partwise.comm import Network
from partwise.data import Layout, Shard
from partwise.data.opening import Opened, open_parts
from partwise.drivers.agreement import agree, all_or_none
from partwise.errors import OptionError
from partwise.estimators.own_rows import OwnRows, own_rows
from partwise.estimators.settings import LATER, Settings
from partwise.protocols import Comm

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


class Prepared(NamedTuple):
    """A factorization on ranks that could begin; nothing but headers of X has been read."""

    source: Source
    settings: Settings
    problem: Problem
    choice: Choice
    method: Distributed
    comm: Comm


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
